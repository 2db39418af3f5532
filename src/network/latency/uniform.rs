//! A delay that is uniform between two limits.

use super::Latency;
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A delay that is uniformly distributed between two limits.
///
/// Example: `Uniform(low: "20ms", high: "60ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// Shortest delay.
    pub low: Span,
    /// Longest delay, not below `low`.
    pub high: Span,
}

impl Latency for Uniform {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.low.seconds() + u * (self.high.seconds() - self.low.seconds()))
    }

    fn mean_seconds(&self) -> f64 {
        0.5 * (self.low.seconds() + self.high.seconds())
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if delay >= self.high {
            return 1.0;
        }
        let (low, high) = (self.low.seconds(), self.high.seconds());
        ((delay.seconds() - low) / (high - low)).max(0.0)
    }

    fn problems(&self) -> Vec<Problem> {
        if self.low <= self.high {
            return Vec::new();
        }
        vec![Problem::wrong(
            "high",
            format!("a delay of at least `low` ({})", self.low),
            self.high.to_string(),
            "swap the two ends",
        )]
    }
}
