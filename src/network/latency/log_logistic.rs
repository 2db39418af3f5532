//! A log-logistic delay, which has a power-law tail.

use super::Latency;
use crate::vocab::{Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// A log-logistic delay: longer than t with probability 1 / (1 + (t / median)^shape).
///
/// Its mean is the median times (pi / shape) / sin(pi / shape). Source: Johnson, Kotz and Balakrishnan 1995, section 23.11.
///
/// Example: `LogLogistic(median: "40ms", shape: 3)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogLogistic {
    /// Median delay; half of the messages are faster.
    pub median: Span,
    /// Exponent of the tail, above 1 so that the mean is finite; 1.5 is a very heavy tail, 5 a light one.
    pub shape: Positive,
}

impl Latency for LogLogistic {
    fn quantile(&self, u: f64) -> Span {
        let odds = libm::log(u) - libm::log1p(-u);
        Span::from_seconds(self.median.seconds() * libm::exp(odds / self.shape.get()))
    }

    fn mean_seconds(&self) -> f64 {
        let angle = PI / self.shape.get();
        if angle < PI { self.median.seconds() * angle / libm::sin(angle) } else { f64::INFINITY }
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if self.median == Span::ZERO {
            return 1.0;
        }
        1.0 / (1.0 + libm::pow(self.median.seconds() / delay.seconds(), self.shape.get()))
    }

    fn problems(&self) -> Vec<Problem> {
        if self.shape.get() > 1.0 {
            return Vec::new();
        }
        let found = format!("{}, for which the mean delay is infinite", self.shape);
        vec![Problem::wrong("shape", "a shape above 1", found, "raise it; 1.5 is already a very heavy tail")]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_powers_of_the_odds() {
        let law = LogLogistic { median: Span::from_millis(40), shape: Positive::new(2.0).unwrap() };
        let ms = |u| law.quantile(u).seconds() * 1e3;
        // The odds u / (1 - u) are 1, 4 and 1/4.
        assert!(
            (ms(0.5) - 40.0).abs() < 1e-5 && (ms(0.8) - 80.0).abs() < 1e-5 && (ms(0.2) - 20.0).abs() < 1e-5
        );
        assert_eq!(law.probability_within(Span::ZERO), 0.0);
        assert_eq!(LogLogistic { shape: Positive::new(1.0).unwrap(), ..law }.problems()[0].path, "shape");
    }
}
