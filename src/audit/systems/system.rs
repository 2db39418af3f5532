//! What of a scenario is audited, and what is left out.

use crate::audit::error::AuditError;
use crate::audit::measure::Experiment;
use crate::audit::reconstruction::Reconstruction;
use crate::audit::verdict::Statement;
use serde::Serialize;
use thiserror::Error;

/// One release of one series on one pair of neighbours.
pub struct System {
    /// What is said about it.
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
    /// A release on one pair of neighbours: what is said about it, and how it is repeated in either world.
    pub fn new(statement: Statement, experiment: impl Experiment + Send + 'static) -> Self {
        Self { statement, experiment: Box::new(experiment), notes: Vec::new(), reconstruction: None }
    }
}

/// Neighbours of one series' data, from which the worst is chosen.
pub type Candidates = Vec<System>;

/// A series, or a part of one, that is not audited, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NotAudited {
    /// The series.
    pub series: String,
    /// Whether something is protected there that an audit would be about; false where nothing is claimed.
    pub protected: bool,
    /// Why, in words.
    pub why: String,
}

/// Why a series is not audited.
#[derive(Debug, Error)]
pub enum LeftOut {
    /// Nothing is claimed for the release, or nothing is released.
    #[error("{0}")]
    Unprotected(&'static str),
    /// It is protected, and the auditor has no attack on it.
    #[error("{0}")]
    Beyond(&'static str),
    /// An attack cannot be made.
    #[error(transparent)]
    Failed(#[from] AuditError),
}

impl LeftOut {
    /// As a reader sees it.
    #[must_use]
    pub fn of(&self, series: &str) -> NotAudited {
        let protected = !matches!(self, Self::Unprotected(_));
        NotAudited { series: series.to_owned(), protected, why: self.to_string() }
    }
}

/// What of a scenario can be audited, and what cannot.
#[derive(Debug, Default)]
pub struct Systems {
    /// Each release of each series, on neighbours to choose the most telling of.
    pub audited: Vec<Candidates>,
    /// What is left out.
    pub not_audited: Vec<NotAudited>,
}
