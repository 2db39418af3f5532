//! All people are equally likely to make a visit.

use super::{Popularity, PopularityModel};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every person is equally likely to make a visit: `Even()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Even {}

impl Popularity for Even {
    fn person(&self, size: u64, stream: &mut Stream) -> u64 {
        stream.below(size)
    }
}

impl Default for PopularityModel {
    fn default() -> Self {
        Self::from(Even {})
    }
}

impl PopularityModel {
    /// Whether all people are equally likely to make a visit.
    #[must_use]
    pub fn is_even(&self) -> bool {
        self.get::<Even>().is_some()
    }
}
