//! A complete network: a link between every two parties.

use super::{Pairs, Shape, Topology};
use crate::network::population::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every two parties are linked: `Mesh()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {}

impl Topology for Mesh {
    fn pairs(&self, population: &Population<'_>) -> Pairs {
        let count = population.names.len();
        (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))).collect()
    }

    fn shape(&self, _: &Population<'_>) -> Shape {
        Shape::Complete
    }
}
