//! The privacy loss of a whole study to one observer: one row of the report.

use super::LossBasis;
use super::basis::{arithmetic_in_words, infinite};
use crate::vocab::{Arithmetic, Neighbours, ProtectedUnit};
use serde::{Deserialize, Serialize};

/// The privacy loss to one observer if all runs of one series, or of several series together, are published, in all
/// cells and replications. It is the largest loss over all units. Epsilons are natural logarithms of likelihood ratios,
/// deltas are dimensionless.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyPrivacy {
    /// Name of the series. For several series together it is "all series". If releases were left out because their
    /// losses are for another neighbouring relation, it is the list of the series that were added up.
    pub series: String,
    /// Whether this is the loss of several series together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_series: bool,
    /// Whether this is the loss about a person: the sum of the losses about a row and about its outcome. If so, `unit` is
    /// the record.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub person: bool,
    /// Name of the party whose data are protected.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// The observer of the releases.
    pub observer: String,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
    /// Number of runs in which something was released. For a person, each series counts with the larger of two numbers,
    /// its runs with releases about the row and its runs with releases about the outcome; the numbers of all series are
    /// added up.
    pub runs: u64,
    /// Number of releases in these runs, about any unit.
    pub releases: u64,
    /// Epsilon by the tight accountant, at `delta`; infinite ("inf" in files) if no finite epsilon holds.
    #[serde(with = "infinite")]
    pub epsilon_tight: f64,
    /// Epsilon by Renyi composition.
    #[serde(with = "infinite")]
    pub epsilon_rdp: f64,
    /// Epsilon by basic composition.
    #[serde(with = "infinite")]
    pub epsilon_basic: f64,
    /// Delta at which all three epsilons are stated.
    pub delta: f64,
    /// The weakest basis of the releases; at best "conditional" if runs share their random numbers and the tight
    /// accountant's epsilon is finite.
    pub basis: LossBasis,
    /// The weakest arithmetic of the releases; `None` if the tight accountant's epsilon is infinite.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "arithmetic_in_words")]
    pub arithmetic: Option<Arithmetic>,
    /// Notes; usually empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

impl StudyPrivacy {
    /// Whether any of the three epsilons is finite.
    #[must_use]
    pub fn figures_are_finite(&self) -> bool {
        [self.epsilon_tight, self.epsilon_rdp, self.epsilon_basic].iter().any(|epsilon| epsilon.is_finite())
    }
}
