//! When a server closes a round, and what it does with answers that come too late.

use crate::vocab::{Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// When a round ends. With every policy it ends early once all agents have answered.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum RoundPolicy {
    /// When all agents have answered, or after `patience` at the latest, since some never will.
    All {
        /// Longest wait. Default: 60 s.
        #[serde(default = "minute")]
        patience: Span,
    },
    /// After a fixed time.
    Deadline {
        /// How long the round stays open.
        after: Span,
    },
    /// When a share of the agents have answered, or after `patience`.
    Quorum {
        /// Share of all agents, above 0.
        share: Positive,
        /// Longest wait. Default: 60 s.
        #[serde(default = "minute")]
        patience: Span,
    },
    /// When this many have answered, or after `patience`. Agents that answer fast are in the sum more often, so the
    /// loss is computed with the sampling rate before this selection, not with the share of agents in the sum.
    FirstK {
        /// Number of answers.
        k: NonZeroU64,
        /// Longest wait. Default: 60 s.
        #[serde(default = "minute")]
        patience: Span,
    },
    /// When this many answers have arrived since the last sum, from any rounds (asynchronous, buffered), or after
    /// `patience`.
    Buffered {
        /// Number of answers.
        k: NonZeroU64,
        /// Longest wait. Default: 60 s.
        #[serde(default = "minute")]
        patience: Span,
    },
}

fn minute() -> Span {
    Span::from_millis(60_000)
}

impl Default for RoundPolicy {
    fn default() -> Self {
        Self::All { patience: minute() }
    }
}

impl RoundPolicy {
    /// The longest that a round stays open.
    pub(super) fn patience(&self) -> Span {
        match *self {
            Self::All { patience }
            | Self::Quorum { patience, .. }
            | Self::FirstK { patience, .. }
            | Self::Buffered { patience, .. } => patience,
            Self::Deadline { after } => after,
        }
    }

    /// Whether a round can be closed now.
    pub(super) fn is_enough(&self, fresh: u64, buffered: u64, agents: u64) -> bool {
        fresh >= agents
            || match *self {
                Self::All { .. } | Self::Deadline { .. } => false,
                Self::Quorum { share, .. } => fresh as f64 >= share.get() * agents as f64,
                Self::FirstK { k, .. } => fresh >= k.get(),
                Self::Buffered { k, .. } => buffered >= k.get(),
            }
    }

    /// What is wrong with it as a whole.
    pub(super) fn problems(&self, agents: u64) -> Option<Problem> {
        if self.patience() == Span::ZERO {
            let cure = "give the agents time to answer";
            return Some(Problem::wrong("patience", "a duration above 0", "0 s", cure));
        }
        match *self {
            Self::Quorum { share, .. } if share.get() > 1.0 => Some(Problem::wrong(
                "share",
                "a share of at most 1",
                share.get().to_string(),
                "write 0.8 for four agents in five",
            )),
            Self::FirstK { k, .. } | Self::Buffered { k, .. } if k.get() > agents => Some(Problem::wrong(
                "k",
                format!("at most the number of agents, {agents}"),
                k.to_string(),
                "lower k, or add agents",
            )),
            _ => None,
        }
    }
}

/// What happens to an answer that arrives after the end of its round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Late {
    /// It is thrown away.
    #[default]
    Discard,
    /// It is added to the next sum, in addition to the agent's current one: the agent counts twice.
    AddToNext,
    /// It replaces the agent's current answer in the next sum. The agent is in that sum if it is sampled in the round
    /// of the late answer or in the current one: with probability 1 - (1 - q)^2.
    ReplaceNext,
    /// The server keeps each agent's last vector, whenever it came, and samples agents anew each round: one
    /// vector per agent and round. This keeps the planned loss.
    KeepLast,
}
