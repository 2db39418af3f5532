//! Who is linked with whom.

mod clusters;
mod edges;
mod mesh;
mod ring;
mod routes;
mod star;

pub use clusters::Clusters;
pub use edges::Edges;
pub use mesh::Mesh;
pub use ring::Ring;
pub(super) use routes::Routes;
pub use star::Star;

use super::population::Population;
use crate::vocab::Problem;

/// Pairs of parties, by their positions.
pub type Pairs = Vec<(usize, usize)>;

/// The shape of a network, where it makes routes plain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Every party but this one has one link, to this one.
    Star(usize),
    /// Every two parties have a link.
    Complete,
    /// Anything.
    Graph,
}

/// The behaviour of a topology.
pub trait Topology {
    /// Every pair that has a link, each once.
    fn pairs(&self, population: &Population<'_>) -> Pairs;

    /// The shape, where it makes routes plain.
    fn shape(&self, population: &Population<'_>) -> Shape {
        let _ = population;
        Shape::Graph
    }

    /// What is wrong with the recipe in this population.
    fn problems(&self, population: &Population<'_>) -> Vec<Problem> {
        let _ = population;
        Vec::new()
    }
}

crate::family! {
    /// Which parties have a link. A message takes the quickest route: the one of smallest mean latency in all, and
    /// of fewest links among equals.
    pub struct TopologyModel(TopologyMember): dyn Topology, "topology" {
        Star(Star),
        Ring(Ring),
        Mesh(Mesh),
        Clusters(Clusters),
        Edges(Edges),
    }
}
