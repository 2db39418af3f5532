//! The release of a value without protection. The ledger records the release.

use super::pair::{Distinguisher, SUPPORT};
use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::marker::PhantomData;

/// Returns the value unchanged. Used for data that a protocol leaves unprotected (such as the outcomes of the outsourced
/// setting) and for non-private baselines. The cost is "unprotected", so every accountant reports an infinite epsilon.
///
/// * Precondition: none.
/// * Postcondition: the observer knows the value.
///
/// Source: definition; no finite epsilon holds for an injective map.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, bound = "")]
#[schemars(bound = "")]
pub struct Disclosure<T> {
    #[serde(skip)]
    #[schemars(skip)]
    kind: PhantomData<fn() -> T>,
}

impl<T> Disclosure<T> {
    /// A disclosure of values of type `T`.
    #[must_use]
    pub const fn new() -> Self {
        Self { kind: PhantomData }
    }
}

impl<T> Default for Disclosure<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Clone + std::fmt::Debug + PartialEq + Send + Sync + 'static> Mechanism for Disclosure<T> {
    type Input = T;
    type Output = T;

    fn price(&self, _: &T, _: &Neighbours) -> Result<Price, MechanismError> {
        Ok(Price {
            mechanism: "disclosure",
            sampler: Sampler::Full,
            sensitivity: None,
            cost: Cost::Unprotected,
            claim: None,
            basis: Basis::Unprotected,
            arithmetic: Arithmetic::Noiseless,
        })
    }

    fn privatise(&self, input: &T, _: &mut Stream) -> Result<T, MechanismError> {
        Ok(input.clone())
    }

    /// Tests whether the output equals the first input.
    fn distinguisher(&self, [given, _]: [&T; 2]) -> Result<Distinguisher<T>, MechanismError> {
        let given = given.clone();
        let is_given = move |y: &T| f64::from(u8::from(*y == given));
        Ok(Distinguisher { tests: vec![(SUPPORT, Box::new(is_given))], ..Distinguisher::unknown() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn the_input_is_the_output_and_distinguishes_inputs() {
        let disclosure = Disclosure::new();
        assert_eq!(disclosure.privatise(&7_u64, &mut Key::root(1).stream()).unwrap(), 7);
        let told = disclosure.distinguisher([&7, &8]).unwrap();
        assert_eq!([7, 8].map(|output| told.tests[0].1(&output)), [1.0, 0.0]);
    }
}
