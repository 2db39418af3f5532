//! The interface for storing ledger entries, and a ledger that is a plain list of entries.

use crate::vocab::PrivacyEvent;
use thiserror::Error;

/// Stores ledger entries. [`Ledger`] is a plain list. [`Budgeted`](super::Budgeted) wraps another writer and checks a
/// budget. `WithTraining` of the protocol `Release` wraps another writer, and lets that writer check the budget for training
/// records too. The ledgers of the protocols' parties record each entry in the journal.
pub trait LedgerWriter {
    /// Checks whether the release may happen; [`release`](super::release) calls this before it draws any noise. The
    /// default admits every release.
    ///
    /// # Errors
    /// [`Refusal`] says why the release must not happen.
    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        let _ = event;
        Ok(())
    }

    /// Stores the entry of a release. The release has just been drawn ([`release`](super::release)), or it is made
    /// elsewhere, possibly later (the functions `enter` and `enter_for`).
    fn enter(&mut self, event: PrivacyEvent);
}

/// Why a release is refused.
#[derive(Clone, Debug, PartialEq, Error)]
#[error(
    "the release would bring epsilon to {would_reach:.6} at delta {delta:e}, above the budget of {budget}"
)]
pub struct Refusal {
    /// Largest epsilon of a unit towards the observer with this release included, at the budget's delta.
    pub would_reach: f64,
    /// Epsilon of the budget.
    pub budget: f64,
    /// Delta of the budget.
    pub delta: f64,
    /// Whether the program is to end with an error ([`WhenSpent::Fail`](super::WhenSpent::Fail)).
    pub fail: bool,
}

/// Ledger entries, in the order in which they were stored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ledger {
    events: Vec<PrivacyEvent>,
}

impl Ledger {
    /// An empty ledger.
    #[must_use]
    pub const fn new() -> Self {
        Self { events: Vec::new() }
    }

    /// The entries so far, in the order in which they were stored.
    #[must_use]
    pub fn events(&self) -> &[PrivacyEvent] {
        &self.events
    }
}

impl<B: LedgerWriter + ?Sized> LedgerWriter for &mut B {
    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        (**self).admit(event)
    }

    fn enter(&mut self, event: PrivacyEvent) {
        (**self).enter(event);
    }
}

impl LedgerWriter for Ledger {
    fn enter(&mut self, event: PrivacyEvent) {
        self.events.push(event);
    }
}
