//! The members that a user's own program has added to the library's families, and which of them a scenario names.

use super::draft::Draft;
use crate::accounting::Accountants;
use crate::learners::LearnerModel;
use crate::network::availability::AvailabilityModel;
use crate::network::compute::ComputeModel;
use crate::network::latency::LatencyModel;
use crate::network::loss::LossModel;
use crate::network::outage::OutageModel;
use crate::network::throughput::ThroughputModel;
use crate::network::topology::TopologyModel;
use crate::objectives::{NoiseModel, ObjectiveModel};
use crate::privacy::mechanisms::{InputRelease, OutcomeRelease, Report};
use crate::protocols::ProtocolModel;
use crate::protocols::federated::{RoundPolicy, SelectionModel, StalenessDiscount, WeightSchedule};
use crate::protocols::local::{ArrivalModel, PopularityModel};
use crate::protocols::release::PublicationModel;
use crate::vocab::family::{Family, Members};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// A member that the user's program has added to a family of the library.
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

/// Every member and every accountant that the running program has added to those of the library.
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
    of::<ThroughputModel>(&mut found);
    of::<OutageModel>(&mut found);
    of::<ObjectiveModel>(&mut found);
    of::<NoiseModel>(&mut found);
    of::<ProtocolModel>(&mut found);
    of::<InputRelease>(&mut found);
    of::<OutcomeRelease>(&mut found);
    of::<Report>(&mut found);
    of::<PublicationModel>(&mut found);
    of::<WeightSchedule>(&mut found);
    of::<RoundPolicy>(&mut found);
    of::<SelectionModel>(&mut found);
    of::<StalenessDiscount>(&mut found);
    of::<LearnerModel>(&mut found);
    found.extend(Accountants::installed().own().map(|(name, kind)| OwnMember {
        family: "accountant".to_owned(),
        name: name.to_owned(),
        kind: kind.to_owned(),
    }));
    of::<PopularityModel>(&mut found);
    of::<ArrivalModel>(&mut found);
    found
}

impl Draft {
    /// The added members and accountants whose name occurs anywhere in the scenario, as a key or as a text.
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

/// Whether any key or text in a JSON value equals this name; serde writes the name of an enum variant as a key or
/// as a text.
fn names(value: &Value, name: &str) -> bool {
    match value {
        Value::Object(map) => map.iter().any(|(key, inner)| key == name || names(inner, name)),
        Value::Array(items) => items.iter().any(|inner| names(inner, name)),
        Value::String(text) => text == name,
        _ => false,
    }
}
