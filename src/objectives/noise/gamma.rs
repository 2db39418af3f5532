//! Skewed noise with a gamma distribution, such as the noise of waiting times and counts.

use super::NoiseLaw;
use super::tail::smallest_size;
use crate::rng::Stream;
use crate::special::{gamma_quantile, incomplete_gamma};
use crate::vocab::{Delta, Positive, Problem, extreme_shape};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Gamma noise minus its mean: never below -shape * scale, with a long tail above. A draw takes one random word and
/// inverts the incomplete gamma function.
///
/// Source: Johnson, Kotz and Balakrishnan 1994, chapter 17.
///
/// Example: `Gamma(shape: 2, scale: 0.5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Gamma {
    /// Shape, dimensionless, from 0.01 to 1000000: the smaller it is, the more skewed the noise; 1 is exponential noise.
    pub shape: Positive,
    /// Scale, in units of the outcome; the standard deviation is sqrt(shape) times as large.
    pub scale: Positive,
}

impl NoiseLaw for Gamma {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let shape = self.shape.get();
        self.scale.get() * (gamma_quantile(shape, stream.open_uniform()) - shape)
    }

    fn variance(&self) -> f64 {
        self.shape.get() * self.scale.get() * self.scale.get()
    }

    fn tail(&self, delta: Delta) -> Option<f64> {
        let shape = self.shape.get();
        let beyond = |t: f64| incomplete_gamma(shape, shape + t).1 + incomplete_gamma(shape, shape - t).0;
        Some(self.scale.get() * smallest_size(beyond, delta))
    }

    fn problems(&self) -> Vec<Problem> {
        extreme_shape("shape", self.shape).into_iter().collect()
    }
}
