//! Whether a server is trusted with agents' vectors, and the settings of masks if it is not.

use super::mask_graph::{failure_of_graph, threshold};
use crate::vocab::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the server sees agents' vectors. If it does not, agents exchange keys for masks at the start.
///
/// Source: Bonawitz et al. 2017, "Practical secure aggregation for privacy-preserving machine learning".
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum ServerTrust {
    /// The server sees each agent's vector as it is, samples the agents and adds the noise.
    #[default]
    Trusted,
    /// The server sees sums only, and which agents answer. Each agent decides at random whether it takes part, and adds
    /// a share of the noise. The agent masks what it sends with numbers of its own, and with numbers on which it has agreed
    /// with every other agent (or with `neighbours` other agents). If no agent colludes with the server, the server can
    /// compute the sum of a round only if a majority of the agents answers the round and then sends its shares of the
    /// secrets behind the masks. With `neighbours`, it must be a majority of the neighbours of each agent whose masks are in
    /// the sum. The server may also compute a sum if colluding agents hold the missing shares. Agents, however, get a sum
    /// only if the required majority itself sends shares. The server is assumed to follow the protocol, in particular to
    /// send the same lists to all agents, but to learn whatever it can from what it receives.
    ///
    /// Example: `Masked(planned_dropout: 0.1)`.
    Masked {
        /// Share of agents that may drop out before the noise in the sum is smaller than planned.
        planned_dropout: Probability,
        /// Largest number of agents that collude (share what they know), with the server or with each other. Each of these
        /// agents knows its own share of the noise, so privacy losses are computed without these shares. With full masks,
        /// colluding agents must be fewer than a majority of all agents. With `neighbours`, the random graph must provably
        /// protect the agents' vectors with a probability of at least 0.9. Default: 0, nobody colludes.
        #[serde(default, skip_serializing_if = "is_zero")]
        colluding: u32,
        /// k, the number of agents with which each agent shares masks and secrets (SecAgg+): an even number. These k agents
        /// are the agent's neighbours on a random ring. Shares from k / 2 + 1 of an agent's neighbours recover a secret of
        /// the agent. A round is given up if, for some agent whose masks are in the sum, fewer neighbours send shares.
        /// Default: all agents (full masks).
        /// Source: Bell, Bonawitz, Gascon, Lepoint and Raykova 2020, "Secure single-server aggregation with
        /// (poly)logarithmic overhead".
        #[serde(default, skip_serializing_if = "Option::is_none")]
        neighbours: Option<u32>,
    },
}

fn is_zero(value: &u32) -> bool {
    *value == 0
}

impl ServerTrust {
    /// Whether the server sees sums only.
    #[must_use]
    pub fn is_masked(self) -> bool {
        matches!(self, Self::Masked { .. })
    }

    /// The number of agents with which each agent shares masks; `None` for all.
    #[must_use]
    pub fn neighbours(self) -> Option<usize> {
        match self {
            Self::Trusted => None,
            Self::Masked { neighbours, .. } => neighbours.map(|k| k as usize),
        }
    }

    /// An upper bound on the probability that a random graph in which each of `agents` agents has few neighbours does not
    /// protect single vectors in a round with `absent` absent agents; `None` with full masks or a trusted server.
    pub(super) fn failure(self, agents: usize, absent: usize) -> Option<f64> {
        let Self::Masked { colluding, .. } = self else { return None };
        let gone = self.gone(agents, absent)?;
        self.neighbours().map(|k| failure_of_graph(agents, k, colluding as usize, gone))
    }

    /// The number of absent agents that the bound of `failure` assumes. This is the planned number; if more agents are
    /// absent, it is the number of absent agents, rounded up to a multiple of a twentieth of all agents (itself rounded up).
    fn gone(self, agents: usize, absent: usize) -> Option<usize> {
        let Self::Masked { planned_dropout, .. } = self else { return None };
        let planned = (planned_dropout.get() * agents as f64).ceil() as usize;
        let step = agents.div_ceil(20).max(1);
        Some(if absent <= planned { planned } else { (absent.div_ceil(step) * step).min(agents) })
    }

    /// The condition that the random graph of masks protects single vectors, in words that follow "on"; `None` with full
    /// masks or a trusted server.
    pub(super) fn graph_condition(self, agents: usize, absent: usize) -> Option<String> {
        let (k, failure) = (self.neighbours()?, self.failure(agents, absent)?);
        let gone = self.gone(agents, absent)?;
        let fails = match failure > 0.0 {
            true => format!("fails in a round with probability at most {failure:.1e}"),
            false => "cannot fail".to_owned(),
        };
        Some(format!(
            "a random graph of masks with {k} neighbours each in which no agent has {} colluding neighbours and the agents \
             that answer without colluding are connected, which {fails} if colluding and absent agents do not depend on the \
             graph and at most {gone} are absent",
            threshold(k)
        ))
    }

    /// The largest number of colluding agents.
    #[must_use]
    pub fn colluding(self) -> usize {
        match self {
            Self::Trusted => 0,
            Self::Masked { colluding, .. } => colluding as usize,
        }
    }
}
