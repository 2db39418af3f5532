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
    /// Trials cannot be halved and quartered.
    #[error("expected at least {fewest} trials, found {found}")]
    TooFewTrials {
        /// Fewest that can be.
        fewest: u64,
        /// Those asked for.
        found: u64,
    },
    /// There is nothing to choose an event by.
    #[error("the experiment names no test and shows nothing to train one on")]
    NoTest,
    /// A score is NaN.
    #[error("a transcript holds a score that is not a number")]
    NotANumber,
    /// One run with many canaries needs a sum that it can hide them in.
    #[error("canaries need Poisson sampling and clipped vectors")]
    NoCanaries,
    /// What was asked for is not there.
    #[error("expected {expected}, found {found}")]
    Asked {
        /// What could have been asked for.
        expected: String,
        /// What was.
        found: String,
    },
    /// A neighbour that does not fit.
    #[error("--neighbour: expected {expected}, found \"{found}\"")]
    Neighbour {
        /// What would fit.
        expected: String,
        /// What was given.
        found: String,
    },
    /// The scenario, or what it prepares, does not permit it.
    #[error("{0}")]
    Scenario(String),
}

impl AuditError {
    /// What a floor below says is in the way.
    pub(super) fn scenario(why: impl std::fmt::Display) -> Self {
        Self::Scenario(why.to_string())
    }
}
