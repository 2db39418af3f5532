//! A ring: each party has a link to the next one.

use super::{Pairs, Topology};
use crate::network::population::Population;
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each party is linked with the next, and the last with the first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// The parties in order around the ring, each once; a party that is left out has no link. Default: all parties, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<String>,
}

impl Topology for Ring {
    fn pairs(&self, population: &Population<'_>) -> Pairs {
        let places: Vec<usize> = if self.order.is_empty() {
            (0..population.names.len()).collect()
        } else {
            self.order.iter().filter_map(|name| population.position(name)).collect()
        };
        let mut pairs: Pairs = places.windows(2).map(|pair| (pair[0], pair[1])).collect();
        if let [first, _, .., last] = places.as_slice() {
            pairs.push((*last, *first));
        }
        pairs
    }

    fn problems(&self, population: &Population<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, name) in self.order.iter().enumerate() {
            let path = format!("order[{index}]");
            problems.extend(population.expect_party(&path, name));
            if self.order[..index].contains(name) {
                let cure = "name every party once";
                problems.push(Problem::wrong(path, "each party once", format!("\"{name}\" again"), cure));
            }
        }
        problems
    }
}
