//! A Pareto delay: mostly short, sometimes very long (a heavy tail).

use super::Latency;
use crate::vocab::{Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A Pareto delay: longer than t with probability (shortest / t)^shape.
///
/// Example: `Pareto(shortest: "20ms", shape: 2.5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pareto {
    /// Shortest delay, above 0.
    pub shortest: Span,
    /// Exponent of the tail, above 1 so that the mean is finite; 1.1 is a very heavy tail, 3 a light one.
    pub shape: Positive,
}

impl Latency for Pareto {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.shortest.seconds() * libm::exp(-libm::log1p(-u) / self.shape.get()))
    }

    fn mean_seconds(&self) -> f64 {
        let shape = self.shape.get();
        if shape > 1.0 { self.shortest.seconds() * shape / (shape - 1.0) } else { f64::INFINITY }
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if delay < self.shortest {
            return 0.0;
        }
        -libm::expm1(self.shape.get() * libm::log(self.shortest.seconds() / delay.seconds()))
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.shape.get() <= 1.0 {
            problems.push(Problem::wrong(
                "shape",
                "a shape above 1",
                format!("{}, for which the mean delay is infinite", self.shape),
                "raise it; 1.1 is already a very heavy tail",
            ));
        }
        if self.shortest == Span::ZERO {
            let cure = "write the shortest possible delay";
            problems.push(Problem::wrong("shortest", "a delay above 0", "0", cure));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_powers() {
        let law = Pareto { shortest: Span::from_millis(10), shape: Positive::new(2.0).unwrap() };
        // The quantile at u is shortest / sqrt(1 - u), and the mean is 2 times `shortest`.
        assert_eq!(law.quantile(0.75), Span::from_millis(20));
        assert_eq!(law.quantile(0.99), Span::from_millis(100));
        assert_eq!(law.mean_seconds(), 0.02);
    }
}
