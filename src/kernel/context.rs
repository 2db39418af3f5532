//! The effects that a party may request while it handles an input.

use super::{Protocol, Ticket};
use crate::vocab::{PartyId, Span, Time};

/// Identifies a timer, so that the timer can be cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerTicket(pub(super) u64);

/// The state of a party's own connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// The party sends and receives.
    Online,
    /// The party neither sends nor receives; a change of its connection is scheduled.
    Offline,
    /// The party neither sends nor receives, and no change of its connection is scheduled.
    Gone,
}

/// The effects that the kernel carries out for a party. Each effect takes place immediately, in the order of the calls,
/// except that `stop` ends the simulation only when the handler returns.
pub(super) trait Effects<P: Protocol> {
    fn send(&mut self, from: PartyId, to: PartyId, message: P::Message);
    fn after(&mut self, party: PartyId, at: Time, timer: P::Timer) -> TimerTicket;
    fn cancel(&mut self, ticket: TimerTicket);
    fn record(&mut self, party: PartyId, fact: &P::Fact);
    fn stop(&mut self);
    fn connection(&self, party: PartyId) -> Connection;
}

/// Methods that the contexts of handlers and of processes share: reading the time, recording facts, ending the simulation.
pub trait Recorder<P: Protocol>: std::fmt::Debug {
    /// The present virtual time.
    fn now(&self) -> Time;

    /// Records a fact in the journal.
    fn record(&mut self, fact: P::Fact);

    /// Ends the simulation when the handler returns or, in a process, when every task waits or has ended.
    fn stop(&mut self);
}

impl<P: Protocol> Recorder<P> for Context<'_, P> {
    fn now(&self) -> Time {
        self.now
    }

    fn record(&mut self, fact: P::Fact) {
        Context::record(self, fact);
    }

    fn stop(&mut self) {
        Context::stop(self);
    }
}

/// The context of a handler: the present virtual time, and methods by which the handler requests effects.
pub struct Context<'a, P: Protocol> {
    pub(super) now: Time,
    pub(super) me: PartyId,
    pub(super) effects: &'a mut dyn Effects<P>,
}

impl<P: Protocol> std::fmt::Debug for Context<'_, P> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("now", &self.now).field("me", &self.me).finish_non_exhaustive()
    }
}

/// For each pending timer, the ticket of its event in the event queue. Timers are numbered in the order in which they are
/// set, so the table is a list that is indexed by this number.
#[derive(Clone, Debug, Default)]
pub(super) struct TimerTable {
    /// Number of the first timer in `pending`; all timers before it have run out or were cancelled.
    first: u64,
    pending: std::collections::VecDeque<Option<Ticket>>,
}

impl<P: Protocol> Context<'_, P> {
    /// The virtual time at which this input is handled.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The party that is handling the input.
    #[must_use]
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The connection of the party that is handling the input. A party that begins offline receives no
    /// [`Input::WentOffline`](super::Input::WentOffline), so only this method tells the party that it is offline.
    #[must_use]
    pub fn connection(&self) -> Connection {
        self.effects.connection(self.me)
    }

    /// Sends a message. The medium decides if and when it arrives.
    pub fn send(&mut self, to: PartyId, message: P::Message) {
        self.effects.send(self.me, to, message);
    }

    /// Sends a copy of a message to each of the parties, in their order. Data that the message shares (an `Arc`) is not
    /// copied.
    pub fn broadcast(&mut self, to: impl IntoIterator<Item = PartyId>, message: &P::Message) {
        for to in to {
            self.effects.send(self.me, to, message.clone());
        }
    }

    /// Sets a timer that runs out after `delay`, whether or not the party is connected then. There are two exceptions. If
    /// the party is crashed then and keeps its memory, the timer is held until the party has recovered. A crash in which the
    /// party loses its memory drops the timer.
    pub fn after(&mut self, delay: Span, timer: P::Timer) -> TimerTicket {
        self.effects.after(self.me, self.now + delay, timer)
    }

    /// Cancels a timer. This has no effect on a timer that has run out or was cancelled before.
    pub fn cancel(&mut self, ticket: TimerTicket) {
        self.effects.cancel(ticket);
    }

    /// Records a fact in the journal.
    #[allow(clippy::needless_pass_by_value, reason = "a party does not use a fact again")]
    pub fn record(&mut self, fact: P::Fact) {
        self.effects.record(self.me, &fact);
    }

    /// Ends the simulation when this handler returns.
    pub fn stop(&mut self) {
        self.effects.stop();
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
