//! Randomised response on one bit.

use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Epsilon, Neighbours, Sampler};

/// Tells the truth with probability e^epsilon / (1 + e^epsilon), and the opposite otherwise.
///
/// * Precondition: none.
/// * Postcondition: epsilon-DP for the bit (local model).
///
/// Source: Warner 1965; Dwork and Roth 2014, section 3.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomizedResponse {
    epsilon: Epsilon,
}

impl RandomizedResponse {
    /// From its epsilon.
    #[must_use]
    pub const fn new(epsilon: Epsilon) -> Self {
        Self { epsilon }
    }

    /// Probability of the truth.
    #[must_use]
    pub fn truth(&self) -> f64 {
        1.0 / (1.0 + libm::exp(-self.epsilon.get()))
    }
}

impl Mechanism for RandomizedResponse {
    type Input = bool;
    type Output = bool;

    fn price(&self, _: &bool, _: &Neighbours) -> Result<Price, MechanismError> {
        Ok(Price {
            mechanism: "randomised response",
            sampler: Sampler::Full,
            sensitivity: None,
            cost: Cost::RandomizedResponse { epsilon: self.epsilon.get() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, bit: &bool, stream: &mut Stream) -> Result<bool, MechanismError> {
        Ok(*bit == stream.bernoulli(self.truth()))
    }
}
