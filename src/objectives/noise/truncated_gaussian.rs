//! Normal noise, truncated to an interval around 0.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::special::{normal_cdf, normal_quantile};
use crate::vocab::Positive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Normal noise, conditional on an absolute value of at most R. A draw takes one random word.
///
/// Its variance is sd^2 (1 - 2 a phi(a) / (2 Phi(a) - 1)), a = R / sd. Source: Johnson, Kotz and Balakrishnan 1994,
/// section 13.10.1.
///
/// Example: `TruncatedGaussian(sd: 0.5, bound: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TruncatedGaussian {
    /// Standard deviation before truncation, in units of the outcome, above 0.
    pub sd: Positive,
    /// R, in units of the outcome, above 0.
    pub bound: Positive,
}

impl TruncatedGaussian {
    /// R in standard deviations.
    fn reach(&self) -> f64 {
        self.bound.get() / self.sd.get()
    }
}

impl NoiseLaw for TruncatedGaussian {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let below = normal_cdf(-self.reach());
        // Quantiles are computed from the nearer end, so that small probabilities keep their precision.
        let u = stream.open_uniform();
        let tail = |share: f64| normal_quantile(below + share * (1.0 - 2.0 * below));
        let z = if u < 0.5 { tail(u) } else { -tail(1.0 - u) };
        (self.sd.get() * z).clamp(-self.bound.get(), self.bound.get())
    }

    fn variance(&self) -> f64 {
        let (a, sd) = (self.reach(), self.sd.get());
        if a < 0.01 {
            // The distribution is nearly uniform. This is the variance's series in a, up to an error of order R^2 a^4.
            return self.bound.get() * self.bound.get() * (1.0 / 3.0 - 2.0 * a * a / 45.0);
        }
        let density = libm::exp(-0.5 * a * a) / (2.0 * std::f64::consts::PI).sqrt();
        sd * sd * (1.0 - 2.0 * a * density / (1.0 - 2.0 * normal_cdf(-a)))
    }

    fn bound(&self) -> Option<f64> {
        Some(self.bound.get())
    }
}
