//! A delay whose logarithm is normally distributed: mostly short, sometimes long.

use super::{Latency, extreme_mean};
use crate::special::{normal_cdf, normal_quantile};
use crate::vocab::{NonNegative, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A lognormal delay: median times exp(sigma Z), where Z is standard normal.
///
/// Example: `LogNormal(median: "40ms", sigma: 0.5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormal {
    /// Median delay; half of the messages are faster.
    pub median: Span,
    /// Standard deviation of the delay's natural logarithm, dimensionless; 0.5 is a usual wide-area value.
    pub sigma: NonNegative,
}

impl Latency for LogNormal {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.median.seconds() * libm::exp(self.sigma.get() * normal_quantile(u)))
    }

    fn mean_seconds(&self) -> f64 {
        let sigma = self.sigma.get();
        self.median.seconds() * libm::exp(0.5 * sigma * sigma)
    }

    fn probability_within(&self, delay: Span) -> f64 {
        let sigma = self.sigma.get();
        if sigma == 0.0 || self.median == Span::ZERO {
            return if delay < self.median { 0.0 } else { 1.0 };
        }
        normal_cdf(libm::log(delay.seconds() / self.median.seconds()) / sigma)
    }

    fn problems(&self) -> Vec<Problem> {
        let cure = "lower it; 2 is already a very heavy tail";
        extreme_mean(self, "sigma", &self.sigma, cure).into_iter().collect()
    }
}
