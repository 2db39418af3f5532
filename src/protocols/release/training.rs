//! Training records: publications depend on them too, and no mechanism protects them.

use crate::accounting::CountedRelease;
use crate::privacy::ledger::{LedgerWriter, Refusal};
use crate::vocab::{Arithmetic, Basis, Cost, PrivacyEvent, ProtectedUnit, Sampler};

/// The ledger entry about a training record, for a release that depends on trained models. The noise of the release is
/// scaled to the effect of one validation record, and no theorem here covers training records, so the entry is unprotected.
fn of_a_training_record(event: &PrivacyEvent) -> PrivacyEvent {
    PrivacyEvent {
        mechanism: "a mechanism for validation records alone".to_owned(),
        unit: ProtectedUnit::TrainingRecord,
        sampler: Sampler::Full,
        sensitivity: None,
        cost: Cost::Unprotected,
        claim: None,
        basis: Basis::Unprotected,
        arithmetic: Arithmetic::Noiseless,
        ..event.clone()
    }
}

/// The entry about training records that follows from this ledger entry, with the same count.
pub(super) fn entry_of_training(entry: &CountedRelease) -> CountedRelease {
    CountedRelease { event: of_a_training_record(&entry.event), ..entry.clone() }
}

/// A ledger that checks the budget for training records too, if models are trained. The ledger records only the entry about
/// validation records. The entry about training records follows from that entry, and is added to the series' record when
/// the series has ended.
#[derive(Debug)]
pub(super) struct WithTraining<'a, B> {
    pub(super) ledger: B,
    /// Whether models are trained.
    pub(super) trains: bool,
    /// Set if the budget refuses a release because of training records.
    pub(super) refused: &'a mut bool,
}

impl<B: LedgerWriter> LedgerWriter for WithTraining<'_, B> {
    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        self.ledger.admit(event)?;
        if !self.trains {
            return Ok(());
        }
        let asked = self.ledger.admit(&of_a_training_record(event));
        *self.refused |= asked.is_err();
        asked
    }

    fn enter(&mut self, event: PrivacyEvent) {
        self.ledger.enter(event);
    }
}
