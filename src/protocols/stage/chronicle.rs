//! What a record keeps of the facts that every protocol with releases states.

use super::{BookedRelease, BudgetReached, SeriesRecord, book};
use crate::vocab::PrivacyEvent;

/// Releases, the budget, jitter and an early end, as they come.
#[derive(Debug, Default)]
pub(in crate::protocols) struct Chronicle {
    releases: Vec<BookedRelease>,
    budget: Option<BudgetReached>,
    jitter: f64,
    ended_early: Option<String>,
}

impl Chronicle {
    /// Something that depends on protected data was released.
    pub(in crate::protocols) fn released(&mut self, event: &PrivacyEvent) {
        book(&mut self.releases, event);
    }

    /// The privacy budget was reached; the first time counts.
    pub(in crate::protocols) fn budget_reached(&mut self, reached: &BudgetReached) {
        self.budget.get_or_insert_with(|| reached.clone());
    }

    /// A model needed jitter, as a variance; the largest counts.
    pub(in crate::protocols) fn jittered(&mut self, needed: f64) {
        self.jitter = self.jitter.max(needed);
    }

    /// The series ends here.
    pub(in crate::protocols) fn ended(&mut self, reason: &str) {
        self.ended_early = Some(reason.to_owned());
    }

    /// Writes everything into the record.
    pub(in crate::protocols) fn into_record(self, record: &mut SeriesRecord) {
        record.releases = self.releases;
        record.budget = self.budget;
        record.jitter = self.jitter;
        record.ended_early = self.ended_early;
    }
}
