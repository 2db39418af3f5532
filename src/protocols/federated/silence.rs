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
    /// the largest value of the agent's objective in the same round. So `found` is the smallest instantaneous regret of the
    /// measurements so far, with a minus sign.
    found: f64,
    /// The last outcome, noise included.
    last: f64,
}

impl AgentSilence {
    /// The state before the first measurement of an agent.
    pub(super) fn new(recipe: Informative, leaves: bool) -> Self {
        Self { recipe, leaves, left: false, found: f64::NEG_INFINITY, last: f64::NAN }
    }

    /// Adds a measurement: `gap` is its noise-free value minus the largest value of the agent's objective in that round, and
    /// `outcome` is its outcome.
    pub(super) fn measured(&mut self, gap: f64, outcome: f64) {
        self.found = self.found.max(gap);
        self.last = outcome;
    }

    /// Whether the agent has left.
    pub(super) fn has_left(&self) -> bool {
        self.left
    }

    /// Decides whether the agent's answer to a round is missing; `agent` is the agent's node of the seed tree. If the answer
    /// is missing and `leaves` is true, the agent has left from then on. If nothing was measured, as in a dry run, the
    /// answer is missing with the probability `base_rate`.
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
