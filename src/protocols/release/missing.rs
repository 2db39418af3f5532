//! Outcomes that the owner never learns: whether an outcome is missing may depend on its value or regret.

use crate::privacy::Sensitive;
use crate::privacy::ledger::{LedgerWriter, Occasion, ReleaseError, enter};
use crate::privacy::mechanisms::{Informative, Mechanism};
use crate::rng::Key;

/// How it is decided which outcomes are missing (the scenario's `silence`).
#[derive(Clone, Copy)]
pub(super) struct MissingOutcomes {
    pub(super) recipe: Informative,
    /// Node of the seed tree; its child k decides whether the outcome of trial k is missing.
    pub(super) draws: Key,
    /// The largest noise-free performance of any setting.
    pub(super) best: f64,
}

impl MissingOutcomes {
    /// Decides whether the owner never learns the outcome of a trial. The trial's number is the round of `occasion`. What is
    /// published depends on which outcomes are known, and the privacy loss of the publication's mechanism holds given the
    /// set of known outcomes. So if the decision depends on the outcome, the ledger has an entry for the decision, as if
    /// readers saw it, and the losses of the decision and of the publication add up.
    pub(super) fn is_missing(
        &self,
        ledger: &mut dyn LedgerWriter,
        occasion: Occasion,
        outcome: f64,
    ) -> Result<bool, ReleaseError> {
        let mut stream = self.draws.index(occasion.round).stream();
        if self.recipe.depends() {
            enter(ledger, occasion, &self.recipe, &Sensitive::new(outcome))?;
        }
        let drawn = self.recipe.privatise(&self.recipe.of(outcome, self.best), &mut stream);
        drawn.map_err(ReleaseError::Mechanism)
    }
}
