//! A delay with a triangular density.

use super::Latency;
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A triangular delay: its density rises along a straight line from 0 at `low` to its maximum at `mode`, and falls along
/// another straight line to 0 at `high`.
///
/// Source: Johnson, Kotz and Balakrishnan 1995, section 26.9.
///
/// Example: `Triangular(low: "10ms", mode: "20ms", high: "60ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Triangular {
    /// Shortest delay.
    pub low: Span,
    /// Delay at which the density is largest, from `low` to `high`.
    pub mode: Span,
    /// Longest delay, above `low`.
    pub high: Span,
}

impl Triangular {
    fn seconds(&self) -> (f64, f64, f64) {
        (self.low.seconds(), self.mode.seconds(), self.high.seconds())
    }
}

impl Latency for Triangular {
    fn quantile(&self, u: f64) -> Span {
        let (low, mode, high) = self.seconds();
        let width = high - low;
        Span::from_seconds(if u * width <= mode - low {
            low + (u * width * (mode - low)).sqrt()
        } else {
            high - ((1.0 - u) * width * (high - mode)).sqrt()
        })
    }

    fn mean_seconds(&self) -> f64 {
        let (low, mode, high) = self.seconds();
        (low + mode + high) / 3.0
    }

    fn probability_within(&self, delay: Span) -> f64 {
        let ((low, mode, high), t) = (self.seconds(), delay.seconds());
        let width = high - low;
        if delay < self.low {
            0.0
        } else if delay >= self.high {
            1.0
        } else if delay < self.mode {
            (t - low) * (t - low) / (width * (mode - low))
        } else {
            1.0 - (high - t) * (high - t) / (width * (high - mode))
        }
    }

    fn problems(&self) -> Vec<Problem> {
        if self.low >= self.high {
            let expected = format!("a delay above `low` ({})", self.low);
            let cure = "swap the two ends, or write Constant(..) for a delay that never varies";
            return vec![Problem::wrong("high", expected, self.high.to_string(), cure)];
        }
        if (self.low..=self.high).contains(&self.mode) {
            return Vec::new();
        }
        let expected = format!("a delay from `low` ({}) to `high` ({})", self.low, self.high);
        vec![Problem::wrong(
            "mode",
            expected,
            self.mode.to_string(),
            "write the delay that is seen most often",
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_square_roots() {
        let ms = Span::from_millis;
        // If the mode is `low`, a delay exceeds t with probability ((high - t) / width)^2. So the quantile at 3/4 is the
        // middle of the interval.
        let law = Triangular { low: ms(10), mode: ms(10), high: ms(50) };
        assert_eq!([law.quantile(0.75), law.quantile(0.9375)], [ms(30), ms(40)]);
        assert!(law.problems().is_empty());
        assert_eq!(Triangular { mode: ms(9), ..law.clone() }.problems()[0].path, "mode");
        assert_eq!(Triangular { high: ms(10), ..law }.problems()[0].path, "high");
    }
}
