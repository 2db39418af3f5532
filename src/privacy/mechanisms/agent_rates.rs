//! Poisson sampling in which each agent has a rate of its own, for personalised privacy.

use super::ReceivedVectors;
use std::sync::Arc;

/// The rate of each agent, and the rate for which the cost is stated. An agent's rate is the probability with which its
/// vector enters a sum; agents are drawn independently of each other.
///
/// Two neighbours D and D' differ in an agent u with rate q_u. On D the sum is Y + C v + noise, where Y is the sum over
/// the other sampled agents, C is Bernoulli(q_u), and v is the clipped and weighted vector of agent u. On D', where v is
/// replaced by zero, the sum is Y + noise. Y is independent of C and has the same law on D and D'. Given Y, and with s the
/// standard deviation of the noise, the sum has the law (1 - q_u) N(Y, s^2) + q_u N(Y + v, s^2) on D and the law N(Y, s^2)
/// on D'. For every value of Y, these are the laws of a Gaussian mechanism with Poisson sampling at rate q_u. The
/// hockey-stick divergence is jointly convex. So the divergence of the sum's laws on D and D' is at most the mean, over Y,
/// of the divergence of the laws given Y. Agent u's loss is therefore at most that of a Poisson-subsampled Gaussian
/// mechanism with rate q_u, whatever the rates of the other agents.
///
/// Source: Jorgensen, Yu and Cormode 2015, "Conservative or liberal? Personalized differential privacy", section IV (the
/// sampling mechanism, for pure differential privacy).
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRates {
    by_agent: Arc<Vec<f64>>,
    priced: f64,
}

impl AgentRates {
    /// Rates by agent, from 0 to 1; the cost is that of the largest rate, which covers every agent.
    #[must_use]
    pub fn new(by_agent: Vec<f64>) -> Self {
        let priced = by_agent.iter().copied().fold(0.0, f64::max);
        Self { by_agent: Arc::new(by_agent), priced }
    }

    /// The same sampling, with the cost for agents of this rate.
    #[must_use]
    pub fn priced_at(&self, rate: f64) -> Self {
        Self { priced: rate, ..self.clone() }
    }

    /// The rate of an agent; 0 for an agent that is not listed, which never enters a sum.
    #[must_use]
    pub fn of(&self, agent: usize) -> f64 {
        self.by_agent.get(agent).copied().unwrap_or(0.0)
    }

    /// The rate of the agent whose vectors differ between two inputs; the rate of agent 0 if no vectors differ.
    pub(super) fn of_differing_agent(&self, inputs: [&ReceivedVectors; 2]) -> f64 {
        let mut pairs = inputs[0].vectors.iter().zip(&inputs[1].vectors);
        self.of(pairs.find(|(a, b)| a != b).map_or(0, |((agent, _), _)| *agent))
    }

    /// The rate for which the cost is stated.
    #[must_use]
    pub const fn priced(&self) -> f64 {
        self.priced
    }
}
