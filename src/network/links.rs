//! The network of a scenario: a topology, a default link, and rules for particular links.

use super::latency::LatencyModel;
use super::loss::LossModel;
use super::{NetworkMedium, Topology, availability::AvailabilityModel};
use crate::rng::Key;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

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

/// A network that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NetworkError {
    /// A name that no party has.
    UnknownParty {
        /// Where it stands, below `network`.
        field: String,
        /// The name.
        name: String,
    },
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownParty { field, name } => write!(f, "network.{field}: no party is called \"{name}\""),
        }
    }
}

impl std::error::Error for NetworkError {}

impl Network {
    /// The names of parties that the network mentions, each with its path below `network`.
    #[must_use]
    pub fn mentions(&self) -> Vec<(String, &str)> {
        let mut mentions: Vec<(String, &str)> = self
            .topology
            .mentions()
            .into_iter()
            .map(|(field, name)| (format!("topology.{field}"), name))
            .collect();
        for (index, rule) in self.links.iter().enumerate() {
            mentions.push((format!("links[{index}].from"), &rule.from));
            mentions.push((format!("links[{index}].to"), &rule.to));
        }
        mentions
    }

    /// The medium for parties in the order of `names`; `key` is the node of the seed tree for the network.
    ///
    /// # Errors
    /// [`NetworkError::UnknownParty`] for a name that is not in `names`.
    pub fn medium(
        &self,
        names: &[String],
        availability: &[AvailabilityModel],
        key: Key,
    ) -> Result<NetworkMedium, NetworkError> {
        for (field, name) in self.mentions() {
            if !names.iter().any(|known| known == name) {
                return Err(NetworkError::UnknownParty { field, name: name.to_owned() });
            }
        }
        Ok(NetworkMedium::new(self, names, availability, key))
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
