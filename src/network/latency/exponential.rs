//! An exponentially distributed delay.

use super::Latency;
use crate::vocab::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An exponential delay.
///
/// Example: `Exponential(mean: "40ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Exponential {
    /// Mean delay.
    pub mean: Span,
}

impl Latency for Exponential {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(-self.mean.seconds() * libm::log1p(-u))
    }

    fn mean_seconds(&self) -> f64 {
        self.mean.seconds()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if self.mean == Span::ZERO { 1.0 } else { -libm::expm1(-delay.seconds() / self.mean.seconds()) }
    }
}
