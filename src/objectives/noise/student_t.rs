//! Noise with heavy tails: Student's t.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::vocab::{Delta, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::FRAC_PI_2;

/// Student's t distribution times a scale. Its moments of order `degrees` and above are infinite.
///
/// Source: Chowdhury and Gopalan 2019, section 5, with 3 degrees of freedom, for which the variance is 3.
///
/// Example: `StudentT(degrees: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudentT {
    /// Degrees of freedom, above 1 so that the mean is finite.
    pub degrees: Positive,
    /// Scale, in units of the outcome. Default: 1.
    #[serde(default = "one")]
    pub scale: Positive,
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

/// Probability that the absolute value of Student's t exceeds `t`. With v degrees of freedom, U uniform on (0, 1) and W a
/// uniform angle, sqrt(v (U^(-2/v) - 1)) |cos W| has the distribution of this absolute value. Given W, this expression
/// exceeds `t` if and only if U is below (1 + t^2 / (v cos^2 W))^(-v/2). This power is therefore the probability, given W,
/// that `t` is exceeded, and the result is the mean of the power over W. The power is a smooth and periodic function of W,
/// so a sum over equal steps of W converges fast.
fn exceedance(degrees: f64, t: f64) -> f64 {
    const STEPS: u32 = 2000;
    let at = |step: u32| {
        let cosine = libm::cos((f64::from(step) + 0.5) / f64::from(STEPS) * FRAC_PI_2);
        libm::exp(-0.5 * degrees * libm::log1p(t * t / (degrees * cosine * cosine)))
    };
    (0..STEPS).map(at).sum::<f64>() / f64::from(STEPS)
}

impl NoiseLaw for StudentT {
    fn draw(&self, stream: &mut Stream) -> f64 {
        self.scale.get() * stream.student_t(self.degrees.get())
    }

    fn variance(&self) -> f64 {
        let degrees = self.degrees.get();
        if degrees <= 2.0 {
            return f64::INFINITY;
        }
        self.scale.get() * self.scale.get() * degrees / (degrees - 2.0)
    }

    fn tail(&self, delta: Delta) -> Option<f64> {
        // In the notation of `exceedance`, the absolute value is at most its first factor, sqrt(v (U^(-2/v) - 1)). This
        // factor exceeds `most` with probability delta, so the tail bound is at most `most`. The tail bound is found by
        // bisection in its logarithm.
        let degrees = self.degrees.get();
        let most = (degrees * libm::expm1(-2.0 / degrees * libm::log(delta.get()))).sqrt();
        let (mut low, mut high) = (most * 1e-6, most);
        for _ in 0..100 {
            let middle = (low * high).sqrt();
            if exceedance(degrees, middle) > delta.get() * (1.0 - 1e-9) {
                low = middle
            } else {
                high = middle
            }
        }
        Some(self.scale.get() * high).filter(|tail| tail.is_finite())
    }

    fn problems(&self) -> Vec<Problem> {
        if self.degrees.get() > 1.0 {
            return Vec::new();
        }
        let (found, cure) = (self.degrees.to_string(), "write 3, as in the papers");
        vec![Problem::wrong("degrees", "more than 1 degree of freedom: with 1 there is no mean", found, cure)]
    }
}
