//! From releases to the journal: the book that the parties of every protocol release through, budget included.

use super::BudgetReached;
use crate::kernel::{Context, Digest, Protocol};
use crate::privacy::ledger::{Book, Budgeted, Meter, Refusal, ReleaseError};
use crate::vocab::{Observer, PrivacyEvent};
use std::sync::Arc;

/// A protocol whose parties release something: how it states what every such protocol states.
pub trait Bookkeeping: Protocol {
    /// Something that depends on protected data was released.
    fn released(event: PrivacyEvent) -> Self::Fact;

    /// The privacy budget was reached.
    fn budget_reached(reached: BudgetReached) -> Self::Fact;

    /// A model needed more jitter than before, as a variance.
    fn jittered(variance: f64) -> Self::Fact;

    /// A party cannot go on.
    fn ended(reason: String) -> Self::Fact;
}

/// The book of one release: asks the budget, and keeps the event in the journal.
#[derive(Debug)]
pub struct Books<'a, 'b, P: Bookkeeping> {
    meter: &'a mut Meter,
    journal: Journal<'a, 'b, P>,
    exceeded_before: bool,
    carriers: Arc<[Observer]>,
    /// The release's own observer is trusted with it: the budget is asked for carriers alone.
    trusting: bool,
    /// It cannot be held back any more.
    inevitable: bool,
    overruled: bool,
}

#[derive(Debug)]
struct Journal<'a, 'b, P: Bookkeeping>(&'a mut Context<'b, P>);

impl<P: Bookkeeping> Book for Journal<'_, '_, P> {
    fn enter(&mut self, event: PrivacyEvent) {
        self.0.record(P::released(event));
    }
}

impl<'a, 'b, P: Bookkeeping> Books<'a, 'b, P> {
    /// The book of a party with this meter. Every release is entered for the meter's carriers too, and the budget is asked
    /// for each of them.
    pub fn new(meter: &'a mut Meter, ctx: &'a mut Context<'b, P>) -> Self {
        let exceeded_before = meter.exceeded().is_some();
        let carriers = Arc::clone(meter.carriers());
        let journal = Journal(ctx);
        Self {
            meter,
            journal,
            exceeded_before,
            carriers,
            trusting: false,
            inevitable: false,
            overruled: false,
        }
    }

    /// The same book for a release that other parties than the meter's read on its way.
    #[must_use]
    pub fn read_by(self, carriers: &Arc<[Observer]>) -> Self {
        Self { carriers: Arc::clone(carriers), ..self }
    }

    /// The same book for a release whose own observer is trusted with it, so that no budget covers what that one sees.
    /// Carriers are not trusted: the budget is asked for each of them.
    #[must_use]
    pub fn trusting(self) -> Self {
        Self { trusting: true, ..self }
    }

    /// The same book for what can be learned already, whatever the budget says: it is booked in any case, and an excess
    /// is stated.
    #[must_use]
    pub fn inevitable(self) -> Self {
        Self { inevitable: true, ..self }
    }

    fn budgeted(&mut self) -> Budgeted<'_, &mut Journal<'a, 'b, P>> {
        Budgeted { meter: self.meter, book: &mut self.journal }
    }
}

impl<P: Bookkeeping> Book for Books<'_, '_, P> {
    fn admit(&mut self, event: &PrivacyEvent) -> Result<(), Refusal> {
        let carriers = Arc::clone(&self.carriers);
        let own = if self.trusting { Ok(()) } else { self.budgeted().admit(event) };
        let asked = own.and_then(|()| {
            carriers.iter().try_for_each(|carrier| self.budgeted().admit(&seen_by(event, carrier)))
        });
        if self.inevitable {
            self.overruled = asked.is_err();
            return Ok(());
        }
        asked
    }

    fn enter(&mut self, event: PrivacyEvent) {
        let round = event.round;
        let carriers = Arc::clone(&self.carriers);
        let copies: Vec<PrivacyEvent> = carriers.iter().map(|carrier| seen_by(&event, carrier)).collect();
        if self.trusting {
            self.journal.enter(event);
        } else {
            self.budgeted().enter(event);
        }
        copies.into_iter().for_each(|copy| self.budgeted().enter(copy));
        if let (false, Some(refusal)) = (self.exceeded_before, self.meter.exceeded()) {
            let why =
                if self.overruled { "it could not be held back" } else { "going on, as the scenario says" };
            let reason = format!("from round {round} on: {refusal}; {why}");
            let fail = self.overruled && refusal.fail;
            self.journal.0.record(P::budget_reached(BudgetReached { reason, fail }));
        }
    }
}

/// The same release, in the sight of another observer.
#[must_use]
pub fn seen_by(event: &PrivacyEvent, observer: &Observer) -> PrivacyEvent {
    PrivacyEvent { observer: observer.clone(), ..event.clone() }
}

/// What of a release enters a journal's digest.
pub(in crate::protocols) fn digest_release(event: &PrivacyEvent, digest: &mut Digest) {
    digest.text(&event.released);
    digest.text(&event.mechanism);
    digest.word(event.round);
}

/// Ends the series because a party cannot go on.
pub fn end<P: Bookkeeping>(ctx: &mut Context<'_, P>, reason: String) {
    ctx.record(P::ended(reason));
    ctx.stop();
}

/// Ends the series because a release did not happen; `what` says what that leaves undone.
pub fn give_up<P: Bookkeeping>(ctx: &mut Context<'_, P>, what: &str, error: &ReleaseError) {
    let reason = format!("{what}: {error}");
    ctx.record(match error {
        ReleaseError::Refused(refusal) => P::budget_reached(BudgetReached { reason, fail: refusal.fail }),
        ReleaseError::Mechanism(_) => P::ended(reason),
    });
    ctx.stop();
}
