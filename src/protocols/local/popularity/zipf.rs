//! A few come very often, most hardly ever: Zipf's law.

use super::Popularity;
use crate::rng::Stream;
use crate::special::zipf_quantile;
use crate::vocab::{NonNegative, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The k-th of the people comes with probability proportional to 1 / k^exponent. One word a visit, and monotone in it.
///
/// Whoever comes often releases often: the loss of the report is that of the person who came most.
/// Source: Johnson, Kemp and Kotz 2005, section 11.2.20.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zipf {
    /// Dimensionless, 0 to 100: 0 for everybody alike, about 1 for visits of web sites; from 2 on the first comes more often than
    /// all others together.
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
