//! Why an audit cannot run.

use crate::privacy::mechanisms::MechanismError;
use crate::protocols::ReplicationError;
use std::error::Error;

/// Why an audit cannot run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A mechanism cannot release its output.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A replication that the audit needs cannot be run.
    #[error(transparent)]
    Play(#[from] ReplicationError),
    /// Trials are too few to be split into halves and quarters.
    #[error("expected at least {fewest} trials, found {found}")]
    TooFewTrials {
        /// Smallest number that can be split.
        fewest: u64,
        /// The requested number.
        found: u64,
    },
    /// The experiment has no test from which an event could be chosen.
    #[error("the experiment has neither a test nor features on which a test could be trained")]
    NoTest,
    /// A score is NaN.
    #[error("a transcript holds a score that is not a number")]
    NotANumber,
    /// The audited sum lacks Poisson sampling or a clipping norm, which the canaries of an audit in one run need.
    #[error("canaries need Poisson sampling and clipped vectors")]
    NoCanaries,
    /// Something that was requested does not exist, or cannot be read.
    #[error("expected {expected}, found {found}")]
    Asked {
        /// What can be requested.
        expected: String,
        /// What was requested.
        found: String,
    },
    /// A protocol named a release without neighbours on which to audit it.
    #[error("the protocol names no pair of neighbours for this release, so there is nothing to audit")]
    NoNeighbours,
    /// The neighbour that `--neighbour` states is not possible in the audited scenario.
    #[error("--neighbour: expected {expected}, found \"{found}\"")]
    Neighbour {
        /// What would fit.
        expected: String,
        /// What was given.
        found: String,
    },
    /// The scenario, or its data, does not permit the audit.
    #[error(transparent)]
    Scenario(Box<dyn Error + Send + Sync>),
}

impl AuditError {
    /// The error for a scenario that does not permit the audit, or whose data do not; `why` is the reason.
    pub(super) fn scenario(why: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Scenario(why.into())
    }
}
