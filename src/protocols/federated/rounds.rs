//! When a server closes a round, and what it does with answers that arrive too late.

use crate::privacy::mechanisms::Participation;
use crate::vocab::{Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// The behaviour of a policy: when a server closes a round. With every policy, the server closes a round early once all
/// agents that were asked have answered.
pub trait Policy {
    /// The longest time that a round stays open.
    fn patience(&self) -> Span;

    /// Whether a round can be closed now: `agents` agents were asked, `fresh` of them have answered this round, and
    /// `buffered` answers to any round have arrived since the last sum.
    fn is_enough(&self, fresh: u64, buffered: u64, agents: u64) -> bool;

    /// Whether answers to earlier rounds count like answers to the present round.
    fn buffers(&self) -> bool {
        false
    }

    /// The number k, if only the first k answers that arrive enter a sum; otherwise `None`. With such a k, the claim and the
    /// actual privacy loss may have different rates. The claim of Dai, Low and Jaillet 2021 is computed with the smaller of
    /// two rates: k / number of agents that were asked, and the sampling rate. The actual privacy loss is computed with the
    /// sampling rate, since agents that answer fast are in more sums.
    fn answers_in_sum(&self) -> Option<u64> {
        None
    }

    /// What is wrong with the policy as a whole, given the number of agents.
    fn problems(&self, agents: u64) -> Vec<Problem> {
        let _ = agents;
        Vec::new()
    }
}

/// A round ends when all agents that were asked have answered, or after `patience` at the latest, since some agents may
/// never answer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct All {
    /// Longest wait. Default: 60 s.
    #[serde(default = "minute")]
    pub patience: Span,
}

/// A round ends after a fixed time, or as soon as all agents that were asked have answered.
///
/// Example: `Deadline(after: "3s")`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deadline {
    /// How long the round stays open at most.
    pub after: Span,
}

/// A round ends when a share of the agents that were asked have answered, or after `patience`.
///
/// Example: `Quorum(share: 0.5)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quorum {
    /// Share of the agents that are asked in the round, above 0 and at most 1.
    pub share: Positive,
    /// Longest wait. Default: 60 s.
    #[serde(default = "minute")]
    pub patience: Span,
}

/// A round ends when k of the agents that were asked have answered, or after `patience`. Agents that answer fast are in
/// more sums than other agents. The privacy loss is therefore computed with the sampling rate of `participation`, although
/// at most k agents answer a round in time.
///
/// Example: `FirstK(k: 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FirstK {
    /// Number of answers.
    pub k: NonZeroU64,
    /// Longest wait. Default: 60 s.
    #[serde(default = "minute")]
    pub patience: Span,
}

/// A round ends when k answers have arrived since the last sum, whichever rounds they answer, or after `patience`. (This
/// is an asynchronous protocol with a buffer.)
///
/// Example: `Buffered(k: 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Buffered {
    /// Number of answers.
    pub k: NonZeroU64,
    /// Longest wait. Default: 60 s.
    #[serde(default = "minute")]
    pub patience: Span,
}

crate::family! {
    /// When a round ends. With every policy it ends early once all agents that were asked have answered.
    pub struct RoundPolicy(PolicyMember): dyn Policy, "policy" {
        All(All),
        Deadline(Deadline),
        Quorum(Quorum),
        FirstK(FirstK),
        Buffered(Buffered),
    }
}

fn minute() -> Span {
    Span::from_millis(60_000)
}

impl Default for RoundPolicy {
    fn default() -> Self {
        Self::from(All { patience: minute() })
    }
}

impl Policy for All {
    fn patience(&self) -> Span {
        self.patience
    }

    fn is_enough(&self, _: u64, _: u64, _: u64) -> bool {
        false
    }
}

impl Policy for Deadline {
    fn patience(&self) -> Span {
        self.after
    }

    fn is_enough(&self, _: u64, _: u64, _: u64) -> bool {
        false
    }
}

impl Policy for Quorum {
    fn patience(&self) -> Span {
        self.patience
    }

    fn is_enough(&self, fresh: u64, _: u64, agents: u64) -> bool {
        fresh as f64 >= self.share.get() * agents as f64
    }

    fn problems(&self, _: u64) -> Vec<Problem> {
        if self.share.get() <= 1.0 {
            return Vec::new();
        }
        let found = self.share.get().to_string();
        vec![Problem::wrong("share", "a share of at most 1", found, "write 0.8 for four agents in five")]
    }
}

impl Policy for FirstK {
    fn patience(&self) -> Span {
        self.patience
    }

    fn is_enough(&self, fresh: u64, _: u64, _: u64) -> bool {
        fresh >= self.k.get()
    }

    fn answers_in_sum(&self) -> Option<u64> {
        Some(self.k.get())
    }

    fn problems(&self, agents: u64) -> Vec<Problem> {
        too_many(self.k, agents)
    }
}

impl Policy for Buffered {
    fn patience(&self) -> Span {
        self.patience
    }

    fn is_enough(&self, _: u64, buffered: u64, _: u64) -> bool {
        buffered >= self.k.get()
    }

    fn buffers(&self) -> bool {
        true
    }

    fn problems(&self, agents: u64) -> Vec<Problem> {
        too_many(self.k, agents)
    }
}

/// What is wrong with a number of answers.
fn too_many(k: NonZeroU64, agents: u64) -> Vec<Problem> {
    if k.get() <= agents {
        return Vec::new();
    }
    let expected = format!("at most the number of agents, {agents}");
    vec![Problem::wrong("k", expected, k.to_string(), "lower k, or add agents")]
}

impl RoundPolicy {
    /// The longest time that a round stays open.
    pub(super) fn patience(&self) -> Span {
        self.as_dyn().patience()
    }

    /// Whether a round can be closed now.
    pub(super) fn is_enough(&self, fresh: u64, buffered: u64, agents: u64) -> bool {
        fresh >= agents || self.as_dyn().is_enough(fresh, buffered, agents)
    }

    /// The rate for the privacy loss that Dai, Low and Jaillet 2021 claim: the loss is computed as if agents were sampled at
    /// this rate. The rate is k / `agents` if the policy keeps the first k answers and each agent is sampled independently
    /// at a larger rate. Otherwise it is the sampling rate, and the result is `None`.
    #[must_use]
    pub fn claimed_rate(&self, participation: Participation, agents: usize) -> Option<f64> {
        let (Some(k), Participation::Poisson(rate)) = (self.as_dyn().answers_in_sum(), participation) else {
            return None;
        };
        Some(k as f64 / agents as f64).filter(|kept| *kept < rate.get())
    }

    /// What is wrong with the policy as a whole.
    pub(super) fn problems(&self, agents: u64) -> Vec<Problem> {
        if self.patience() == Span::ZERO {
            let field = if self.get::<Deadline>().is_some() { "after" } else { "patience" };
            let cure = "give the agents time to answer";
            return vec![Problem::wrong(field, "a duration above 0", "0 s", cure)];
        }
        self.as_dyn().problems(agents)
    }
}

/// What happens to an answer that arrives after the end of its round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Late {
    /// The answer is discarded.
    #[default]
    Discard,
    /// The answer is added to the next sum, in addition to the agent's answer to the current round: the agent counts
    /// twice.
    AddToNext,
    /// The answer replaces the agent's answer to the current round in the next sum. The agent is in that sum if it is
    /// sampled in the round of the late answer or in the current round: with probability 1 - (1 - q)^2, where q is the
    /// sampling rate.
    ReplaceNext,
    /// The server keeps each agent's last vector, whenever it arrived, and samples agents anew each round. An agent has
    /// at most one vector in a sum, so the privacy loss is the same as if no answer were late.
    KeepLast,
}
