//! Skewed noise with a Gumbel distribution, such as that of the largest of many errors.

use super::NoiseLaw;
use super::tail::smallest_size;
use crate::rng::Stream;
use crate::vocab::{Delta, NonNegative};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gumbel noise minus its mean: a short tail below 0, a long one above. A draw takes one random word.
///
/// Source: Johnson, Kotz and Balakrishnan 1995, chapter 22.
///
/// Example: `Gumbel(scale: 0.5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gumbel {
    /// Scale, in units of the outcome; the standard deviation is 1.2825 times as large.
    pub scale: NonNegative,
}

/// Euler's constant: the mean of the distribution at scale 1, before the mean is subtracted.
const MEAN: f64 = 0.577_215_664_901_532_9;

impl NoiseLaw for Gumbel {
    fn draw(&self, stream: &mut Stream) -> f64 {
        self.scale.get() * (stream.gumbel() - MEAN)
    }

    fn variance(&self) -> f64 {
        let deviation = self.scale.get() * std::f64::consts::PI;
        deviation * deviation / 6.0
    }

    fn tail(&self, delta: Delta) -> Option<f64> {
        let above = |t: f64| -libm::expm1(-libm::exp(-(t + MEAN)));
        let below = |t: f64| libm::exp(-libm::exp(t - MEAN));
        Some(self.scale.get() * smallest_size(|t| above(t) + below(t), delta))
    }
}
