//! beta_t: the weight of exploration in GP-UCB, by round.

use crate::vocab::{Delta, NonNegative};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// The exploration weight beta_t, dimensionless, of round t for n arms; the first round is t = 1. GP-UCB queries the arm
/// with the largest mean + sqrt(beta_t) sd.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum BetaSchedule {
    /// beta_t = 2 ln(n t^2 pi^2 / (6 delta)). Srinivas et al. 2010, Theorem 1; PO-GP-UCB uses delta = 0.025.
    ///
    /// Example: `FiniteDomain(delta: 0.1)`.
    FiniteDomain {
        /// Probability that the confidence bounds fail.
        delta: Delta,
    },
    /// beta_t = 2 ln(n t^2 pi^2 / (3 delta)). Kusner et al. 2015, Algorithm 1.
    ///
    /// Example: `Kusner(delta: 0.1)`.
    Kusner {
        /// Probability that the confidence bounds of at least one of two neighbouring data sets fail.
        delta: Delta,
    },
    /// The same weight in every round.
    ///
    /// Example: `Constant(beta: 2)`.
    Constant {
        /// The value of beta_t in every round.
        beta: NonNegative,
    },
}

impl Default for BetaSchedule {
    fn default() -> Self {
        Self::FiniteDomain { delta: Delta::new(0.025).expect("0.025 is between 0 and 1") }
    }
}

impl BetaSchedule {
    /// beta_t of round `t` for `n` arms. Rounds are counted from 1, and `n` is at least 1. beta_t has no unit and is never
    /// negative.
    #[must_use]
    pub fn at(&self, t: u64, n: usize) -> f64 {
        let (t, n) = (t as f64, n as f64);
        match self {
            Self::FiniteDomain { delta } => 2.0 * libm::log(n * t * t * PI * PI / (6.0 * delta.get())),
            Self::Kusner { delta } => 2.0 * libm::log(n * t * t * PI * PI / (3.0 * delta.get())),
            Self::Constant { beta } => beta.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_agree_with_the_oracle() {
        // The expected numbers are `po_beta` and `ku_beta` in tests/oracles/outsourced_release_units.json.
        let po = BetaSchedule::default();
        for (t, expected) in [
            (1, 26.793_840_257_121_73),
            (2, 29.566_428_979_361_51),
            (10, 36.004_180_629_097_91),
            (50, 42.441_932_278_834_315),
        ] {
            assert!((po.at(t, 10_000) - expected).abs() < 1e-10);
        }
        let kusner = |delta| BetaSchedule::Kusner { delta: Delta::new(delta).unwrap() };
        assert!((kusner(0.05).at(21, 100) - 29.761_589_636_039_236).abs() < 1e-10);
        assert!((kusner(0.01).at(101, 1000) - 43.868_027_963_366_88).abs() < 1e-10);
    }
}
