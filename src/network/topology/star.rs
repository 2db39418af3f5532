//! A star: every party other than the hub has one link, to the hub.

use super::{Pairs, Shape, Topology};
use crate::network::population::Population;
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One party, the hub, has a link to every other party; messages between the other parties pass through the hub.
///
/// Example: `Star(hub: "server")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Star {
    /// Name of the hub.
    #[schemars(with = "crate::vocab::PartyName")]
    pub hub: String,
}

impl Topology for Star {
    fn pairs(&self, population: &Population<'_>) -> Pairs {
        let Some(hub) = population.position(&self.hub) else { return Pairs::new() };
        (0..population.names.len()).filter(|&other| other != hub).map(|other| (hub, other)).collect()
    }

    fn shape(&self, population: &Population<'_>) -> Shape {
        population.position(&self.hub).map_or(Shape::Graph, Shape::Star)
    }

    fn problems(&self, population: &Population<'_>) -> Vec<Problem> {
        population.expect_party("hub", &self.hub).into_iter().collect()
    }
}
