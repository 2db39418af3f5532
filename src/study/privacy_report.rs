//! Who learned what about whom, with what each accountant says about it.

use super::record::ReplicationRecord;
use crate::privacy::accountants;
use crate::protocols::BookedRelease;
use crate::vocab::{Basis, Claim, Cost, Delta, Neighbours, ProtectedUnit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Everything one observer learned about one kind of unit of one party, in one series.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PrivacyRow {
    /// Name of the series.
    pub series: String,
    /// Whose data.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// Who learned.
    pub observer: String,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
    /// What was released, each kind once.
    pub released: Vec<String>,
    /// Releases in one run; the largest number over the replications.
    pub releases: u64,
    /// What it amounts to, by accountant.
    pub losses: Vec<Loss>,
}

/// A cumulative privacy loss as one accountant sees it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Loss {
    /// Who counted.
    pub accountant: String,
    /// Epsilon; "inf" where no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon: f64,
    /// Delta that the epsilon is stated at.
    pub delta: f64,
    /// On what it rests.
    pub basis: String,
    /// What to know about it; empty if nothing.
    pub note: String,
}

/// JSON has no infinity: it is written as the text "inf".
mod infinite {
    use serde::{Deserialize, Deserializer, Serializer};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.serialize_str("inf") }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Either::deserialize(deserializer)? {
            Either::Number(value) => Ok(value),
            Either::Text(text) if text == "inf" => Ok(f64::INFINITY),
            Either::Text(text) => {
                Err(serde::de::Error::custom(format!("expected a number or \"inf\", found \"{text}\"")))
            }
        }
    }
}
