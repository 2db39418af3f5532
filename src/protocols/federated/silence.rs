//! Agents that do not answer because of what they measured, and agents that leave for good.

use crate::privacy::mechanisms::{Informative, Mechanism, SilenceBy};
use crate::rng::Key;

/// Whether one agent answers, round by round.
#[derive(Clone, Debug)]
pub(super) struct AgentSilence {
    recipe: Informative,
    /// Whether the agent leaves for good when it is silent for the first time.
    leaves: bool,
    left: bool,
    /// The largest difference of all measurements so far. The difference of a measurement is its noise-free value minus
    /// the largest value of the objective in the same round. So this is the smallest instantaneous regret, with a minus
    /// sign.
    found: f64,
    /// The last outcome, noise included.
    last: f64,
}

impl AgentSilence {
    /// The state before the first measurement of an agent.
    pub(super) fn new(recipe: Informative, leaves: bool) -> Self {
        Self { recipe, leaves, left: false, found: f64::NEG_INFINITY, last: f64::NAN }
    }

    /// Adds a measurement: its noise-free value minus the largest value in that round, and its outcome.
    pub(super) fn measured(&mut self, gap: f64, outcome: f64) {
        self.found = self.found.max(gap);
        self.last = outcome;
    }

    /// Whether the agent has left.
    pub(super) fn has_left(&self) -> bool {
        self.left
    }

    /// Decides whether the answer to a round is missing; `agent` is the agent's node of the seed tree. Where nothing was
    /// measured, as in a dry run, the probability is the base rate.
    pub(super) fn is_silent(&mut self, round: u64, agent: &Key) -> bool {
        let value = match self.recipe.by {
            SilenceBy::Value => self.last,
            SilenceBy::Regret if self.found.is_finite() => self.found,
            SilenceBy::Regret => f64::NAN,
        };
        let mut stream = agent.child("silence").index(round).stream();
        // This draw cannot fail; if it did, the agent would be taken to answer.
        let silent = self.recipe.privatise(&self.recipe.of(value, 0.0), &mut stream).unwrap_or(false);
        self.left |= silent && self.leaves;
        silent
    }
}
