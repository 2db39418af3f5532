//! The network of a scenario: a topology, a default link, and rules for particular links.

use super::latency::LatencyModel;
use super::loss::LossModel;
use super::{NetworkMedium, Topology, availability::AvailabilityModel};
use crate::rng::Key;
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How long a message travels. Default: no time.
    #[serde(default)]
    pub latency: LatencyModel,
    /// Whether a message is dropped. Default: never.
    #[serde(default)]
    pub loss: LossModel,
}

/// A link that differs from the default, in one direction. A later rule wins over an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRule {
    /// Sender.
    pub from: String,
    /// Addressee.
    pub to: String,
    /// How long a message travels. Default: no time.
    #[serde(default)]
    pub latency: LatencyModel,
    /// Whether a message is dropped. Default: never.
    #[serde(default)]
    pub loss: LossModel,
}

/// Everything between the parties.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Which parties have a link.
    pub topology: Topology,
    /// Every link that no rule names. Default: no delay, no loss.
    #[serde(default)]
    pub default: Link,
    /// Links that differ.
    #[serde(default)]
    pub links: Vec<LinkRule>,
}

impl Network {
    /// What is wrong with the network, given the parties' names. Paths begin below `network`.
    #[must_use]
    pub fn problems(&self, names: &[String]) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut party = |path: String, name: &str| {
            if !names.iter().any(|known| known == name) {
                problems.push(Problem::unknown(path, "party", name, names));
            }
        };
        for (field, name) in self.topology.mentions() {
            party(format!("topology.{field}"), name);
        }
        for (index, rule) in self.links.iter().enumerate() {
            party(format!("links[{index}].from"), &rule.from);
            party(format!("links[{index}].to"), &rule.to);
        }
        let default = self.default.latency.as_dyn().problems();
        problems.extend(default.into_iter().map(|problem| problem.below("default.latency")));
        for (index, rule) in self.links.iter().enumerate() {
            let place = format!("links[{index}].latency");
            problems
                .extend(rule.latency.as_dyn().problems().into_iter().map(|problem| problem.below(&place)));
        }
        problems
    }

    /// The medium for parties in the order of `names`; `key` is the node of the seed tree for the network.
    #[must_use]
    pub fn medium(&self, names: &[String], availability: &[AvailabilityModel], key: Key) -> NetworkMedium {
        NetworkMedium::new(self, names, availability, key)
    }

    /// The link from one named party to another.
    #[must_use]
    pub fn link(&self, from: &str, to: &str) -> Link {
        self.links.iter().rev().find(|rule| rule.from == from && rule.to == to).map_or_else(
            || self.default.clone(),
            |rule| Link { latency: rule.latency.clone(), loss: rule.loss.clone() },
        )
    }
}
