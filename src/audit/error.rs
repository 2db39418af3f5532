//! Why an audit cannot run.

use crate::privacy::mechanisms::MechanismError;
use crate::protocols::PlayError;
use thiserror::Error;

/// Why an audit cannot run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AuditError {
    /// A mechanism does not release.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
    /// A replication that the audit needs cannot be played.
    #[error(transparent)]
    Play(#[from] PlayError),
    /// Trials are too few to be split into halves and quarters.
    #[error("expected at least {fewest} trials, found {found}")]
    TooFewTrials {
        /// Smallest number that can be split.
        fewest: u64,
        /// The number asked for.
        found: u64,
    },
    /// There is no test from which an event could be chosen.
    #[error("the experiment has no known test and no numbers from which one can be trained")]
    NoTest,
    /// A score is NaN.
    #[error("a transcript holds a score that is not a number")]
    NotANumber,
    /// Audits in one run need a sum in which many canaries can be hidden.
    #[error("canaries need Poisson sampling and clipped vectors")]
    NoCanaries,
    /// The requested name does not exist.
    #[error("expected {expected}, found {found}")]
    Asked {
        /// What could have been asked for.
        expected: String,
        /// The requested name.
        found: String,
    },
    /// A requested neighbour that does not fit.
    #[error("--neighbour: expected {expected}, found \"{found}\"")]
    Neighbour {
        /// What would fit.
        expected: String,
        /// What was given.
        found: String,
    },
    /// The scenario, or its data, does not permit the audit.
    #[error("{0}")]
    Scenario(String),
}

impl AuditError {
    /// An error of the scenario's preparation.
    pub(super) fn scenario(why: impl std::fmt::Display) -> Self {
        Self::Scenario(why.to_string())
    }
}
