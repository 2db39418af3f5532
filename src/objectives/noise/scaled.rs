//! Another noise times a factor, which may be negative.

use super::{NoiseLaw, NoiseModel};
use crate::rng::Stream;
use crate::vocab::{Delta, Finite, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Another noise times a factor, for outcomes in another unit. A negative factor turns skewed noise with a long tail above
/// 0 into noise with a long tail below 0. A draw takes the same random numbers as a draw of the other noise.
///
/// Example: `Scaled(law: Gumbel(scale: 1), factor: -0.5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scaled {
    /// The noise that is multiplied; any of the noise models.
    pub law: Box<NoiseModel>,
    /// The factor, dimensionless, other than 0.
    pub factor: Finite,
}

impl NoiseLaw for Scaled {
    fn draw(&self, stream: &mut Stream) -> f64 {
        self.factor.get() * self.law.as_dyn().draw(stream)
    }

    fn variance(&self) -> f64 {
        self.factor.get() * self.factor.get() * self.law.as_dyn().variance()
    }

    fn bound(&self) -> Option<f64> {
        self.law.as_dyn().bound().map(|bound| self.factor.get().abs() * bound)
    }

    fn tail(&self, delta: Delta) -> Option<f64> {
        let tail = self.law.as_dyn().tail(delta).map(|tail| self.factor.get().abs() * tail);
        tail.filter(|tail| tail.is_finite())
    }

    fn problems(&self) -> Vec<Problem> {
        let name = self.law.name();
        let of_law = self.law.as_dyn().problems().into_iter().map(|problem| problem.below(name).below("law"));
        let mut problems: Vec<Problem> = of_law.collect();
        let square = self.factor.get() * self.factor.get();
        if !square.is_normal() {
            let expected = "a factor other than 0 whose square neither overflows nor underflows";
            let cure = "write 2 for twice the noise, -1 for the other sign";
            problems.push(Problem::wrong("factor", expected, self.factor.to_string(), cure));
        }
        problems
    }
}
