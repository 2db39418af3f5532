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
    statements: FactWriter<'a, P>,
    exceeded_before: bool,
    carriers: Arc<[Observer]>,
    /// Whether the release's own observer is trusted with it, so that the budget is checked for relays only.
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
    /// relay that the meter lists, and the budget is checked for each of them.
    pub fn new(meter: &'a mut BudgetMeter, ctx: &'a mut dyn Recorder<P>) -> Self {
        let exceeded_before = meter.exceeded().is_some();
        let carriers = Arc::clone(meter.reading_relays());
        let statements = FactWriter(ctx);
        Self {
            meter,
            statements,
            exceeded_before,
            carriers,
            trusting: false,
            unpreventable: false,
            over_budget: false,
        }
    }

    /// The same ledger for a release that these relays can read, instead of those that the meter lists.
    #[must_use]
    pub fn read_by(self, carriers: &Arc<[Observer]>) -> Self {
        Self { carriers: Arc::clone(carriers), ..self }
    }

    /// The same ledger for a release whose own observer is trusted with it, so that no budget covers what that observer
    /// sees. Relays are not trusted: the budget is checked for each of them.
    #[must_use]
    pub fn for_trusted_observer(self) -> Self {
        Self { trusting: true, ..self }
    }

    /// The same ledger for something that observers can already learn: the release is recorded even if the budget is
    /// exceeded, and a fact records that it is exceeded.
    #[must_use]
    pub fn unpreventable(self) -> Self {
        Self { unpreventable: true, ..self }
    }

    fn budgeted(&mut self) -> Budgeted<'_, &mut FactWriter<'a, P>> {
        Budgeted { meter: self.meter, ledger: &mut self.statements }
    }
}

impl<P: RecordsFacts> LedgerWriter for JournalLedger<'_, P> {
    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        let carriers = Arc::clone(&self.carriers);
        let own = if self.trusting { Ok(()) } else { self.budgeted().admit(event) };
        let asked = own.and_then(|()| {
            carriers.iter().try_for_each(|carrier| self.budgeted().admit(&seen_by(event, carrier)))
        });
        if self.unpreventable {
            self.over_budget = asked.is_err();
            return Ok(());
        }
        asked
    }

    fn enter(&mut self, event: PrivacyEvent) {
        let round = event.round;
        let carriers = Arc::clone(&self.carriers);
        let copies: Vec<PrivacyEvent> = carriers.iter().map(|carrier| seen_by(&event, carrier)).collect();
        if self.trusting {
            self.statements.enter(event);
        } else {
            self.budgeted().enter(event);
        }
        copies.into_iter().for_each(|copy| self.budgeted().enter(copy));
        if let (false, Some(refusal)) = (self.exceeded_before, self.meter.exceeded()) {
            let why =
                if self.over_budget { "it could not be held back" } else { "going on, as the scenario says" };
            let reason = format!("from round {round} on: {refusal}; {why}");
            let fail = self.over_budget && refusal.fail;
            self.statements.0.record(Fact::BudgetReached(BudgetReached { reason, fail }));
        }
    }
}

/// The same release, for another observer.
#[must_use]
pub fn seen_by(event: &PrivacyEvent, observer: &Observer) -> PrivacyEvent {
    PrivacyEvent { observer: observer.clone(), ..event.clone() }
}
