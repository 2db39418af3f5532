//! Randomised response on one bit.

use super::pair::{Distinguisher, KnownLaws, Pair};
use super::real_deviates::coin;
use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Epsilon, Neighbours, Sampler};

/// Returns the bit with probability e^epsilon / (1 + e^epsilon), and the opposite bit otherwise.
///
/// The probability of the opposite bit is rounded up: it is never 0, however large epsilon is. The draw is exact.
///
/// * Precondition: none.
/// * Postcondition: epsilon-DP for the bit (local model).
///
/// Source: Warner 1965; Dwork and Roth 2014, section 3.2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomizedResponse {
    epsilon: Epsilon,
}

/// Bound on the relative error of the exponential and the division.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

impl RandomizedResponse {
    /// Randomised response with this epsilon.
    #[must_use]
    pub const fn new(epsilon: Epsilon) -> Self {
        Self { epsilon }
    }

    /// Probability that the bit is returned as it is.
    #[must_use]
    pub fn truth(&self) -> f64 {
        1.0 - self.flip_probability()
    }

    /// Probability of the opposite answer: at least 1 / (1 + e^epsilon), at most 1/2.
    fn flip_probability(&self) -> f64 {
        let odds = libm::exp(-self.epsilon.get());
        (odds / (1.0 + odds) * (1.0 + ROUNDING)).clamp(f64::MIN_POSITIVE, 0.5)
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
            arithmetic: Arithmetic::Exact,
        })
    }

    fn privatise(&self, bit: &bool, stream: &mut Stream) -> Result<bool, MechanismError> {
        Ok(*bit != coin(self.flip_probability(), stream))
    }

    fn worst_pair(&self, _: &bool) -> Option<Pair<bool>> {
        Some(Pair::new(true, false, "the bit"))
    }

    fn distinguisher(&self, [a, b]: [&bool; 2]) -> Result<Distinguisher<bool>, MechanismError> {
        let loss = libm::log(self.truth() / self.flip_probability());
        let sign = f64::from(i8::from(*a) - i8::from(*b));
        let log_ratio = move |bit: &bool| sign * if *bit { loss } else { -loss };
        // The opposite answer is slightly more likely than 1 / (1 + e^epsilon), so the claimed epsilon bounds the loss.
        Ok(Distinguisher::by_ratio(log_ratio, KnownLaws::largest(sign.abs() * self.epsilon.get())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In floating point 1 - 1 / (1 + e^40) is 1, so earlier versions disclosed the bit, with epsilon 40 in the ledger.
    #[test]
    fn the_bit_is_flipped_with_a_probability_above_0_at_any_epsilon() {
        for epsilon in [40.0, 700.0, 1e6] {
            assert!(RandomizedResponse::new(Epsilon::new(epsilon).unwrap()).flip_probability() > 0.0);
        }
        let flip_probability = RandomizedResponse::new(Epsilon::new(40.0).unwrap()).flip_probability();
        assert!(
            flip_probability >= 1.0 / (1.0 + 40f64.exp())
                && flip_probability < 1.000_001 / (1.0 + 40f64.exp()),
            "{flip_probability}"
        );
    }

    #[test]
    fn the_ratio_of_the_answers_is_the_loss() {
        let mechanism = RandomizedResponse::new(Epsilon::new(1.5).unwrap());
        let flip = 1.0 / (1.0 + 1.5f64.exp());
        assert!((mechanism.truth() - (1.0 - flip)).abs() < 1e-14);
        for (inputs, sign) in [([true, false], 1.0), ([false, true], -1.0), ([true, true], 0.0)] {
            let found = mechanism.distinguisher([&inputs[0], &inputs[1]]).unwrap();
            for (answer, loss) in [(true, 1.5), (false, -1.5)] {
                assert!((found.log_ratio(&answer) - sign * loss).abs() < 1e-12, "{inputs:?} {answer}");
            }
            assert_eq!(found.laws, Some(KnownLaws::largest(1.5 * f64::abs(sign))));
        }
        assert_eq!(mechanism.worst_pair(&true), Some(Pair::new(true, false, "the bit")));
    }
}
