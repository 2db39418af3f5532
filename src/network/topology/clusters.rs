//! Groups of parties that are connected by gateways.

use super::{Pairs, Topology};
use crate::network::population::Population;
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Each group has a gateway, which has a link to every other party of the group. Every two gateways also have a link. A
/// party's entry states the group of the party (`Party(group: "north")`).
///
/// Example: `Clusters(gateways: { "left": "server", "right": "client" })`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clusters {
    /// The gateway of each group: group name to party name. Every group has a gateway, which is a party of that group.
    pub gateways: BTreeMap<String, String>,
}

impl Topology for Clusters {
    fn pairs(&self, population: &Population<'_>) -> Pairs {
        let gateways: BTreeMap<&str, usize> = self
            .gateways
            .iter()
            .filter_map(|(group, name)| Some((group.as_str(), population.position(name)?)))
            .collect();
        let mut pairs = Pairs::new();
        for party in 0..population.names.len() {
            if let Some(&gateway) = population.group(party).and_then(|group| gateways.get(group))
                && gateway != party
            {
                pairs.push((gateway, party));
            }
        }
        let middle: Vec<usize> = gateways.into_values().collect();
        pairs.extend(
            middle.iter().enumerate().flat_map(|(i, &a)| middle[i + 1..].iter().map(move |&b| (a, b))),
        );
        pairs
    }

    fn problems(&self, population: &Population<'_>) -> Vec<Problem> {
        let groups = population.groups();
        let mut problems = Vec::new();
        for (group, gateway) in &self.gateways {
            let path = format!("gateways[\"{group}\"]");
            if !groups.contains(group) {
                problems.push(Problem::unknown(path, "group", group, &groups));
            } else if let Some(problem) = population.expect_party(&path, gateway) {
                problems.push(problem);
            } else if population.position(gateway).and_then(|index| population.group(index)) != Some(group) {
                let expected = format!("a party of the group \"{group}\"");
                let found = format!("\"{gateway}\", which is not in this group");
                problems.push(Problem::wrong(path, expected, found, "name one of the group's own parties"));
            }
        }
        for group in groups.iter().filter(|group| !self.gateways.contains_key(*group)) {
            let cure = "add its gateway; without it no route leads to the group";
            let expected = format!("a gateway of the group \"{group}\"");
            problems.push(Problem::wrong("gateways", expected, "none", cure));
        }
        for (index, name) in population.names.iter().enumerate() {
            if population.group(index).is_none() {
                let found = format!("party \"{name}\" has no group, so no route leads to it");
                let cure = "give the party a group";
                problems.push(Problem::wrong("gateways", "every party in a group", found, cure));
            }
        }
        problems
    }
}
