//! The state of a simulation, except for its parties: pending events, connections, the medium and virtual time; and the
//! methods that change this state.

use super::context::{Connection, Effects, TimerTable};
use super::{
    Delivery, Event, EventQueue, Journal, LossCause, Medium, Memory, MessageHeader, Payload, Protocol,
    Switch, Ticket, TimerTicket,
};
use crate::vocab::{PartyId, Time};

#[derive(Clone, Debug)]
pub(super) enum Pending<P: Protocol> {
    Deliver {
        from: PartyId,
        to: PartyId,
        message: P::Message,
        sent_at: Time,
    },
    /// A message in transit reaches the party `via`, where the medium decides how the message continues.
    Relay {
        from: PartyId,
        to: PartyId,
        via: PartyId,
        /// The `leg` of [`Delivery::Passes`] or [`Delivery::Doubled`]; the medium chose it, and gets it back when
        /// this event is handled.
        leg: u8,
        message: P::Message,
        sent_at: Time,
    },
    /// A message was delivered earlier, and its compute time ends: the addressee handles the message.
    Handle {
        from: PartyId,
        to: PartyId,
        message: P::Message,
        sent_at: Time,
        incarnation: u32,
    },
    Timer {
        party: PartyId,
        ticket: TimerTicket,
        timer: P::Timer,
        incarnation: u32,
    },
    Switch {
        party: PartyId,
        online: bool,
        crashed: Option<Memory>,
    },
}

/// The kernel's state of one party.
#[derive(Clone, Debug)]
pub(super) struct PartyState<P: Protocol> {
    /// The ticket of the party's next change of connection, which is pending in the event queue; `None` if there is none.
    pub(super) switch: Option<Ticket>,
    pub(super) crashed: Option<Memory>,
    /// Incremented by each crash that loses memory. Timers and compute times that began under an earlier number are dropped.
    pub(super) incarnation: u32,
    /// Timers and compute times that ended during a crash that keeps memory, in order.
    pub(super) held: Vec<Pending<P>>,
}

/// The state of a simulation except its parties.
#[derive(Clone, Debug)]
pub(super) struct Core<P: Protocol, M: Medium> {
    pub(super) states: Vec<PartyState<P>>,
    /// Whether each party is connected. This is not stored in `states`, because it is read twice for every message.
    pub(super) online: Vec<bool>,
    pub(super) medium: M,
    pub(super) queue: EventQueue<Pending<P>>,
    pub(super) timers: TimerTable,
    pub(super) next_timer: u64,
    pub(super) journal: Journal,
    pub(super) now: Time,
    /// Whether a party has asked to end the simulation.
    pub(super) stop: bool,
    /// Number of pending and held events other than changes of connection, plus the number of parties that are crashed
    /// with their memory lost; when it is 0, the simulation ends.
    pub(super) work: u64,
}

/// The state of a simulation together with the callback that observes the simulation. Carries out the effects of a handler.
pub(super) struct WatchedCore<'a, P: Protocol, M: Medium, W: ?Sized> {
    pub(super) core: &'a mut Core<P, M>,
    pub(super) watch: &'a mut W,
}

impl<P: Protocol, M: Medium, W: FnMut(Time, &Event<'_, P>) + ?Sized> Effects<P> for WatchedCore<'_, P, M, W> {
    fn send(&mut self, from: PartyId, to: PartyId, message: P::Message) {
        self.core.send(from, to, message, self.watch);
    }

    fn after(&mut self, party: PartyId, at: Time, timer: P::Timer) -> TimerTicket {
        let core = &mut *self.core;
        let ticket = TimerTicket(core.next_timer);
        core.next_timer += 1;
        let incarnation = core.states[party.index()].incarnation;
        let place = core.queue.push(at, Pending::Timer { party, ticket, timer, incarnation });
        core.timers.insert(ticket, place);
        core.work += 1;
        ticket
    }

    fn cancel(&mut self, ticket: TimerTicket) {
        if let Some(place) = self.core.timers.take(ticket)
            && self.core.queue.cancel(place).is_some()
        {
            self.core.work -= 1;
        }
    }

    fn record(&mut self, party: PartyId, fact: &P::Fact) {
        self.core.record_event(self.watch, &Event::Recorded { party, fact });
    }

    fn stop(&mut self) {
        self.core.stop = true;
    }

    fn connection(&self, party: PartyId) -> Connection {
        if self.core.online[party.index()] {
            Connection::Online
        } else if self.core.states[party.index()].switch.is_some() {
            Connection::Offline
        } else {
            Connection::Gone
        }
    }
}

impl<P: Protocol, M: Medium> Core<P, M> {
    /// Drops the pending change of the party's connection, asks the medium for the next change and schedules it.
    pub(super) fn replan_switch(&mut self, party: PartyId) {
        if let Some(ticket) = self.states[party.index()].switch.take() {
            self.queue.cancel(ticket);
        }
        self.schedule_switch(party);
    }

    pub(super) fn schedule_switch(&mut self, party: PartyId) {
        if let Some(switch) = self.medium.next_switch(party) {
            let Switch { at, online, crashed } = switch;
            let online = online && crashed.is_none();
            let ticket = self.queue.push(at.max(self.now), Pending::Switch { party, online, crashed });
            self.states[party.index()].switch = Some(ticket);
        }
    }

    pub(super) fn send<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        from: PartyId,
        to: PartyId,
        message: P::Message,
        watch: &mut W,
    ) {
        self.record_event(watch, &Event::Sent { from, to, message: &message });
        let fate = if self.online[from.index()] {
            self.medium.transmit(MessageHeader { from, to, bytes: message.wire_bytes(), at: self.now })
        } else {
            Delivery::Lost(LossCause::SenderOffline)
        };
        if let Delivery::Arrives(at) = fate {
            // The most frequent case is handled here, which saves one move of the message.
            self.schedule(at, Pending::Deliver { from, to, message, sent_at: self.now });
        } else {
            self.schedule_arrival(fate, from, to, message, self.now, watch);
        }
    }

    /// Carries out what the medium decided for a message: schedules its arrival, at the addressee or at a relay, or records
    /// its loss. If the network duplicated the message, records this and schedules the arrivals of the original and of the
    /// copy.
    pub(super) fn schedule_arrival<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        fate: Delivery,
        from: PartyId,
        to: PartyId,
        message: P::Message,
        sent_at: Time,
        watch: &mut W,
    ) {
        match fate {
            Delivery::Arrives(at) => self.schedule(at, Pending::Deliver { from, to, message, sent_at }),
            Delivery::Passes { at, via, leg } => {
                self.schedule(at, Pending::Relay { from, to, via, leg, message, sent_at });
            }
            Delivery::Doubled { at, via, leg } => {
                self.record_event(watch, &Event::Doubled { from, to, message: &message });
                for (at, message) in [(at[0], message.clone()), (at[1], message)] {
                    let pending = if let Some(leg) = leg {
                        Pending::Relay { from, to, via, leg, message, sent_at }
                    } else {
                        Pending::Deliver { from, to, message, sent_at }
                    };
                    self.schedule(at, pending);
                }
            }
            Delivery::Lost(cause) => {
                self.record_event(watch, &Event::Lost { from, to, message: &message, cause })
            }
        }
    }

    #[inline(always)]
    pub(super) fn schedule(&mut self, at: Time, pending: Pending<P>) {
        assert!(self.now <= at, "a message never arrives before it was sent");
        self.queue.push(at, pending);
        self.work += 1;
    }

    #[inline(always)]
    pub(super) fn record_event<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        watch: &mut W,
        event: &Event<'_, P>,
    ) {
        self.journal.enter(self.now, event);
        watch(self.now, event);
    }
}
