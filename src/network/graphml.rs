//! Reads graphs in GraphML: names of nodes, and edges with numbers.

use super::data_file;
use crate::vocab::{DataFolders, Problem};
use roxmltree::{Document, Node};
use std::collections::BTreeMap;
use std::path::Path;

/// An undirected graph without loops and with at most one edge between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Graph {
    /// Names of the nodes, all different.
    pub(super) nodes: Vec<String>,
    /// Latitude and longitude of each node in degrees, where the file has them.
    pub(super) places: Vec<Option<(f64, f64)>>,
    /// The edges: the positions of both ends in `nodes`, and the value of the requested attribute (`None` if no attribute
    /// was requested).
    pub(super) edges: Vec<(usize, usize, Option<f64>)>,
}

/// Reads a graph. A node's name is the value of its attribute whose name is `label`, or its id if it has no such attribute.
/// `number` is the name of the edge attribute to read, if any. Of several edges between two nodes, the one with the smallest
/// number is kept.
pub(super) fn read(
    base: &DataFolders,
    file: &Path,
    label: &str,
    number: Option<&str>,
) -> Result<Graph, Problem> {
    let text = data_file::read(base, file, "a GraphML file")?;
    let wrong = |expected: String, found: String, cure: &str| Problem::wrong("file", expected, found, cure);
    let place = |node: Node<'_, '_>| {
        format!("{}:{}", file.display(), node.document().text_pos_at(node.range().start).row)
    };
    let document = Document::parse(&text).map_err(|error| {
        let found = format!("{}:{}: {error}", file.display(), error.pos().row);
        wrong("a GraphML file (XML)".to_owned(), found, "correct the file")
    })?;
    let root = document.root_element();
    let all = |name: &'static str| root.descendants().filter(move |node| node.has_tag_name_anywhere(name));
    if root.tag_name().name() != "graphml" {
        let found = format!("<{}> at {}", root.tag_name().name(), place(root));
        return Err(wrong(
            "a GraphML file, which begins with <graphml>".to_owned(),
            found,
            "name another file",
        ));
    }
    // `key` finds the key of an attribute of nodes or edges by the attribute's name. `value` reads the attribute with a
    // given key from one node or edge.
    let key = |of: &str, name: &str| {
        let found = all("key").find(|key| {
            let this = key.attribute("for").is_none_or(|known| known == of || known == "all");
            this && key.attribute("attr.name") == Some(name)
        });
        found.and_then(|key| key.attribute("id"))
    };
    let value = |element: Node<'_, '_>, key: Option<&str>| {
        let data = element.children().find(|child| {
            child.has_tag_name_anywhere("data") && key.is_some() && child.attribute("key") == key
        });
        data.and_then(|data| data.text()).map(|text| text.trim().to_owned())
    };
    let (label, latitude, longitude) =
        (key("node", label), key("node", "Latitude"), key("node", "Longitude"));
    let mut graph = Graph { nodes: Vec::new(), places: Vec::new(), edges: Vec::new() };
    let mut ids: BTreeMap<&str, usize> = BTreeMap::new();
    for node in all("node") {
        let Some(id) = node.attribute("id") else {
            return Err(wrong(
                "an id for every node".to_owned(),
                format!("none at {}", place(node)),
                "add an id to the node",
            ));
        };
        let name = value(node, label).unwrap_or_else(|| id.to_owned());
        if graph.nodes.contains(&name) {
            let found = format!("a second \"{name}\" at {}", place(node));
            let cure = "name another attribute by `label`, such as label: \"id\" for the ids";
            return Err(wrong("a different name for every node".to_owned(), found, cure));
        }
        ids.insert(id, graph.nodes.len());
        graph.nodes.push(name);
        let degree =
            |key| value(node, key).and_then(|text| text.parse::<f64>().ok()).filter(|d| d.is_finite());
        graph.places.push(degree(latitude).zip(degree(longitude)));
    }
    let attribute = number.map(|name| (name, key("edge", name)));
    if let Some((name, None)) = attribute {
        let known: Vec<&str> = all("key")
            .filter(|key| key.attribute("for").is_none_or(|of| of == "edge" || of == "all"))
            .filter_map(|key| key.attribute("attr.name"))
            .collect();
        let expected = format!("an attribute of edges ({})", known.join(", "));
        return Err(wrong(
            expected,
            format!("\"{name}\" in {}", file.display()),
            "name one of the attributes that the file has",
        ));
    }
    let mut edges: BTreeMap<(usize, usize), Option<f64>> = BTreeMap::new();
    for edge in all("edge") {
        let end = |name: &str| {
            let id = edge.attribute(name).unwrap_or_default();
            ids.get(id).copied().ok_or_else(|| {
                let found = format!("\"{id}\" at {}", place(edge));
                wrong(format!("the id of a node as {name}"), found, "correct the edge")
            })
        };
        let (a, b) = (end("source")?, end("target")?);
        let number = match attribute {
            None => None,
            Some((name, key)) => {
                let text = value(edge, key).unwrap_or_default();
                let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
                Some(number.ok_or_else(|| {
                    let expected = format!("a number, 0 or above, as {name}");
                    wrong(expected, format!("\"{text}\" at {}", place(edge)), "correct the edge")
                })?)
            }
        };
        if a != b {
            let known = edges.entry((a.min(b), a.max(b))).or_insert(number);
            if number < *known {
                *known = number;
            }
        }
    }
    if graph.nodes.len() < 2 || edges.is_empty() {
        let found = format!("{} nodes and {} edges in {}", graph.nodes.len(), edges.len(), file.display());
        return Err(wrong("two nodes or more, and edges".to_owned(), found, "name another file"));
    }
    graph.edges = edges.into_iter().map(|((a, b), number)| (a, b, number)).collect();
    Ok(graph)
}

/// Compares element names without their namespace, which differs between programs that write GraphML.
trait Anywhere {
    fn has_tag_name_anywhere(&self, name: &str) -> bool;
}

impl Anywhere for Node<'_, '_> {
    fn has_tag_name_anywhere(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}
