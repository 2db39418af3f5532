//! Expected improvement: choose the arm with the largest expected improvement over the best arm so far.

use super::arms::{Arms, BuildError, covariance};
use super::{Learner, LearnerRecipe};
use crate::gp::{AdaptivePosterior, GpError, largest};
use crate::rng::Stream;
use crate::vocab::NonNegative;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::{PI, SQRT_2};

/// Expected improvement: argmax over arms of E max(f - best - margin, 0), where best is the largest posterior mean of
/// an arm with an observed outcome (the prior mean before the first outcome).
///
/// Source: Jones, Schonlau and Welch 1998, equation 15, with the posterior mean in place of the noisy best outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExpectedImprovement {
    /// A number that is subtracted from every improvement, in units of the outcome: improvements of at most this size count
    /// as none.
    /// Default: 0.
    #[serde(default = "zero")]
    pub margin: NonNegative,
}

fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not negative")
}

#[derive(Clone, Debug)]
struct State {
    margin: f64,
    prior_mean: f64,
    posterior: AdaptivePosterior,
    played: Vec<bool>,
}

impl LearnerRecipe for ExpectedImprovement {
    fn predicts(&self) -> bool {
        true
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        let model = covariance("ExpectedImprovement", arms)?;
        Ok(Box::new(State {
            margin: self.margin.get(),
            prior_mean: arms.mean,
            posterior: AdaptivePosterior::new(model.clone(), arms.noise_variance, arms.mean),
            played: vec![false; arms.n],
        }))
    }
}

/// E max(gain + sd z, 0) for a standard normal z.
fn improvement(gain: f64, sd: f64) -> f64 {
    if sd <= 0.0 {
        return gain.max(0.0);
    }
    let z = gain / sd;
    let density = libm::exp(-0.5 * z * z) / (2.0 * PI).sqrt();
    // erfc is used in place of 1 + erf, which loses digits by cancellation. Without these digits, arms with very small
    // improvements could not be ordered.
    (gain * 0.5 * libm::erfc(-z / SQRT_2) + sd * density).max(0.0)
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.played.len()
    }

    fn suggest(&mut self, _: &mut Stream) -> usize {
        let played = self.posterior.mean().iter().zip(&self.played).filter(|(_, played)| **played);
        let best = played.map(|(&mean, _)| mean).fold(f64::NEG_INFINITY, f64::max);
        let best = if best.is_finite() { best } else { self.prior_mean };
        let model = self.posterior.mean().iter().zip(self.posterior.variance());
        let score = |(&mean, &variance): (&f64, &f64)| {
            let variance: f64 = variance;
            improvement(mean - best - self.margin, variance.sqrt())
        };
        largest(&model.map(score).collect::<Vec<f64>>())
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        self.played[arm] = true;
        self.posterior.observe(arm, outcome)
    }

    fn predicted(&self, arm: usize) -> Option<f64> {
        Some(self.posterior.mean()[arm])
    }

    fn jitter(&self) -> f64 {
        self.posterior.jitter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expected_improvements_agree_with_numerical_integrals() {
        // Midpoint rule over z in [-12, 12].
        for (gain, sd) in [(0.3, 1.0), (-2.0, 0.5), (1.0, 0.1), (0.0, 2.0)] {
            let steps = 400_000;
            let width = 24.0 / f64::from(steps);
            let integral: f64 = (0..steps)
                .map(|i| -12.0 + (f64::from(i) + 0.5) * width)
                .map(|z| (gain + sd * z).max(0.0) * (-0.5 * z * z).exp() / (2.0 * PI).sqrt() * width)
                .sum();
            assert!((improvement(gain, sd) - integral).abs() < 1e-8);
        }
        assert_eq!(improvement(-1.0, 0.0), 0.0);
        assert_eq!(improvement(2.0, 0.0), 2.0);
    }
}
