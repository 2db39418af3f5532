//! Why a replication cannot be finished.

use crate::kernel::{CannotCopy, KernelError};
use crate::programs::ProgramFailure;
use crate::vocab::{Problem, ProblemKind};
use std::error::Error;

/// A replication that cannot be finished.
#[derive(Debug, thiserror::Error)]
pub enum ReplicationError {
    /// The event loop cannot continue.
    #[error("series \"{series}\": {error}")]
    Kernel {
        /// In which series.
        series: String,
        /// Why.
        #[source]
        error: KernelError,
    },
    /// A problem of the scenario that `check` would have found.
    #[error("series \"{series}\": the scenario is not valid at {path}: {complaint}")]
    Scenario {
        /// In which series.
        series: String,
        /// Where in the scenario.
        path: String,
        /// What is wrong there.
        complaint: ProblemKind,
    },
    /// There is nothing to optimise.
    #[error("series \"{series}\": the scenario has no objective")]
    NoObjective {
        /// In which series.
        series: String,
    },
    /// A branch whose series never reached the fork.
    #[error("series \"{series}\": the series ended before the fork")]
    EndedBeforeFork {
        /// Which series.
        series: String,
    },
    /// The fork was to be made at the end of a round, but the series recorded no end of a round.
    #[error(
        "series \"{series}\" has no round after which it could be forked: its protocol does not state when a round ends \
         (`Rounds::closes`), or the series ended before its first round did; fork it at a time, as in --fork-at 5s"
    )]
    NoRounds {
        /// Which series.
        series: String,
    },
    /// A series that cannot be forked, because a party's state cannot be copied.
    #[error("series \"{series}\" cannot be forked: party \"{party}\": {reason}")]
    CannotFork {
        /// Which series.
        series: String,
        /// The party's name.
        party: String,
        /// Why its state cannot be copied.
        #[source]
        reason: CannotCopy,
    },
    /// A user's program gave no answer.
    #[error("series \"{series}\": {failure}")]
    Program {
        /// In which series.
        series: String,
        /// Why.
        #[source]
        failure: ProgramFailure,
    },
    /// Something that all series share, such as their common setup, cannot be created.
    #[error("no series can be played: {reason}")]
    InAll {
        /// The protocol's reason.
        #[source]
        reason: Box<dyn Error + Send + Sync>,
    },
    /// A party cannot be created, or cannot continue.
    #[error("series \"{series}\": {reason}")]
    Party {
        /// In which series.
        series: String,
        /// The protocol's reason.
        #[source]
        reason: Box<dyn Error + Send + Sync>,
    },
}

impl ReplicationError {
    /// A problem of the scenario that `check` would have found.
    #[must_use]
    pub fn scenario(series: &str, problem: &Problem) -> Self {
        let Problem { path, complaint } = problem.clone();
        Self::Scenario { series: series.to_owned(), path, complaint }
    }

    /// The error for something that all series share and that cannot be created.
    pub fn in_all(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::InAll { reason: reason.into() }
    }

    /// The error of a party that cannot be created or cannot continue.
    pub fn party(series: &str, reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Party { series: series.to_owned(), reason: reason.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_state_the_place_the_expected_and_the_found_value() {
        let problem = Problem::wrong("rounds", "at least one round", "0", "write 50");
        let text = ReplicationError::scenario("one", &problem).to_string();
        let words = "series \"one\": the scenario is not valid at rounds: expected at least one round, found 0: write 50";
        assert_eq!(text, words);
        let problem =
            Problem::unknown("server", "party", "sever", &["server".to_owned(), "agent".to_owned()]);
        let text = ReplicationError::scenario("one", &problem).to_string();
        assert!(
            text.ends_with("at server: expected a known party (server, agent), found \"sever\""),
            "{text}"
        );
    }
}
