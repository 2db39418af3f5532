//! The members that a program has added to the library's families, and which of them a scenario names.

use super::draft::Draft;
use crate::learners::LearnerModel;
use crate::network::availability::AvailabilityModel;
use crate::network::compute::ComputeModel;
use crate::network::latency::LatencyModel;
use crate::network::loss::LossModel;
use crate::network::outage::OutageModel;
use crate::network::topology::TopologyModel;
use crate::objectives::{NoiseModel, ObjectiveModel};
use crate::privacy::mechanisms::{InputRelease, OutcomeRelease, Report};
use crate::protocols::ProtocolModel;
use crate::protocols::release::PublicationModel;
use crate::vocab::family::{Family, Members};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A member that does not come with the library.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OwnMember {
    /// The family ("latency").
    pub family: String,
    /// The name that scenarios write.
    pub name: String,
    /// The path of its type.
    #[serde(rename = "type")]
    pub kind: String,
}

impl fmt::Display for OwnMember {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (type {})", self.family, self.name, self.kind)
    }
}

/// Every member that this program has added to the library's.
#[must_use]
pub fn own_members() -> Vec<OwnMember> {
    fn of<M: Family>(found: &mut Vec<OwnMember>) {
        found.extend(Members::<M>::installed().own().map(|(name, kind)| OwnMember {
            family: M::WORDS.to_owned(),
            name: name.to_owned(),
            kind: kind.to_owned(),
        }));
    }
    let mut found = Vec::new();
    of::<TopologyModel>(&mut found);
    of::<LatencyModel>(&mut found);
    of::<LossModel>(&mut found);
    of::<AvailabilityModel>(&mut found);
    of::<ComputeModel>(&mut found);
    of::<OutageModel>(&mut found);
    of::<ObjectiveModel>(&mut found);
    of::<NoiseModel>(&mut found);
    of::<ProtocolModel>(&mut found);
    of::<InputRelease>(&mut found);
    of::<OutcomeRelease>(&mut found);
    of::<Report>(&mut found);
    of::<PublicationModel>(&mut found);
    of::<LearnerModel>(&mut found);
    found
}

impl Draft {
    /// The members of this program's own that the scenario names.
    #[must_use]
    pub fn own_members(&self) -> Vec<OwnMember> {
        let mut own = own_members();
        if own.is_empty() {
            return own;
        }
        let value = serde_json::to_value(self).unwrap_or_default();
        own.retain(|member| names(&value, &member.name));
        own
    }
}

/// Whether a value has a part of this name, as a variant of an enum is written.
fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, inner)| key == name || names(inner, name)),
        Value::Array(items) => items.iter().any(|inner| names(inner, name)),
        Value::String(text) => text == name,
        _ => false,
    }
}
