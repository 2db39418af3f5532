//! Noise with a triangular density on an interval around 0.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::vocab::NonNegative;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Triangular noise on [-R, R]: the distribution of the sum of two independent numbers that are uniform on [-R/2, R/2]. A
/// draw takes one random word.
///
/// Source: Johnson, Kotz and Balakrishnan 1995, section 26.9.
///
/// Example: `Triangular(bound: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Triangular {
    /// R, in units of the outcome. The standard deviation is R / sqrt 6.
    pub bound: NonNegative,
}

impl NoiseLaw for Triangular {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let u = stream.open_uniform();
        let share = if u < 0.5 { (2.0 * u).sqrt() - 1.0 } else { 1.0 - (2.0 * (1.0 - u)).sqrt() };
        self.bound.get() * share
    }

    fn variance(&self) -> f64 {
        self.bound.get() * self.bound.get() / 6.0
    }

    fn bound(&self) -> Option<f64> {
        Some(self.bound.get())
    }
}
