//! A network whose links are listed one by one.

use super::{Pairs, Topology};
use crate::network::population::Population;
use crate::vocab::Problem;
use petgraph::unionfind::UnionFind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A list of links. Each link is stated as the pair of parties that it connects: `Edges([("a", "b"), ("b", "c")])`.
///
/// Example: `Edges([("server", "relay"), ("relay", "client")])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Edges(
    /// The links, each listed once; the order of the two parties does not matter.
    #[schemars(with = "Vec<(crate::vocab::PartyName, crate::vocab::PartyName)>")]
    pub Vec<(String, String)>,
);

impl Topology for Edges {
    fn pairs(&self, population: &Population<'_>) -> Pairs {
        let ends = self.0.iter();
        ends.filter_map(|(a, b)| Some((population.position(a)?, population.position(b)?))).collect()
    }

    fn problems(&self, population: &Population<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, (a, b)) in self.0.iter().enumerate() {
            let place = format!("[{index}]");
            problems.extend(population.expect_party(&format!("{place}[0]"), a));
            problems.extend(population.expect_party(&format!("{place}[1]"), b));
            let same = |(c, d): &(String, String)| (a, b) == (c, d) || (a, b) == (d, c);
            if a == b || self.0[..index].iter().any(same) {
                let found = format!("a second link between {a} and {b}");
                let found = if a == b { format!("a link from {a} to itself") } else { found };
                problems.push(Problem::wrong(
                    place,
                    "a link between two different parties, listed only once",
                    found,
                    "leave it out",
                ));
            }
        }
        if !problems.is_empty() || population.names.is_empty() {
            return problems;
        }
        let mut parts = UnionFind::<usize>::new(population.names.len());
        for (a, b) in self.pairs(population) {
            parts.union(a, b);
        }
        for index in 1..population.names.len() {
            if !parts.equiv(0, index) {
                let expected = "a route between every two parties";
                let found =
                    format!("none from \"{}\" to \"{}\"", population.names[0], population.names[index]);
                problems.push(Problem::wrong("", expected, found, "add a link, or leave the party out"));
                break;
            }
        }
        problems
    }
}
