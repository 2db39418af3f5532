//! Topologies: which parties have links.

mod clusters;
mod edges;
mod graphml;
mod mesh;
mod ring;
mod routes;
mod star;

pub use clusters::Clusters;
pub use edges::Edges;
pub use graphml::GraphMl;
pub use mesh::Mesh;
pub use ring::Ring;
pub(super) use routes::Routes;
pub use star::Star;

use super::population::Population;
use crate::vocab::{DataFolders, Problem};
use std::path::PathBuf;

/// Pairs of parties, by their positions.
pub type Pairs = Vec<(usize, usize)>;

/// The shape of a network. In a star, and in a complete network with equal latencies, it determines the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A star with its hub, by position: every other party has one link, to the hub.
    Star(usize),
    /// Every two parties have a link.
    Complete,
    /// Any other shape.
    Graph,
}

/// The behaviour of a topology.
pub trait Topology {
    /// Every pair that has a link, each once.
    fn pairs(&self, population: &Population<'_>) -> Pairs;

    /// The shape of the network.
    fn shape(&self, population: &Population<'_>) -> Shape {
        let _ = population;
        Shape::Graph
    }

    /// Reads the files that the recipe names.
    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let _ = base;
        Vec::new()
    }

    /// The files that the recipe names.
    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// What is wrong with the recipe for these parties.
    fn problems(&self, population: &Population<'_>) -> Vec<Problem> {
        let _ = population;
        Vec::new()
    }
}

crate::family! {
    /// Which parties have a link. A message takes the route with the smallest sum of mean latencies; among routes with
    /// equal sums, the one with the fewest links.
    pub struct TopologyModel(TopologyMember): dyn Topology, "topology" {
        Star(Star),
        Ring(Ring),
        Mesh(Mesh),
        Clusters(Clusters),
        Edges(Edges),
        GraphMl(GraphMl),
    }
}
