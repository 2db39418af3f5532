//! What a party may ask for while it handles an input.

use super::{Protocol, Ticket};
use crate::vocab::{PartyId, Span, Time};

/// Names a timer, so that it can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerTicket(pub(super) u64);

#[derive(Debug)]
pub(super) enum Effect<P: Protocol> {
    Send { to: PartyId, message: P::Message },
    After { ticket: TimerTicket, at: Time, timer: P::Timer },
    Cancel(TimerTicket),
    Record(P::Fact),
    Stop,
}

/// The kernel's side of a handler: where it is in time, and what it asks for.
#[derive(Debug)]
pub struct Context<'a, P: Protocol> {
    pub(super) now: Time,
    pub(super) me: PartyId,
    pub(super) next_timer: &'a mut u64,
    pub(super) effects: &'a mut Vec<Effect<P>>,
}

/// Timers by ticket: dense, since tickets are numbered in order.
#[derive(Clone, Debug, Default)]
pub(super) struct TimerTable {
    /// Ticket numbers below this are gone.
    first: u64,
    pending: std::collections::VecDeque<Option<Ticket>>,
}

impl<P: Protocol> Context<'_, P> {
    /// Virtual time of this input.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The party that is handling the input.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// Sends a message. The medium decides if and when it arrives.
    pub fn send(&mut self, to: PartyId, message: P::Message) {
        self.effects.push(Effect::Send { to, message });
    }

    /// Sends the same message to many, in their order. What the message shares (an `Arc`) is not copied.
    pub fn broadcast(&mut self, to: impl IntoIterator<Item = PartyId>, message: &P::Message) {
        self.effects.extend(to.into_iter().map(|to| Effect::Send { to, message: message.clone() }));
    }

    /// Sets a timer that runs out after `delay`, whether or not the party is connected then.
    pub fn after(&mut self, delay: Span, timer: P::Timer) -> TimerTicket {
        let ticket = TimerTicket(*self.next_timer);
        *self.next_timer += 1;
        self.effects.push(Effect::After { ticket, at: self.now + delay, timer });
        ticket
    }

    /// Cancels a timer; one that has run out or was cancelled before is left alone.
    pub fn cancel(&mut self, ticket: TimerTicket) {
        self.effects.push(Effect::Cancel(ticket));
    }

    /// States a fact for the record: it reaches the journal, in order.
    pub fn record(&mut self, fact: P::Fact) {
        self.effects.push(Effect::Record(fact));
    }

    /// Ends the simulation once the effects of this handler have been applied.
    pub fn stop(&mut self) {
        self.effects.push(Effect::Stop);
    }
}

impl TimerTable {
    pub(super) fn insert(&mut self, timer: TimerTicket, ticket: Ticket) {
        let place = (timer.0 - self.first) as usize;
        while self.pending.len() <= place {
            self.pending.push_back(None);
        }
        self.pending[place] = Some(ticket);
    }

    pub(super) fn take(&mut self, timer: TimerTicket) -> Option<Ticket> {
        let place = usize::try_from(timer.0.checked_sub(self.first)?).ok()?;
        let taken = self.pending.get_mut(place)?.take();
        while let Some(None) = self.pending.front() {
            self.pending.pop_front();
            self.first += 1;
        }
        taken
    }
}
