//! A delay with a beta distribution between a shortest and a longest delay.

use super::Latency;
use crate::special::{beta_quantile, incomplete_beta};
use crate::vocab::{Positive, Problem, Span, extreme_shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A beta delay: low + (high - low) X, where X has a density proportional to x^(a - 1) (1 - x)^(b - 1) on (0, 1).
///
/// The mean of X is a / (a + b). The quantile of X is the inverse of the incomplete beta function, with a relative error
/// below 1e-12 for shapes up to 100, and up to 1e-9 for shapes up to 10000; larger shapes are not tested. Computing a
/// quantile takes some 5 microseconds per message. Source: Johnson, Kotz and Balakrishnan 1995, chapter 25.
///
/// Example: `Beta(a: 2, b: 5, low: "10ms", high: "100ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beta {
    /// Shape, dimensionless, from 0.01 to 1000000: the larger it is, the fewer delays are near `low`.
    pub a: Positive,
    /// Shape, dimensionless, from 0.01 to 1000000: the larger it is, the fewer delays are near `high`.
    pub b: Positive,
    /// Shortest delay. Default: 0.
    #[serde(default)]
    pub low: Span,
    /// Longest delay, not below `low`.
    pub high: Span,
}

impl Latency for Beta {
    fn quantile(&self, u: f64) -> Span {
        let (low, high) = (self.low.seconds(), self.high.seconds());
        Span::from_seconds(low + (high - low) * beta_quantile(self.a.get(), self.b.get(), u))
    }

    fn mean_seconds(&self) -> f64 {
        let (low, high, a, b) = (self.low.seconds(), self.high.seconds(), self.a.get(), self.b.get());
        low + (high - low) * (a / (a + b))
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if delay < self.low {
            return 0.0;
        }
        if delay >= self.high {
            return 1.0;
        }
        let (low, high) = (self.low.seconds(), self.high.seconds());
        incomplete_beta(self.a.get(), self.b.get(), (delay.seconds() - low) / (high - low)).0
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> =
            [extreme_shape("a", self.a), extreme_shape("b", self.b)].into_iter().flatten().collect();
        if self.low > self.high {
            let expected = format!("a delay of at least `low` ({})", self.low);
            problems.push(Problem::wrong("high", expected, self.high.to_string(), "swap the two ends"));
        }
        problems
    }
}
