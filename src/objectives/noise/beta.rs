//! Bounded noise of adjustable shape: the beta distribution.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::special::beta_quantile;
use crate::vocab::{Positive, Problem, extreme_shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Centred beta noise: width (X - a / (a + b)), where X has a density proportional to x^(a - 1) (1 - x)^(b - 1) on (0, 1).
/// A draw takes one random word and inverts the regularised incomplete beta function.
///
/// Source: Johnson, Kotz and Balakrishnan 1995, chapter 25.
///
/// Example: `Beta(a: 2, b: 5, width: 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Beta {
    /// Shape, dimensionless, from 0.01 to 1000000: the larger it is, the fewer draws are near the lower end.
    pub a: Positive,
    /// Shape, dimensionless, from 0.01 to 1000000: the larger it is, the fewer draws are near the upper end.
    pub b: Positive,
    /// Difference between the largest and the smallest value, in units of the outcome.
    pub width: Positive,
}

impl Beta {
    /// The mean of X.
    fn mean(&self) -> f64 {
        self.a.get() / (self.a.get() + self.b.get())
    }
}

impl NoiseLaw for Beta {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let x = beta_quantile(self.a.get(), self.b.get(), stream.open_uniform());
        self.width.get() * (x - self.mean())
    }

    fn variance(&self) -> f64 {
        let (mean, width) = (self.mean(), self.width.get());
        width * width * mean * (1.0 - mean) / (self.a.get() + self.b.get() + 1.0)
    }

    fn bound(&self) -> Option<f64> {
        Some(self.width.get() * self.mean().max(1.0 - self.mean()))
    }

    fn problems(&self) -> Vec<Problem> {
        [extreme_shape("a", self.a), extreme_shape("b", self.b)].into_iter().flatten().collect()
    }
}
