//! A constant delay.

use super::{Latency, LatencyModel};
use crate::vocab::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The same delay for every message: `Constant("40ms")`.
///
/// Example: `Constant("40ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Constant(
    /// The delay.
    pub Span,
);

impl Latency for Constant {
    fn quantile(&self, _: f64) -> Span {
        self.0
    }

    fn certain(&self) -> Option<Span> {
        Some(self.0)
    }

    fn mean_seconds(&self) -> f64 {
        self.0.seconds()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if delay < self.0 { 0.0 } else { 1.0 }
    }
}

impl Default for LatencyModel {
    fn default() -> Self {
        Self::from(Constant(Span::ZERO))
    }
}
