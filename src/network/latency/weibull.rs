//! A Weibull delay, whose hazard rate rises or falls with time.

use super::{Latency, extreme_mean};
use crate::vocab::{Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Weibull delay: longer than t with probability exp(-(t / scale)^shape).
///
/// The absolute value of an objective's noise `Weibull(theta, scale)` has this distribution, with shape = 1 / theta.
///
/// Source: Johnson, Kotz and Balakrishnan 1994, chapter 21.
///
/// Example: `Weibull(scale: "40ms", shape: 1.5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weibull {
    /// Scale: 63 % of the messages take less than this delay.
    pub scale: Span,
    /// Shape, dimensionless: below 1 for a heavy tail, 1 for an exponential delay, 3.6 for a nearly symmetric one.
    pub shape: Positive,
}

impl Latency for Weibull {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.scale.seconds() * libm::pow(-libm::log1p(-u), 1.0 / self.shape.get()))
    }

    fn mean_seconds(&self) -> f64 {
        self.scale.seconds() * libm::tgamma(1.0 + 1.0 / self.shape.get())
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if self.scale == Span::ZERO {
            return 1.0;
        }
        -libm::expm1(-libm::pow(delay.seconds() / self.scale.seconds(), self.shape.get()))
    }

    fn problems(&self) -> Vec<Problem> {
        extreme_mean(self, "shape", &self.shape, "raise it; 0.3 is already a very heavy tail")
            .into_iter()
            .collect()
    }
}
