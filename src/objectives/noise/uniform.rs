//! Noise that is uniform on an interval around 0.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::vocab::NonNegative;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Noise that is uniform on [-R, R]. Zhou and Tan 2021, section 5.1, have R = 1.
///
/// Example: `Uniform(bound: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {
    /// R, in units of the outcome.
    pub bound: NonNegative,
}

impl NoiseLaw for Uniform {
    fn draw(&self, stream: &mut Stream) -> f64 {
        stream.uniform_between(-self.bound.get(), self.bound.get())
    }

    fn variance(&self) -> f64 {
        self.bound.get() * self.bound.get() / 3.0
    }

    fn bound(&self) -> Option<f64> {
        Some(self.bound.get())
    }
}
