//! Noise with heavy tails: Student's t.

use super::NoiseLaw;
use crate::rng::Stream;
use crate::vocab::{Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Student's t times a scale. Its moments of order `degrees` and above are infinite.
///
/// Source: Chowdhury and Gopalan 2019, section 5: 3 degrees, so that a central moment of order 2 is 3.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudentT {
    /// Degrees of freedom, above 1 so that there is a mean.
    pub degrees: Positive,
    /// Factor, in units of the outcome. Default: 1.
    #[serde(default = "one")]
    pub scale: Positive,
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
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

    fn problems(&self) -> Vec<Problem> {
        if self.degrees.get() > 1.0 {
            return Vec::new();
        }
        let (found, cure) = (self.degrees.to_string(), "write 3, as the papers have it");
        vec![Problem::wrong("degrees", "more than 1 degree of freedom: with 1 there is no mean", found, cure)]
    }
}
