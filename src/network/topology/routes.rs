//! The next party on the quickest route from one party to another.

use super::{Shape, TopologyModel};
use crate::network::population::Population;
use crate::vocab::PartyId;
use petgraph::Direction;
use petgraph::algo::dijkstra;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::EdgeRef;
use std::collections::BTreeMap;
use std::ops::Add;

/// Cost of a route: the sum of the mean latencies in seconds, and the number of links. If two routes have equal sums, the
/// route with fewer links costs less, so that routes over links without delay contain no cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
struct Cost {
    seconds: f64,
    links: u32,
}

impl Add for Cost {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self { seconds: self.seconds + other.seconds, links: self.links + other.links }
    }
}

/// The next party on each route. The routes to a destination are computed when one of them is first needed.
#[derive(Clone, Debug)]
pub(in crate::network) struct Routes {
    shape: Shape,
    /// The links: an edge leads from the sender to the receiver of its messages, and its weight is the mean latency in
    /// seconds. The graph is empty if the routes follow from the shape of the topology.
    graph: DiGraph<(), f64>,
    /// By destination: the next party on the route from each party.
    towards: BTreeMap<PartyId, Vec<Option<PartyId>>>,
}

impl Routes {
    /// Routes over a topology. `cost` is the mean latency in seconds of the link from one party to another. `uniform` states
    /// that this mean is the same for every link; in a complete network, no detour is then quicker than the direct link.
    pub(in crate::network) fn new(
        topology: &TopologyModel,
        population: &Population<'_>,
        uniform: bool,
        cost: impl Fn(usize, usize) -> f64,
    ) -> Self {
        let topology = topology.as_dyn();
        let shape = match topology.shape(population) {
            Shape::Complete if !uniform => Shape::Graph,
            shape => shape,
        };
        let mut graph = DiGraph::new();
        if shape == Shape::Graph {
            for _ in population.names {
                graph.add_node(());
            }
            for (a, b) in topology.pairs(population) {
                graph.add_edge(NodeIndex::new(a), NodeIndex::new(b), cost(a, b));
                graph.add_edge(NodeIndex::new(b), NodeIndex::new(a), cost(b, a));
            }
        }
        Self { shape, graph, towards: BTreeMap::new() }
    }

    /// True only if every message takes the same route in both networks. Two stars are compared by their hubs. For a star
    /// and a network that is not given as a star, the result is false. Otherwise, only the links are compared, and no
    /// route is computed. The result is then true if both networks have the same links and, in addition, either the cost
    /// of every link is the same in both networks or, within each network, all links have equal costs.
    pub(in crate::network) fn provably_same_routes(&self, other: &Self) -> bool {
        // In a complete graph with equal costs, the quickest route between two parties is their link.
        let complete = |routes: &Self| {
            let parties = routes.graph.node_count();
            routes.has_equal_costs() && routes.graph.edge_count() == parties * parties.saturating_sub(1)
        };
        match (self.shape, other.shape) {
            (Shape::Graph, Shape::Graph) => {
                let (own, others) = (self.edges(), other.edges());
                let ends = |edges: &[(usize, usize, u64)]| -> Vec<_> {
                    edges.iter().map(|&(from, to, _)| (from, to)).collect()
                };
                own == others
                    || (self.has_equal_costs() && other.has_equal_costs() && ends(&own) == ends(&others))
            }
            (Shape::Complete, Shape::Graph) => complete(other),
            (Shape::Graph, Shape::Complete) => complete(self),
            (own, others) => own == others,
        }
    }

    fn has_equal_costs(&self) -> bool {
        let mut costs = self.graph.edge_weights().map(|cost| cost.to_bits());
        let first = costs.next();
        costs.all(|cost| Some(cost) == first)
    }

    /// All links in order: from, to, and the bits of the cost.
    fn edges(&self) -> Vec<(usize, usize, u64)> {
        let edges = self.graph.edge_references();
        let mut edges: Vec<_> = edges
            .map(|edge| (edge.source().index(), edge.target().index(), edge.weight().to_bits()))
            .collect();
        edges.sort_unstable();
        edges
    }

    /// The next party on the quickest route; `None` if there is no route, or if `from` and `to` are the same party.
    pub(in crate::network) fn next(&mut self, from: PartyId, to: PartyId) -> Option<PartyId> {
        if from == to {
            return None;
        }
        match self.shape {
            Shape::Complete => Some(to),
            Shape::Star(hub) if from.index() == hub || to.index() == hub => Some(to),
            Shape::Star(hub) => Some(party(NodeIndex::new(hub))),
            Shape::Graph => {
                let graph = &self.graph;
                self.towards.entry(to).or_insert_with(|| steps(graph, to))[from.index()]
            }
        }
    }
}

fn party(node: NodeIndex) -> PartyId {
    PartyId(u32::try_from(node.index()).expect("node indices are party ids"))
}

/// For every party, the next party on its route to `to`.
fn steps(graph: &DiGraph<(), f64>, to: PartyId) -> Vec<Option<PartyId>> {
    let cost = |seconds: f64| Cost { seconds, links: 1 };
    let target = NodeIndex::new(to.index());
    let left = dijkstra(petgraph::visit::Reversed(graph), target, None, |edge| cost(*edge.weight()));
    let step = |node: NodeIndex| {
        graph
            .edges_directed(node, Direction::Outgoing)
            .filter_map(|edge| Some((*left.get(&edge.target())? + cost(*edge.weight()), edge.target())))
            // If the routes by way of several next parties have equal costs, the next party with the lowest id is taken,
            // so that the route does not depend on the order of links.
            .min_by(|(a, x), (b, y)| {
                a.seconds.total_cmp(&b.seconds).then(a.links.cmp(&b.links)).then(x.cmp(y))
            })
            .map(|(_, next)| party(next))
    };
    graph.node_indices().map(|node| if node == target { None } else { step(node) }).collect()
}

#[cfg(test)]
mod tests {
    use super::super::{Edges, Mesh, Ring, Star};
    use super::*;

    fn walk(topology: TopologyModel, count: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<u32> {
        let names: Vec<String> = (0..count).map(|i| format!("p{i}")).collect();
        let population = Population { names: &names, traits: &[] };
        let mut routes = Routes::new(&topology, &population, false, cost);
        let (mut at, to, mut seen) = (PartyId(0), PartyId(count as u32 - 1), vec![0]);
        while let Some(next) = routes.next(at, to) {
            seen.push(next.0);
            at = next;
            assert!(seen.len() <= count, "walks in circles: {seen:?}");
        }
        seen
    }

    #[test]
    fn routes_between_leaves_of_a_star_pass_the_hub() {
        let star = || TopologyModel::from(Star { hub: "p1".to_owned() });
        assert_eq!(walk(star(), 3, |_, _| 1.0), [0, 1, 2]);
        assert_eq!(walk(star(), 2, |_, _| 1.0), [0, 1]);
    }

    #[test]
    fn routes_in_a_ring_take_the_quicker_direction_without_cycles() {
        let ring = || TopologyModel::from(Ring { order: vec![] });
        assert_eq!(walk(ring(), 6, |_, _| 1.0), [0, 5]);
        assert_eq!(walk(ring(), 6, |_, _| 0.0), [0, 5]);
        // The link from p0 to p5, which closes the ring, is slow in this direction. So the long way round is quicker.
        let slow = |a, b| if (a, b) == (0, 5) { 100.0 } else { 1.0 };
        assert_eq!(walk(ring(), 6, slow), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn routes_in_a_mesh_avoid_a_slow_link() {
        let slow = |a, b| if (a, b) == (0, 3) { 5.0 } else { 1.0 };
        assert_eq!(walk(TopologyModel::from(Mesh {}), 4, slow), [0, 1, 3]);
        assert_eq!(walk(TopologyModel::from(Mesh {}), 4, |_, _| 1.0), [0, 3]);
    }

    #[test]
    fn provably_equal_routes_are_recognised() {
        let names: Vec<String> = (0..4).map(|i| format!("p{i}")).collect();
        let population = Population { names: &names, traits: &[] };
        let routes = |topology: TopologyModel, uniform: bool, cost: fn(usize, usize) -> f64| {
            Routes::new(&topology, &population, uniform, cost)
        };
        let ring = |cost| routes(TopologyModel::from(Ring { order: vec![] }), false, cost);
        let mesh = |uniform, cost| routes(TopologyModel::from(Mesh {}), uniform, cost);
        let star = |hub: &str| routes(TopologyModel::from(Star { hub: hub.to_owned() }), true, |_, _| 1.0);
        let slow = |a: usize, b: usize| if (a, b) == (0, 3) { 5.0 } else { 1.0 };
        assert!(ring(|_, _| 1.0).provably_same_routes(&ring(|_, _| 2.0)));
        assert!(ring(slow).provably_same_routes(&ring(slow)));
        assert!(!ring(|_, _| 1.0).provably_same_routes(&ring(slow)));
        assert!(!ring(|_, _| 1.0).provably_same_routes(&mesh(true, |_, _| 1.0)));
        assert!(mesh(true, |_, _| 1.0).provably_same_routes(&mesh(false, |_, _| 1.0)));
        assert!(!mesh(true, |_, _| 1.0).provably_same_routes(&mesh(false, slow)));
        assert!(star("p1").provably_same_routes(&star("p1")));
        assert!(!star("p1").provably_same_routes(&star("p2")));
    }

    #[test]
    fn without_a_route_there_is_no_next_party() {
        let edges = Edges(vec![("p0".to_owned(), "p1".to_owned())]);
        assert_eq!(walk(TopologyModel::from(edges), 3, |_, _| 1.0), [0]);
    }
}
