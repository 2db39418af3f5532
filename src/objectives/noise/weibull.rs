//! Symmetric Weibull noise: sub-Weibull by construction, with any tail parameter.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::vocab::{Delta, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Noise of random sign with P(|noise| >= x) = exp(-(x / scale)^(1/theta)). It is sub-Weibull, P(|noise| >= x) <= a
/// exp(-b x^(1/theta)), with tail parameter theta, a = 1 and b = scale^(-1/theta). theta = 1 is the Laplace
/// distribution, 1/2 a two-sided Rayleigh distribution; larger theta gives heavier tails, but all moments are finite.
///
/// The absolute value of this noise has the distribution of the latency `Weibull(scale, shape)` with shape = 1 / theta. The
/// field here is theta, as in theorems on sub-Weibull rewards and in `SubWeibull` of `TgpUcb`.
///
/// Source: Zhou and Tan 2021, section 4.3, equation 5; Vladimirova, Girard, Nguyen and Arbel 2020.
///
/// Example: `Weibull(theta: 0.5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weibull {
    /// theta, the tail parameter: one over the shape of the Weibull distribution.
    pub theta: Positive,
    /// Scale, in units of the outcome. Default: 1.
    #[serde(default = "one")]
    pub scale: Positive,
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

impl NoiseLaw for Weibull {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let exponential = stream.laplace();
        exponential.signum() * self.scale.get() * libm::pow(exponential.abs(), self.theta.get())
    }

    /// scale^2 Gamma(2 theta + 1).
    fn variance(&self) -> f64 {
        self.scale.get() * self.scale.get() * libm::tgamma(2.0 * self.theta.get() + 1.0)
    }

    fn tail(&self, delta: Delta) -> Option<f64> {
        // The result is rounded up by more than the rounding error of the power.
        let tail = self.scale.get() * libm::pow(-libm::log(delta.get()), self.theta.get()) * (1.0 + 1e-9);
        Some(tail).filter(|tail| tail.is_finite())
    }

    fn problems(&self) -> Vec<Problem> {
        let variance = self.variance();
        if variance.is_finite() && variance > 0.0 {
            return Vec::new();
        }
        let expected = "noise with a finite variance above 0, scale^2 Gamma(2 theta + 1)";
        let cure = "lower theta (1 is the Laplace distribution, 2 is heavier), or choose a scale nearer to 1";
        vec![Problem::wrong("theta", expected, variance.to_string(), cure)]
    }
}
