//! The ledger of a party in any protocol: it checks the budget before a release, and records each entry as a
//! fact in the journal.

use super::facts::{Fact, RecordsFacts};
use super::record::BudgetReached;
use crate::kernel::Recorder;
use crate::privacy::ledger::{BudgetMeter, Budgeted, LedgerWriter, Refusal};
use crate::vocab::{Observer, PrivacyEvent};
use std::sync::Arc;

/// The ledger for one release: it checks the budget, and records each entry as a fact.
#[derive(Debug)]
pub struct JournalLedger<'a, P: RecordsFacts> {
    meter: &'a mut BudgetMeter,
    facts: FactWriter<'a, P>,
    exceeded_before: bool,
    relays: Arc<[Observer]>,
    /// Whether the release's own observer is trusted with the release, so that the budget is checked for relays only.
    trusting: bool,
    /// Whether the release can no longer be prevented, so that it is recorded even if the budget is exceeded.
    unpreventable: bool,
    over_budget: bool,
}

#[derive(Debug)]
struct FactWriter<'a, P: RecordsFacts>(&'a mut dyn Recorder<P>);

impl<P: RecordsFacts> LedgerWriter for FactWriter<'_, P> {
    fn enter(&mut self, event: PrivacyEvent) {
        self.0.record(Fact::Released(Box::new(event)));
    }
}

impl<'a, P: RecordsFacts> JournalLedger<'a, P> {
    /// The ledger of a party whose releases `meter` counts against the budget. Every release is also recorded for each
    /// relay that the meter lists, and the budget is checked for each of these relays.
    pub fn new(meter: &'a mut BudgetMeter, ctx: &'a mut dyn Recorder<P>) -> Self {
        let exceeded_before = meter.exceeded().is_some();
        let relays = Arc::clone(meter.reading_relays());
        let facts = FactWriter(ctx);
        Self {
            meter,
            facts,
            exceeded_before,
            relays,
            trusting: false,
            unpreventable: false,
            over_budget: false,
        }
    }

    /// The same ledger for a release that these relays can read, instead of the relays that the meter lists.
    #[must_use]
    pub fn read_by(self, relays: &Arc<[Observer]>) -> Self {
        Self { relays: Arc::clone(relays), ..self }
    }

    /// The same ledger for a release whose own observer is trusted with the release, so that no budget covers what that
    /// observer sees. Relays are not trusted: the budget is checked for each relay.
    #[must_use]
    pub fn for_trusted_observer(self) -> Self {
        Self { trusting: true, ..self }
    }

    /// The same ledger for a release of something that observers can already learn: the release is recorded even if it
    /// exceeds the budget. If this release is the first to exceed the budget, a fact then records that the budget is
    /// exceeded.
    #[must_use]
    pub fn unpreventable(self) -> Self {
        Self { unpreventable: true, ..self }
    }

    fn budgeted(&mut self) -> Budgeted<'_, &mut FactWriter<'a, P>> {
        Budgeted { meter: self.meter, ledger: &mut self.facts }
    }
}

impl<P: RecordsFacts> LedgerWriter for JournalLedger<'_, P> {
    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        let relays = Arc::clone(&self.relays);
        let own = if self.trusting { Ok(()) } else { self.budgeted().admit(event) };
        let admitted = own
            .and_then(|()| relays.iter().try_for_each(|relay| self.budgeted().admit(&seen_by(event, relay))));
        if self.unpreventable {
            self.over_budget = admitted.is_err();
            return Ok(());
        }
        admitted
    }

    fn enter(&mut self, event: PrivacyEvent) {
        let round = event.round;
        let relays = Arc::clone(&self.relays);
        let copies: Vec<PrivacyEvent> = relays.iter().map(|relay| seen_by(&event, relay)).collect();
        if self.trusting {
            self.facts.enter(event);
        } else {
            self.budgeted().enter(event);
        }
        copies.into_iter().for_each(|copy| self.budgeted().enter(copy));
        if let (false, Some(refusal)) = (self.exceeded_before, self.meter.exceeded()) {
            let why = if self.over_budget {
                "it could not be prevented"
            } else {
                "the run continues, as the scenario states"
            };
            let reason = format!("from round {round} on: {refusal}; {why}");
            let fail = self.over_budget && refusal.fail;
            self.facts.0.record(Fact::BudgetReached(BudgetReached { reason, fail }));
        }
    }
}

/// The same release, for another observer.
#[must_use]
pub fn seen_by(event: &PrivacyEvent, observer: &Observer) -> PrivacyEvent {
    PrivacyEvent { observer: observer.clone(), ..event.clone() }
}
