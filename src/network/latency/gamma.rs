//! A delay with a gamma distribution.

use super::Latency;
use crate::special::{gamma_quantile, incomplete_gamma};
use crate::vocab::{Positive, Problem, Span, extreme_shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A gamma delay. Its mean is shape times scale, and its standard deviation sqrt(shape) times scale.
///
/// The quantile is the inverse of the incomplete gamma function, with a relative error below 1e-12. Computing a quantile
/// takes some 2 microseconds per message.
/// Source: Johnson, Kotz and Balakrishnan 1994, chapter 17.
///
/// Example: `Gamma(shape: 2, scale: "20ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gamma {
    /// Shape, dimensionless, from 0.01 to 1000000: below 1 for many very short delays, 1 for an exponential delay, above
    /// 30 for a nearly normal one.
    pub shape: Positive,
    /// Scale: the mean delay divided by the shape.
    pub scale: Span,
}

impl Latency for Gamma {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.scale.seconds() * gamma_quantile(self.shape.get(), u))
    }

    fn mean_seconds(&self) -> f64 {
        self.shape.get() * self.scale.seconds()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if self.scale == Span::ZERO {
            return 1.0;
        }
        incomplete_gamma(self.shape.get(), delay.seconds() / self.scale.seconds()).0
    }

    fn problems(&self) -> Vec<Problem> {
        extreme_shape("shape", self.shape).into_iter().collect()
    }
}
