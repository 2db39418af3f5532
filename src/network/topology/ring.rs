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
    /// All parties, in order around the ring, each once. Default: the entries of `parties` in alphabetical order, and the
    /// parties of an entry with a `count` in order of their numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<crate::vocab::PartyName>")]
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
        if !self.order.is_empty() && problems.is_empty() {
            let missing = population.names.iter().find(|name| !self.order.contains(name));
            problems.extend(missing.map(|name| {
                let found = format!("no place for \"{name}\", so no route leads to this party");
                let cure = "add the party to the order, or leave it out of the scenario";
                Problem::wrong("order", "every party", found, cure)
            }));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_names_every_party() {
        let names = ["a", "b", "c"].map(str::to_owned);
        let problems = |order: &[&str]| {
            let ring = Ring { order: order.iter().map(|&name| name.to_owned()).collect() };
            let found = ring.problems(&Population { names: &names, traits: &[] });
            found.into_iter().map(|problem| problem.path).collect::<Vec<_>>()
        };
        assert_eq!(problems(&[]), [""; 0]);
        assert_eq!(problems(&["c", "a", "b"]), [""; 0]);
        assert_eq!(problems(&["a", "b"]), ["order"]);
        assert_eq!(problems(&["a", "b", "z"]), ["order[2]"]);
    }
}
