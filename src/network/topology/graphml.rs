//! A network whose links are the edges of a graph from a file.

use super::edges::Edges;
use super::{Pairs, Topology};
use crate::network::data_file::{self, Loaded};
use crate::network::graphml::{self, Graph};
use crate::network::population::Population;
use crate::vocab::{DataFolders, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The parties are the nodes of a graph from a GraphML file, and the links are its edges. A node without a task in the
/// protocol must also be a party; this party only relays messages. To use the delays of a GraphML file without making its
/// routers parties, use the latency `PathDelays`.
///
/// Example: `GraphMl(file: "parties.graphml")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GraphMl {
    /// The file; relative to the scenario's folder or to the folder of `--data`.
    pub file: PathBuf,
    /// Name of the attribute that holds a party's name; a node without this attribute is called by its id. Default: label.
    #[serde(default = "label")]
    pub label: String,
    #[serde(skip)]
    graph: Loaded<Graph>,
}

fn label() -> String {
    "label".to_owned()
}

impl GraphMl {
    /// The edges, as pairs of names.
    fn edges(&self) -> Edges {
        let name = |graph: &Graph, node: usize| graph.nodes[node].clone();
        let edges = self.graph.iter().flat_map(|graph| {
            graph.edges.iter().map(|&(a, b, _)| (name(graph, a), name(graph, b))).collect::<Vec<_>>()
        });
        Edges(edges.collect())
    }
}

impl Topology for GraphMl {
    fn pairs(&self, population: &Population<'_>) -> Pairs {
        self.edges().pairs(population)
    }

    fn problems(&self, population: &Population<'_>) -> Vec<Problem> {
        let Some(graph) = &self.graph else { return Vec::new() };
        let file = self.file.display();
        if let Some(node) = graph.nodes.iter().find(|node| population.position(node).is_none()) {
            let found = format!("\"{node}\" of {file}, which is not a party");
            let cure = format!("write \"{node}\": Party(), or name another attribute by `label`");
            return vec![Problem::wrong("file", "a party for every node", found, cure)];
        }
        if let Some(party) = population.names.iter().find(|party| !graph.nodes.contains(*party)) {
            let found = format!("none for \"{party}\" in {file}");
            return vec![Problem::wrong(
                "file",
                "a node for every party",
                found,
                "add the node, or leave the party out",
            )];
        }
        let found = self.edges().problems(population).into_iter();
        found.map(|problem| Problem { path: "file".to_owned(), ..problem }).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let read = graphml::read(base, &self.file, &self.label, None);
        data_file::keep(read, &mut self.graph)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
