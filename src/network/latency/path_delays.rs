//! Delays between sites of a network that is given as a graph.

use super::site_delays::{SiteDelays, Sites};
use super::{Constant, Latency, LatencyModel, LinkEnd};
use crate::network::data_file::{self, Loaded};
use crate::network::graphml;
use crate::vocab::{DataFolders, Problem, Span};
use petgraph::algo::dijkstra;
use petgraph::graph::{NodeIndex, UnGraph};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The delay from one party to another is that of the quickest path between the sites of the two parties, in a network from
/// a GraphML file. The Internet Topology Zoo (<http://www.topology-zoo.org>) has such files. The nodes along the path are
/// only places in this network, not parties.
///
/// Example: `PathDelays(file: "sites.graphml", delay: Attribute(name: "delay", unit: "1ms"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PathDelays {
    /// The file; relative to the scenario's folder or to the folder of `--data`.
    pub file: PathBuf,
    /// Name of the attribute that holds a node's name; a node without this attribute is called by its id. Default: label.
    #[serde(default = "label")]
    pub label: String,
    /// The delay of an edge: one of its attributes, or computed from the distance between its ends.
    pub delay: EdgeDelay,
    /// A list of sites for each party or group that is named here. A party uses the list under its own name or, without one,
    /// the list under its group's name. Party k (from 0) of an entry with a `count` is at site k of the list; after the last
    /// site comes the first again. A party without a list is at the site that has the party's name. Default: no lists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sites: BTreeMap<String, Vec<String>>,
    #[serde(skip)]
    delays: Loaded<SiteDelays>,
}

/// The delay of an edge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum EdgeDelay {
    /// A number that the file states for each edge.
    ///
    /// Example: `Attribute(name: "delay", unit: "1ms")`.
    Attribute {
        /// The attribute's name (`attr.name`).
        name: String,
        /// The unit of the attribute.
        unit: Span,
    },
    /// The great-circle distance between the ends divided by 200 km per millisecond, the speed of light in glass. The
    /// distance is computed from the nodes' attributes `Latitude` and `Longitude`, in degrees, on a sphere of 6,371 km
    /// radius.
    Distance,
}

fn label() -> String {
    "label".to_owned()
}

/// The great-circle distance, in kilometres, between two places given by latitude and longitude in degrees (haversine
/// formula).
fn kilometres(a: (f64, f64), b: (f64, f64)) -> f64 {
    let half = |degrees: f64| libm::sin(degrees.to_radians() / 2.0);
    let (north, east) = (half(b.0 - a.0), half(b.1 - a.1));
    let (a, b) = (libm::cos(a.0.to_radians()), libm::cos(b.0.to_radians()));
    2.0 * 6371.0 * libm::asin((north * north + a * b * east * east).sqrt().min(1.0))
}

impl PathDelays {
    fn read(&self, base: &DataFolders) -> Result<SiteDelays, Problem> {
        let attribute = match &self.delay {
            EdgeDelay::Attribute { name, .. } => Some(name.as_str()),
            EdgeDelay::Distance => None,
        };
        let read = graphml::read(base, &self.file, &self.label, attribute)?;
        let mut graph: UnGraph<(), f64> = UnGraph::default();
        for _ in &read.nodes {
            graph.add_node(());
        }
        for &(a, b, number) in &read.edges {
            let seconds = match (&self.delay, number) {
                (EdgeDelay::Attribute { unit, .. }, number) => number.unwrap_or(0.0) * unit.seconds(),
                (EdgeDelay::Distance, _) => {
                    let unplaced = [a, b].into_iter().find(|node| read.places[*node].is_none());
                    if let Some(node) = unplaced {
                        let found = format!("none for \"{}\" in {}", read.nodes[node], self.file.display());
                        let cure = "add these attributes, or write delay: Attribute(..)";
                        let expected = "attributes Latitude and Longitude of every node with an edge";
                        return Err(Problem::wrong("file", expected, found, cure));
                    }
                    let ends = read.places[a].zip(read.places[b]);
                    ends.map_or(0.0, |(a, b)| kilometres(a, b)) / 200_000.0
                }
            };
            graph.add_edge(NodeIndex::new(a), NodeIndex::new(b), seconds);
        }
        let n = read.nodes.len();
        let mut delays = vec![None; n * n];
        for from in 0..n {
            let reached = dijkstra(&graph, NodeIndex::new(from), None, |edge| *edge.weight());
            // No element of `delays` is written twice, so the order of iteration has no effect.
            for (to, seconds) in reached {
                delays[from * n + to.index()] = Some(Span::from_seconds(seconds));
            }
        }
        Ok(SiteDelays::new(read.nodes, &delays))
    }
}

impl Latency for PathDelays {
    /// The quantile of the delays between all pairs of different sites that a path connects; zero if the file has not been
    /// read.
    fn quantile(&self, u: f64) -> Span {
        self.delays.as_ref().map_or(Span::ZERO, |delays| delays.quantile(u))
    }

    fn mean_seconds(&self) -> f64 {
        self.delays.as_ref().map_or(0.0, |delays| delays.mean_seconds())
    }

    fn needs_link(&self) -> bool {
        true
    }

    fn differs_between_links(&self) -> bool {
        true
    }

    fn between(&self, from: LinkEnd<'_>, to: LinkEnd<'_>) -> Option<LatencyModel> {
        let sites: &Sites = &self.sites;
        let delay = self.delays.as_ref().map_or(Span::ZERO, |delays| delays.between(sites, from, to));
        Some(Constant(delay).into())
    }

    fn problems_between(&self, parties: &[LinkEnd<'_>]) -> Vec<Problem> {
        let file = self.file.display().to_string();
        self.delays.iter().flat_map(|delays| delays.problems(&file, &self.sites, parties)).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let read = self.read(base);
        data_file::keep(read, &mut self.delays)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }

    fn is_unread(&self) -> bool {
        self.delays.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// London (51.5074 N, 0.1278 W) and Paris (48.8566 N, 2.3522 E) are 344 km apart.
    #[test]
    fn distances_are_those_of_great_circles() {
        let km = kilometres((51.5074, -0.1278), (48.8566, 2.3522));
        assert!((km - 343.6).abs() < 1.0, "{km}");
        assert!((kilometres((0.0, 0.0), (0.0, 180.0)) - 20_015.1).abs() < 0.1);
    }
}
