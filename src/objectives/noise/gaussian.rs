//! Normal noise.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::special::normal_quantile;
use crate::vocab::{Delta, NonNegative};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Normal noise with mean 0.
///
/// Example: `Gaussian(sd: 0.5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gaussian {
    /// Standard deviation, in units of the outcome.
    pub sd: NonNegative,
}

impl Gaussian {
    pub(in crate::objectives) fn of(sd: f64) -> Self {
        Self { sd: NonNegative::new(sd).expect("a standard deviation is finite and not negative") }
    }
}

impl NoiseLaw for Gaussian {
    fn draw(&self, stream: &mut Stream) -> f64 {
        self.sd.get() * stream.normal()
    }

    fn variance(&self) -> f64 {
        self.sd.get() * self.sd.get()
    }

    fn tail(&self, delta: Delta) -> Option<f64> {
        // The result is rounded up by more than the error of the quantile.
        Some(self.sd.get() * -normal_quantile(0.5 * delta.get()) * (1.0 + 1e-12))
    }
}
