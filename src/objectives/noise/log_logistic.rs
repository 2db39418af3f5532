//! Skewed noise with a log-logistic distribution, which has a power-law tail.

use super::NoiseLaw;
use super::tail::smallest_size;
use crate::rng::Stream;
use crate::vocab::{Delta, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;

/// Log-logistic noise minus its mean: the uncentred value exceeds x with probability 1 / (1 + (x / scale)^shape). The
/// noise is never below minus the mean of the uncentred value. Its upper tail decreases as a power of x, so only
/// moments of an order below `shape` are finite. A draw takes one random word.
///
/// Source: Johnson, Kotz and Balakrishnan 1995, section 23.11.
///
/// Example: `LogLogistic(scale: 0.5, shape: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogLogistic {
    /// Scale, in units of the outcome: the median before the mean is subtracted.
    pub scale: Positive,
    /// Exponent of the tail, above 1 so that there is a mean, and up to 1000000; above 2 the variance is finite.
    pub shape: Positive,
}

impl LogLogistic {
    /// The k-th moment at scale 1, for k below the shape: (k pi / shape) / sin(k pi / shape).
    fn moment(&self, k: f64) -> f64 {
        let angle = k * PI / self.shape.get();
        angle / libm::sin(angle)
    }
}

impl NoiseLaw for LogLogistic {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let u = stream.open_uniform();
        let odds = libm::log(u) - libm::log1p(-u);
        self.scale.get() * (libm::exp(odds / self.shape.get()) - self.moment(1.0))
    }

    fn variance(&self) -> f64 {
        if self.shape.get() <= 2.0 {
            return f64::INFINITY;
        }
        let mean = self.moment(1.0);
        self.scale.get() * self.scale.get() * (self.moment(2.0) - mean * mean)
    }

    fn tail(&self, delta: Delta) -> Option<f64> {
        let (shape, mean) = (self.shape.get(), self.moment(1.0));
        let power = |x: f64| libm::pow(x.max(0.0), shape);
        // At scale 1, the noise is never below -mean. So if a bound on the absolute value of the noise is at least
        // `mean`, only noise above 0 exceeds the bound. The bound then follows from the upper tail alone:
        // 1 / (1 + (mean + above)^shape) = delta.
        let above = libm::pow((1.0 - delta.get()) / delta.get(), 1.0 / shape) - mean;
        let size = if above >= mean {
            above * (1.0 + 1e-9)
        } else {
            let below = |t: f64| 1.0 - 1.0 / (1.0 + power(mean - t));
            smallest_size(|t| 1.0 / (1.0 + power(mean + t)) + below(t), delta)
        };
        Some(self.scale.get() * size).filter(|tail| tail.is_finite())
    }

    fn problems(&self) -> Vec<Problem> {
        if self.shape.get() > 1.0 && self.shape.get() <= 1e6 {
            return Vec::new();
        }
        let cure = "write 3: at 1 there is no mean, at 2 no finite variance";
        vec![Problem::wrong("shape", "a shape above 1 and at most 1000000", self.shape.to_string(), cure)]
    }
}
