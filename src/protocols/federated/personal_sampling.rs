//! The setting for agents with an epsilon of their own.

use crate::privacy::PersonalEpsilons;
use crate::vocab::Delta;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An epsilon for each agent, for all sums of a run together. Agent u's vector is in a sum with probability q_u. Here
/// q_u is the largest rate at which the loss of all sums, by the tight accountant, is at most epsilon_u at the stated
/// delta; it is never above q, the rate of `participation`. (For a single release of pure differential privacy this rule
/// is the sampling mechanism as published: q_u is the smaller of q and (e^epsilon_u - 1) / (e^t - 1), where t is the
/// epsilon of an agent that is always in the sum.)
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
