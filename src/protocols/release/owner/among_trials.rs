//! Releases of one trial out of all trials: the best of a random number of trials, or the first above a threshold.

use super::super::messages::ReleaseProtocol;
use super::super::publication::BestRelease;
use super::super::search_stop::SearchStop;
use super::super::searching::Searcher;
use super::super::training::WithTraining;
use super::Owner;
use crate::kernel::Context;
use crate::privacy::Sensitive;
use crate::privacy::ledger::{Occasion, enter};
use crate::protocols::stage::JournalLedger;
use std::sync::Arc;

impl Owner {
    /// Before the first trial, enters all comparisons with the threshold in the ledger, as a release to each relay. Relays
    /// learn from the comparisons even if they cannot read messages. If the owner sends a request to a worker after the
    /// first answer of a worker, the search goes on, so relays know that all outcomes so far were below the threshold. The
    /// length of the publication shows them whether a setting is published.
    pub(super) fn enter_comparisons(
        &mut self,
        ctx: &mut Context<'_, ReleaseProtocol>,
    ) -> Result<(), SearchStop> {
        let relays = Arc::clone(&self.config.relays.of_search);
        let Some((first, others)) = relays.split_first() else { return Ok(()) };
        let Some(best) = self.publication().plan(&self.config.task)?.best else { return Ok(()) };
        let occasion = Occasion { observer: first.clone(), ..self.occasion(ctx, best.released) };
        let others = others.into();
        let ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&others);
        let (trains, refused) = (self.config.trains, &mut self.refused_for_training);
        let mut ledger = WithTraining { ledger, trains, refused };
        let nothing = Sensitive::new(Vec::new());
        enter(&mut ledger, occasion, &*best.mechanism, &nothing).map_err(SearchStop::Refused)
    }

    /// Ends the search: no further trial begins, and the trials under way have no effect.
    pub(super) fn stop_search(&mut self, ctx: &mut Context<'_, ReleaseProtocol>) {
        self.total = self.next;
        self.under_trial.clear();
        for open in std::mem::take(&mut self.open_trials).into_values() {
            open.attempts.end(ctx);
        }
    }

    /// Publishes the setting that the mechanism selects among the trials, with its noisy outcome if that is published too.
    /// If the mechanism selects no setting, an empty publication is sent.
    pub(super) fn publish_best(
        &mut self,
        ctx: &mut Context<'_, ReleaseProtocol>,
        best: &BestRelease,
    ) -> Result<(), SearchStop> {
        let occasion = self.occasion(ctx, best.released);
        let relays = Arc::clone(&self.config.relays.of_publication);
        let relays = match &self.searcher {
            // The relays of the search are left out: their entries were made before the first trial (`enter_comparisons`).
            Searcher::UntilAbove(_) => {
                let known = &self.config.relays.of_search;
                relays.iter().filter(|relay| !known.contains(relay)).cloned().collect()
            }
            _ => relays,
        };
        let found = self.release(ctx, occasion, &*best.mechanism, self.trials.all(), &relays)?;
        let (setting, value) = match found.get() {
            None => (None, None),
            Some((_, value)) => (
                Some(found.clone().map(|best| best.map_or(0, |(setting, _)| setting as usize))),
                value.map(|_| found.map(|best| best.and_then(|(_, value)| value).into_iter().collect())),
            ),
        };
        self.send_publication(ctx, setting, value);
        Ok(())
    }
}
