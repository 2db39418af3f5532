//! The parts of a scenario that are audited, and those that are left out.

use crate::audit::error::AuditError;
use crate::audit::measure::Experiment;
use crate::audit::reconstruction::Reconstruction;
use crate::audit::verdict::Statement;
use serde::Serialize;
use thiserror::Error;

/// One release of one series on one pair of neighbours.
pub struct System {
    /// The claim about the release, and the upper bound on its loss.
    pub statement: Statement,
    pub(super) experiment: Box<dyn Experiment + Send>,
    pub(super) notes: Vec<String>,
    pub(super) reconstruction: Option<Reconstruction>,
}

impl std::fmt::Debug for System {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("System").field("statement", &self.statement).finish_non_exhaustive()
    }
}

impl System {
    /// A release on one pair of neighbours: the statement about it, and the experiment that repeats it on either neighbour.
    pub fn new(statement: Statement, experiment: impl Experiment + Send + 'static) -> Self {
        Self { statement, experiment: Box::new(experiment), notes: Vec::new(), reconstruction: None }
    }
}

/// One release of one series on several pairs of neighbours, from which the audit chooses the worst.
pub type Candidates = Vec<System>;

/// A series, or a part of one, that is not audited, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotAudited {
    /// The series.
    pub series: String,
    /// Whether the series has protection that an audit would test; false if nothing is claimed or nothing is released.
    pub protected: bool,
    /// Why it is not audited, in words.
    pub why: String,
}

/// Why a series is not audited.
#[derive(Debug, Error)]
pub enum NotAuditedReason {
    /// Nothing is claimed for the release, or nothing is released.
    #[error("{0}")]
    Unprotected(&'static str),
    /// The release is protected, but there is no attack on it.
    #[error("{0}")]
    NoAttack(&'static str),
    /// The attack cannot be prepared.
    #[error(transparent)]
    Failed(#[from] AuditError),
}

impl NotAuditedReason {
    /// The entry of the series in the report's list of series that are not audited.
    #[must_use]
    pub fn of(&self, series: &str) -> NotAudited {
        let protected = !matches!(self, Self::Unprotected(_));
        NotAudited { series: series.to_owned(), protected, why: self.to_string() }
    }
}

/// The parts of a scenario that can be audited, and those that cannot.
#[derive(Debug, Default)]
pub struct Systems {
    /// Each release of each audited series, on one or more pairs of neighbours, of which the audit measures the worst.
    pub audited: Vec<Candidates>,
    /// The series, or parts of series, that are left out.
    pub not_audited: Vec<NotAudited>,
}
