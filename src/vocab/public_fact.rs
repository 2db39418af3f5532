//! Facts taken as public: facts that observers are assumed to know, and that no ledger entry accounts for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The origin of a fact that is taken as public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Stated in the scenario, independently of the data.
    Stated,
    /// A fact about the shape of the data, such as the number of records, or which cells are missing. The fact is assumed to
    /// be the same for all neighbours, although some such facts could differ: replacing a record can make a cell missing.
    Shape,
    /// Part of the protocol: how messages travel, who takes part, what is assumed about the parties.
    Protocol,
    /// Computed from protected data. Privacy losses hold under the condition that the fact is public.
    ComputedFromData,
}

/// A fact that an observer knows and that no ledger entry accounts for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PublicFact {
    /// The fact, as a noun phrase ("mean and standard deviation of the outcomes").
    pub what: String,
    /// Its origin.
    pub origin: Origin,
    /// Name of the party whose data it describes; empty if it does not describe a party's data.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The observer that is assumed to know it; empty for everybody.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub known_to: String,
}

impl PublicFact {
    /// A fact that describes no particular party, known to everybody.
    #[must_use]
    pub fn new(what: impl Into<String>, origin: Origin) -> Self {
        Self { what: what.into(), origin, about: String::new(), known_to: String::new() }
    }

    /// The same fact about the data of this party.
    #[must_use]
    pub fn about(mut self, party: impl Into<String>) -> Self {
        self.about = party.into();
        self
    }

    /// The same fact, known to this observer alone.
    #[must_use]
    pub fn for_observer(mut self, observer: impl Into<String>) -> Self {
        self.known_to = observer.into();
        self
    }

    /// The condition under which losses hold, for a fact that was computed from protected data; `None` for other facts.
    #[must_use]
    pub fn condition(&self) -> Option<String> {
        (self.origin == Origin::ComputedFromData).then(|| format!("{} being public", self.what))
    }
}
