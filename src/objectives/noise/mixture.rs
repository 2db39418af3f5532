//! Noise of several kinds: most outcomes are measured well, some badly.

use super::{NoiseLaw, NoiseModel};
use crate::rng::Stream;
use crate::vocab::{Delta, Positive, Problem, unequal_weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One of several laws of noise, each with its probability. One word to choose, then those of the law chosen.
///
/// With a narrow and a wide `Gaussian` it is Tukey's contaminated normal law (Tukey 1960).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mixture {
    /// The kinds of noise there are, at least one.
    pub parts: Vec<Part>,
}

/// One kind of noise, and how often it is met.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// How often, in relation to the other parts' weights, above 0.
    pub weight: Positive,
    /// The noise; any of the laws of noise.
    pub law: NoiseModel,
}

impl Mixture {
    fn total(&self) -> f64 {
        self.parts.iter().map(|part| part.weight.get()).sum()
    }

    /// The largest of a number of each part; none where a part has none.
    fn largest(&self, of: impl Fn(&dyn NoiseLaw) -> Option<f64>) -> Option<f64> {
        self.parts
            .iter()
            .map(|part| of(part.law.as_dyn()))
            .try_fold(0.0, |most: f64, one| Some(most.max(one?)))
    }
}

impl NoiseLaw for Mixture {
    fn draw(&self, stream: &mut Stream) -> f64 {
        let mut left = stream.uniform() * self.total();
        let chosen = self.parts.iter().find(|part| {
            left -= part.weight.get();
            left < 0.0
        });
        // Rounding may leave a share of nothing behind the last part.
        chosen.or(self.parts.last()).map_or(0.0, |part| part.law.as_dyn().draw(stream))
    }

    fn variance(&self) -> f64 {
        let sum: f64 = self.parts.iter().map(|part| part.weight.get() * part.law.as_dyn().variance()).sum();
        sum / self.total()
    }

    fn bound(&self) -> Option<f64> {
        self.largest(|law| law.bound())
    }

    /// The largest of the parts' sizes: no part exceeds it with more than `delta`, and so none of their mixtures.
    fn tail(&self, delta: Delta) -> Option<f64> {
        self.largest(|law| law.tail(delta))
    }

    fn problems(&self) -> Vec<Problem> {
        if self.parts.is_empty() {
            let cure =
                "write parts: [(weight: 0.95, law: Gaussian(sd: 0.1)), (weight: 0.05, law: Gaussian(sd: 1))]";
            return vec![Problem::wrong("parts", "at least one part", "none", cure)];
        }
        let weights = self.parts.iter().map(|part| part.weight);
        let of_parts = self.parts.iter().enumerate().flat_map(|(index, part)| {
            let name = part.law.name();
            let found = part.law.as_dyn().problems().into_iter();
            found.map(move |problem| problem.below(name).below(&format!("parts[{index}].law")))
        });
        unequal_weights(weights).into_iter().chain(of_parts).collect()
    }
}
