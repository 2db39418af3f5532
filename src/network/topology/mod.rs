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

/// The shape of a network. In a star, the shape alone determines the routes. In a complete network, it determines them if
/// all links have equal mean latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A star whose hub is the party at this position. Every other party has one link, to the hub.
    Star(usize),
    /// Every two parties have a link.
    Complete,
    /// Any other shape.
    Graph,
}

/// The behaviour of a topology.
pub trait Topology {
    /// Every pair of parties that has a link, each once, in either order.
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
    /// Which pairs of parties have a link. A message takes the route with the smallest sum of mean latencies. Among
    /// routes with equal sums, it takes the one with the fewest links.
    pub struct TopologyModel(TopologyMember): dyn Topology, "topology" {
        Star(Star),
        Ring(Ring),
        Mesh(Mesh),
        Clusters(Clusters),
        Edges(Edges),
        GraphMl(GraphMl),
    }
}
