//! Zipf's law: a few people visit very often, most people hardly ever.

use super::Popularity;
use crate::rng::Stream;
use crate::special::zipf_quantile;
use crate::vocab::{NonNegative, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The person who makes a visit is person k, counted from 1, with probability proportional to 1 / k^exponent. Each visit
/// uses one random word, and the person's number is a monotone function of this word.
///
/// A person who visits often releases often: the reported privacy loss is that of the person with the most visits.
/// Source: Johnson, Kemp and Kotz 2005, section 11.2.20.
///
/// Example: `Zipf(exponent: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zipf {
    /// Dimensionless, 0 to 100: 0 if all people are equally likely to make a visit, roughly 1 for visits to web sites.
    /// With an exponent of at least 2, the first person is expected to visit more often than all other people together.
    pub exponent: NonNegative,
}

impl Popularity for Zipf {
    fn person(&self, size: u64, stream: &mut Stream) -> u64 {
        zipf_quantile(size, self.exponent.get(), stream.open_uniform()) - 1
    }

    fn problems(&self) -> Vec<Problem> {
        if self.exponent.get() <= 100.0 {
            return Vec::new();
        }
        let cure = "write population: 1 if one person comes every time";
        vec![Problem::wrong("exponent", "an exponent from 0 to 100", self.exponent.to_string(), cure)]
    }
}
