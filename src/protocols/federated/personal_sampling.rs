//! The setting for agents with an epsilon of their own.

use crate::privacy::PersonalEpsilons;
use crate::vocab::Delta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An epsilon for each agent, for all sums of a run together. Agent u, whose epsilon is epsilon_u, is sampled for a sum
/// with probability q_u. This is the largest probability, up to the rate q of `participation`, with which the agent's loss
/// of all sums together is at most epsilon_u at the stated delta, by the accountant `tight`. (For a single release of pure
/// differential privacy, this rule is the published sampling mechanism: q_u is the smaller of q and
/// (e^epsilon_u - 1) / (e^t - 1), where t is the epsilon of the release for an agent that is always sampled.)
///
/// Weights and noise stay as they are, so agents with a small epsilon count less in the expected sum, by the factor q_u / q.
/// The epsilons are taken as public, and with them the probabilities q_u.
/// Source: Jorgensen, Yu and Cormode 2015, "Conservative or liberal? Personalized differential privacy".
///
/// Example: `PersonalSampling(epsilons: Given([0.5, 2]), delta: 1e-5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PersonalSampling {
    /// The epsilon of each agent.
    pub epsilons: PersonalEpsilons,
    /// The delta at which the epsilons hold.
    pub delta: Delta,
}
