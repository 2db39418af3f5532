//! The interface between mechanisms and accountants: releases as plain data.
//!
//! A mechanism states the cost of each release, and accountants compute privacy losses from the costs and from whether
//! releases may have been chosen adaptively. The ledger stores releases as [`PrivacyEvent`]s, with their costs and without
//! computed losses, so every accountant can compute the loss of a stored run.

use super::{Cost, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The unit of protection: the part of the data in which two neighbours differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum ProtectedUnit {
    /// One row of a curator's data set (one patient, one loan).
    Record,
    /// One outcome value measured for a queried row.
    Outcome,
    /// One reward reported by one user.
    Reward,
    /// Everything one user ever reports.
    User,
    /// Everything one federated agent contributes.
    Agent,
    /// One record of a validation set.
    ValidationRecord,
    /// One record that models are trained on.
    TrainingRecord,
}

impl ProtectedUnit {
    /// In words, with its article.
    #[must_use]
    pub fn with_article(&self) -> &'static str {
        match self {
            Self::Record => "a record",
            Self::Outcome => "an outcome",
            Self::Reward => "a reward",
            Self::User => "a user",
            Self::Agent => "an agent",
            Self::ValidationRecord => "a validation record",
            Self::TrainingRecord => "a training record",
        }
    }
}

/// The neighbouring relation: which two inputs a guarantee makes hard to distinguish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Neighbours {
    /// One row moved by at most `distance`, in the units of the scaled inputs.
    RowMoved {
        /// Largest Euclidean distance between the two versions of the row.
        distance: f64,
    },
    /// One record replaced by any other.
    ReplaceOne,
    /// One unit added or removed.
    AddRemove,
    /// One agent's contribution replaced by zero.
    ZeroOut,
    /// One value replaced by any other value; if the unit is a user, all values of one user replaced by any others.
    AnyValue,
    /// The distribution of one reward replaced by a distribution with any other mean within the mechanism's bound on mean
    /// rewards (protocol `Local`). If the unit is a user, the distributions of all rewards of one user are replaced in this
    /// way. A reward is a mean plus noise of a stated distribution. The guarantee is about the mean. It says nothing about
    /// the value that was drawn.
    AnyMean,
}

/// Who sees the release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Observer(
    /// Name of the party, or a phrase such as "anyone who reads the report".
    pub String,
);

/// The sampler that chose the units that took part in a release. A theorem on amplification by subsampling holds for one
/// sampler only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Sampler {
    /// Every unit took part.
    Full,
    /// Each unit took part independently with probability `rate`; the observer does not know which units took part.
    Poisson {
        /// Probability with which each unit took part.
        rate: f64,
    },
    /// Exactly `size` of `population` units took part, drawn without replacement.
    FixedSize {
        /// Number of units that could have taken part.
        population: u64,
        /// Number of units that took part.
        size: u64,
    },
}

/// The loss that a paper or a user claims for a release. It is stored beside the cost of the release. From the cost,
/// accountants compute a loss of their own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Claim {
    /// Claimed epsilon of this one release.
    pub epsilon: f64,
    /// Claimed delta of this one release.
    pub delta: f64,
    /// Where the claim is made ("Kharkovskii, Dai and Low 2020, Theorem 1").
    pub source: String,
    /// The claimed cost, if the claims of several releases are composed by the moments accountant; `epsilon` and `delta` are
    /// then 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
}

/// The justification of the stated cost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Basis {
    /// The cost holds for every pair of neighbours.
    Proven,
    /// The cost holds only under an assumption that the release cannot check.
    Conditional {
        /// The assumption ("probability 1 - delta over functions drawn from the assumed GP").
        on: String,
    },
    /// The cost is stated in a paper, and neither proven nor refuted here.
    AsPublished,
    /// The claimed loss is known to be false in this setting.
    Refuted {
        /// Why the claim fails.
        why: String,
    },
    /// The value is released without protection.
    Unprotected,
}

impl Basis {
    /// The basis under the further conditions `conditions`. The basis is unchanged if `conditions` is empty, or if the
    /// basis is neither proven nor conditional.
    #[must_use]
    pub fn with_conditions(self, conditions: &[String]) -> Self {
        if conditions.is_empty() {
            return self;
        }
        let further = conditions.join(", and ");
        match self {
            Self::Proven => Self::Conditional { on: further },
            Self::Conditional { on } => Self::Conditional { on: format!("{on}, and {further}") },
            other @ (Self::AsPublished | Self::Refuted { .. } | Self::Unprotected) => other,
        }
    }
}

/// Whether the noise that was drawn has exactly the distribution that was analysed. The variants are in order, the weakest
/// statement first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub enum Arithmetic {
    /// Floating-point noise analysed as if it were real-valued ("ideal arithmetic").
    Ideal,
    /// Exact noise on a lattice; the bound holds for the numbers that the computer outputs.
    Exact,
    /// No noise was drawn.
    Noiseless,
}

impl Arithmetic {
    /// The words for this arithmetic in reports and files.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Ideal => "ideal arithmetic",
            Self::Exact => "exact arithmetic",
            Self::Noiseless => "no noise drawn",
        }
    }
}

/// One release of something that depends on protected data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PrivacyEvent {
    /// What was released ("projected inputs Z").
    pub released: String,
    /// Mechanism that released it ("Johnson-Lindenstrauss projection").
    pub mechanism: String,
    /// Name of the party whose data the release depends on.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// Number of the unit (user 17). Absent if the release concerns all units. Also absent for the rewards of users who each
    /// report once: every such release is about a different user.
    pub unit_index: Option<u64>,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
    /// Who sees the release.
    pub observer: Observer,
    /// Sampler that was used.
    pub sampler: Sampler,
    /// The sensitivity by which the noise was scaled, in the norm that the mechanism names; absent if the mechanism has
    /// none.
    pub sensitivity: Option<f64>,
    /// The cost, which accountants use.
    pub cost: Cost,
    /// The loss that is claimed for the release, if any.
    pub claim: Option<Claim>,
    /// The justification of the cost.
    pub basis: Basis,
    /// The arithmetic of the noise.
    pub arithmetic: Arithmetic,
    /// Round of the protocol, from 0.
    pub round: u64,
    /// Virtual time of the release.
    #[serde(skip, default)]
    pub at: Time,
}

impl PrivacyEvent {
    /// Whether every release of this kind is about a different user, who reports once. Such releases are those about rewards
    /// without a unit number. The losses of different users do not add up.
    #[must_use]
    pub fn is_of_one_user_each(&self) -> bool {
        self.unit == ProtectedUnit::Reward && self.unit_index.is_none()
    }
}
