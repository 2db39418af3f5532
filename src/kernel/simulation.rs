//! The event loop.

use super::context::{Effect, TimerTable};
use super::{
    Context, Event, EventQueue, Fate, Input, Journal, LossCause, Medium, Parcel, Party, Payload, Protocol,
    TimerTicket,
};
use crate::vocab::{PartyId, Time};
use std::fmt;

/// Guards against a run that never ends.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The simulation ends when time would pass this.
    pub until: Time,
    /// Most events within one instant; more is reported as a livelock.
    pub events_per_instant: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { until: Time::NEVER, events_per_instant: 100_000_000 }
    }
}

/// How a simulation came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A party said so.
    Stopped,
    /// Nothing was left to happen.
    Quiet,
    /// Time was up.
    TimeUp,
}

/// A simulation that cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelError {
    /// Time stood still for too many events.
    Livelock {
        /// The instant.
        at: Time,
        /// Events handled within it.
        events: u64,
    },
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Livelock { at, events } => write!(
                f,
                "livelock: {events} events happened at virtual time {} s without time going on; \
                 look for two parties that answer each other over links without delay",
                at.seconds()
            ),
        }
    }
}

impl std::error::Error for KernelError {}

#[derive(Debug)]
enum Pending<P: Protocol> {
    Deliver { from: PartyId, to: PartyId, message: P::Message, sent_at: Time },
    Timer { party: PartyId, ticket: TimerTicket, timer: P::Timer },
    Switch { party: PartyId, online: bool },
}

/// A world of parties, a medium between them, and a clock.
#[derive(Debug)]
pub struct Simulation<P: Protocol> {
    parties: Vec<Box<dyn Party<P>>>,
    online: Vec<bool>,
    medium: Box<dyn Medium>,
    queue: EventQueue<Pending<P>>,
    timers: TimerTable,
    next_timer: u64,
    effects: Vec<Effect<P>>,
    journal: Journal,
    now: Time,
    /// Pending events other than changes of connection; at zero nothing more can come of the world.
    work: u64,
}

impl<P: Protocol> Simulation<P> {
    /// A world before its start. A party's id is its position in `parties`.
    #[must_use]
    pub fn new(parties: Vec<Box<dyn Party<P>>>, medium: Box<dyn Medium>) -> Self {
        Self {
            online: vec![true; parties.len()],
            parties,
            medium,
            queue: EventQueue::default(),
            timers: TimerTable::default(),
            next_timer: 0,
            effects: Vec::new(),
            journal: Journal::default(),
            now: Time::ZERO,
            work: 0,
        }
    }

    /// Plays from start to end. `watch` sees every event in order, before it has effects.
    ///
    /// # Errors
    /// [`KernelError::Livelock`] when time stands still for more events than `limits` allow.
    pub fn run(
        &mut self,
        limits: Limits,
        watch: &mut dyn FnMut(Time, &Event<'_, P>),
    ) -> Result<Ending, KernelError> {
        self.connect();
        for index in 0..self.parties.len() {
            let party = PartyId(u32::try_from(index).expect("fewer than 2^32 parties"));
            if self.hand(party, Input::Start, watch) {
                return Ok(Ending::Stopped);
            }
        }
        let mut in_this_instant = 0;
        loop {
            if self.work == 0 {
                return Ok(Ending::Quiet);
            }
            let Some((at, pending)) = self.queue.pop() else { return Ok(Ending::Quiet) };
            assert!(self.now <= at, "time never runs backwards");
            if at > limits.until {
                return Ok(Ending::TimeUp);
            }
            in_this_instant = if at == self.now { in_this_instant + 1 } else { 0 };
            if in_this_instant > limits.events_per_instant {
                return Err(KernelError::Livelock { at, events: in_this_instant });
            }
            self.now = at;
            if self.happen(pending, watch) {
                return Ok(Ending::Stopped);
            }
        }
    }

    /// Virtual time reached.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Digest and counts.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The medium, with whatever it has measured.
    #[must_use]
    pub fn medium(&self) -> &dyn Medium {
        &*self.medium
    }

    fn connect(&mut self) {
        for index in 0..self.parties.len() {
            let party = PartyId(u32::try_from(index).expect("fewer than 2^32 parties"));
            self.online[index] = self.medium.starts_online(party);
            self.schedule_switch(party);
        }
    }

    fn schedule_switch(&mut self, party: PartyId) {
        if let Some(switch) = self.medium.next_switch(party) {
            self.queue.push(switch.at.max(self.now), Pending::Switch { party, online: switch.online });
        }
    }

    /// Lets one pending event happen; true when a party asked to stop.
    fn happen(&mut self, pending: Pending<P>, watch: &mut dyn FnMut(Time, &Event<'_, P>)) -> bool {
        match pending {
            Pending::Deliver { from, to, message, sent_at } => {
                self.work -= 1;
                if !self.online[to.index()] || !self.medium.hears(to) {
                    let cause = LossCause::ReceiverOffline;
                    self.note(watch, &Event::Lost { from, to, message: &message, cause });
                    return false;
                }
                self.note(watch, &Event::Delivered { from, to, message: &message, sent_at });
                self.hand(to, Input::Message { from, message }, watch)
            }
            Pending::Timer { party, ticket, timer } => {
                self.work -= 1;
                self.timers.take(ticket);
                self.note(watch, &Event::TimerFired { party, timer: &timer });
                self.hand(party, Input::Timer(timer), watch)
            }
            Pending::Switch { party, online } => {
                self.schedule_switch(party);
                if self.online[party.index()] == online {
                    return false;
                }
                self.online[party.index()] = online;
                self.note(watch, &Event::Switched { party, online });
                self.hand(party, if online { Input::CameBack } else { Input::WentOffline }, watch)
            }
        }
    }

    /// Hands an input to a party and applies what it asks for; true when it asked to stop.
    fn hand(&mut self, party: PartyId, input: Input<P>, watch: &mut dyn FnMut(Time, &Event<'_, P>)) -> bool {
        let mut effects = std::mem::take(&mut self.effects);
        let mut context =
            Context { now: self.now, me: party, next_timer: &mut self.next_timer, effects: &mut effects };
        self.parties[party.index()].handle(input, &mut context);
        let mut stop = false;
        for effect in effects.drain(..) {
            match effect {
                Effect::Send { to, message } => self.send(party, to, message, watch),
                Effect::After { ticket, at, timer } => {
                    let place = self.queue.push(at, Pending::Timer { party, ticket, timer });
                    self.timers.insert(ticket, place);
                    self.work += 1;
                }
                Effect::Cancel(ticket) => {
                    if let Some(place) = self.timers.take(ticket)
                        && self.queue.cancel(place).is_some()
                    {
                        self.work -= 1;
                    }
                }
                Effect::Record(fact) => self.note(watch, &Event::Recorded { party, fact: &fact }),
                Effect::Stop => stop = true,
            }
        }
        self.effects = effects;
        stop
    }

    fn send(
        &mut self,
        from: PartyId,
        to: PartyId,
        message: P::Message,
        watch: &mut dyn FnMut(Time, &Event<'_, P>),
    ) {
        self.note(watch, &Event::Sent { from, to, message: &message });
        let fate = if self.online[from.index()] {
            self.medium.transmit(Parcel { from, to, bytes: message.wire_bytes(), at: self.now })
        } else {
            Fate::Lost(LossCause::SenderOffline)
        };
        match fate {
            Fate::Arrives(at) => {
                assert!(self.now <= at, "a message never arrives before it was sent");
                self.queue.push(at, Pending::Deliver { from, to, message, sent_at: self.now });
                self.work += 1;
            }
            Fate::Lost(cause) => self.note(watch, &Event::Lost { from, to, message: &message, cause }),
        }
    }

    fn note(&mut self, watch: &mut dyn FnMut(Time, &Event<'_, P>), event: &Event<'_, P>) {
        self.journal.enter(self.now, event);
        watch(self.now, event);
    }
}
