//! A mixture of noise distributions, for example where most outcomes are measured well and some badly.

use super::{NoiseLaw, NoiseModel};
use crate::rng::Stream;
use crate::vocab::{Delta, Positive, Problem, unequal_weights};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Noise from one of several distributions, each chosen with its probability. A draw takes one random word to choose
/// the distribution, then the words of that distribution.
///
/// With a narrow and a wide `Gaussian` this is Tukey's contaminated normal distribution (Tukey 1960).
///
/// Example: `Mixture(parts: [Part(weight: 9, law: Uniform(bound: 1)), Part(weight: 1, law: Uniform(bound: 3))])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mixture {
    /// The kinds of noise, at least one.
    pub parts: Vec<Part>,
}

/// One kind of noise, and how often it occurs.
///
/// Example: `Part(weight: 9, law: Uniform(bound: 1))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Relative frequency, above 0: the probability is this weight over the sum of all weights.
    pub weight: Positive,
    /// The noise; any of the noise models.
    pub law: NoiseModel,
}

impl Mixture {
    fn total(&self) -> f64 {
        self.parts.iter().map(|part| part.weight.get()).sum()
    }

    /// The largest number that `of` gives for a part; `None` if a part has no such number.
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
        // By rounding it may happen that no part is chosen; then the last one is taken.
        chosen.or(self.parts.last()).map_or(0.0, |part| part.law.as_dyn().draw(stream))
    }

    fn variance(&self) -> f64 {
        let sum: f64 = self.parts.iter().map(|part| part.weight.get() * part.law.as_dyn().variance()).sum();
        sum / self.total()
    }

    fn bound(&self) -> Option<f64> {
        self.largest(|law| law.bound())
    }

    /// The largest tail bound of a part: each part exceeds it with probability at most `delta`, and so does the
    /// mixture.
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
