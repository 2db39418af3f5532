//! Who is linked with whom, and the quickest route between two parties.

use crate::vocab::PartyId;
use petgraph::algo::astar;
use petgraph::graph::{NodeIndex, UnGraph};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which parties have a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Topology {
    /// One party in the middle, linked with every other; the others talk through it.
    Star {
        /// Name of the party in the middle.
        hub: String,
    },
}

impl Topology {
    /// The names of parties that the topology mentions, each with the field that mentions it.
    #[must_use]
    pub fn mentions(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::Star { hub } => vec![("Star.hub", hub)],
        }
    }

    /// The graph over parties in the order of `names`; a node's index is its party's id.
    #[must_use]
    pub fn graph(&self, names: &[String]) -> UnGraph<(), ()> {
        let mut graph = UnGraph::with_capacity(names.len(), names.len());
        let nodes: Vec<NodeIndex> = names.iter().map(|_| graph.add_node(())).collect();
        match self {
            Self::Star { hub } => {
                if let Some(middle) = names.iter().position(|name| name == hub) {
                    for (index, &node) in nodes.iter().enumerate() {
                        if index != middle {
                            graph.add_edge(nodes[middle], node, ());
                        }
                    }
                }
            }
        }
        graph
    }
}

/// The route of smallest total `cost` from one party to another, both ends included; `None` where none leads.
pub(super) fn route(
    graph: &UnGraph<(), ()>,
    from: PartyId,
    to: PartyId,
    cost: impl Fn(PartyId, PartyId) -> f64,
) -> Option<Vec<PartyId>> {
    let party = |node: NodeIndex| PartyId(u32::try_from(node.index()).expect("node indices are party ids"));
    let target = NodeIndex::new(to.index());
    // A* with no heuristic is Dijkstra's algorithm. An undirected edge is walked either way, so its ends are put
    // in walking order by looking at which end has been left.
    let mut directed =
        petgraph::graph::DiGraph::<(), f64>::with_capacity(graph.node_count(), 2 * graph.edge_count());
    for _ in graph.node_indices() {
        directed.add_node(());
    }
    for edge in graph.edge_indices() {
        let (a, b) = graph.edge_endpoints(edge).expect("the edge comes from this graph");
        directed.add_edge(a, b, cost(party(a), party(b)));
        directed.add_edge(b, a, cost(party(b), party(a)));
    }
    let (_, nodes) = astar(
        &directed,
        NodeIndex::new(from.index()),
        |node| node == target,
        |edge| *edge.weight(),
        |_| 0.0,
    )?;
    Some(nodes.into_iter().map(party).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaves_of_a_star_talk_through_the_hub() {
        let names: Vec<String> = ["a", "hub", "b"].map(str::to_owned).to_vec();
        let graph = Topology::Star { hub: "hub".to_owned() }.graph(&names);
        let hops = route(&graph, PartyId(0), PartyId(2), |_, _| 1.0).unwrap();
        assert_eq!(hops, [PartyId(0), PartyId(1), PartyId(2)]);
        assert_eq!(route(&graph, PartyId(1), PartyId(2), |_, _| 1.0).unwrap().len(), 2);
    }

    #[test]
    fn no_route_is_said_so() {
        let names: Vec<String> = ["a", "b"].map(str::to_owned).to_vec();
        let graph = Topology::Star { hub: "nobody".to_owned() }.graph(&names);
        assert_eq!(route(&graph, PartyId(0), PartyId(1), |_, _| 1.0), None);
    }
}
