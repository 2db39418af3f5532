//! The best index without noise: the ledger records it as unprotected.

use super::exponential::{argmax, worst_utilities};
use super::pair::{Distinguisher, Pair, RATIO};
use super::{Mechanism, MechanismError, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Sampler};

/// The first index of the largest utility, without noise: the non-private baseline of a private choice.
///
/// * Precondition: at least one utility, and all utilities are finite.
/// * Postcondition: the observer knows the best index. No finite epsilon holds: two neighbours can have different best
///   indices.
///
/// Source: definition.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Argmax;

impl Mechanism for Argmax {
    type Input = Vec<f64>;
    type Output = usize;

    fn price(&self, _: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        Ok(Price {
            mechanism: "disclosure of the best index",
            sampler: Sampler::Full,
            sensitivity: None,
            cost: Cost::Unprotected,
            claim: None,
            basis: Basis::Unprotected,
            arithmetic: Arithmetic::Noiseless,
        })
    }

    fn privatise(&self, utilities: &Vec<f64>, _: &mut Stream) -> Result<usize, MechanismError> {
        all_finite(utilities)?;
        argmax(utilities.iter().copied())
    }

    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        worst_utilities(like.len(), 1.0)
    }

    fn distinguisher(&self, [a, b]: [&Vec<f64>; 2]) -> Result<Distinguisher<usize>, MechanismError> {
        let best = [argmax(a.iter().copied())?, argmax(b.iter().copied())?];
        let is_first = move |i: &usize| f64::from(u8::from(*i == best[0]));
        Ok(Distinguisher { tests: vec![(RATIO, Box::new(is_first))], ..Distinguisher::unknown() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn the_best_index_is_disclosed_and_distinguishes_inputs() {
        let (given, neighbour) = (vec![0.0, 1.0, 3.0], vec![4.0, 1.0, 3.0]);
        assert_eq!(Argmax.privatise(&given, &mut Key::root(1).stream()).unwrap(), 2);
        assert!(Argmax.privatise(&vec![f64::NAN], &mut Key::root(1).stream()).is_err());
        let told = Argmax.distinguisher([&given, &neighbour]).unwrap();
        assert_eq!([0, 1, 2].map(|index| told.tests[0].1(&index)), [0.0, 0.0, 1.0]);
    }
}
