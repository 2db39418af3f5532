//! The event loop of a simulation.

use super::context::TimerTable;
use super::core::{Core, PartyState, Pending, WatchedCore};
use super::{
    CannotCopy, Context, Delivery, Event, EventQueue, Input, Journal, LossCause, Medium, Memory,
    MessageHeader, Party, Payload, Protocol, Switch,
};
use crate::vocab::{PartyId, Span, Time};
use std::any::Any;

/// Limits that end a simulation which might otherwise never end.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The simulation ends before the first event that is later than this time.
    pub until: Time,
    /// Largest number of events at one instant, not counting the event that advanced the time to this instant. If there are
    /// more, the simulation ends with [`KernelError::Livelock`].
    pub events_per_instant: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { until: Time::NEVER, events_per_instant: 100_000_000 }
    }
}

/// Why a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A party ended the simulation ([`Context::stop`]).
    Stopped,
    /// No events were pending. Pending changes of connection do not count, unless some crashed party has lost its memory
    /// and is to be restarted, or holds events until it recovers.
    Quiet,
    /// The time limit was reached.
    TimeUp,
}

/// Why a simulation cannot continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KernelError {
    /// Too many events at one instant.
    #[error(
        "livelock: {events} events happened at virtual time {} s without virtual time advancing; look for two parties \
         that answer each other over links without delay",
        .at.seconds()
    )]
    Livelock {
        /// The instant.
        at: Time,
        /// Number of events handled at this instant.
        events: u64,
    },
    /// Too many events are pending.
    #[error(
        "more than 16,777,216 (2^24) messages and timers are pending at virtual time {} s: use fewer parties or longer \
         intervals, or look for a party that keeps sending messages or setting timers faster than messages arrive or timers run out",
        .at.seconds()
    )]
    TooManyPending {
        /// The virtual time at which an event was dropped because too many were pending.
        at: Time,
    },
}

/// The simulation cannot be copied, because one of its parties cannot be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("party number {}: {reason}", .party.0)]
pub struct CannotFork {
    /// The id of the party: its position in the simulation's list of parties.
    pub party: PartyId,
    /// Why the party cannot be copied.
    #[source]
    pub reason: CannotCopy,
}

/// A simulation: parties, a medium between them, and the virtual time.
#[derive(Debug)]
pub struct Simulation<P: Protocol, M: Medium = Box<dyn Medium>> {
    parties: Vec<Box<dyn Party<P>>>,
    core: Core<P, M>,
    /// Number of events handled at the present instant, not counting the event that advanced the time to this instant.
    in_this_instant: u64,
    begun: bool,
}

impl<P: Protocol, M: Medium + Clone> Simulation<P, M> {
    /// A copy in the same state: unless the copy or the original is changed, both continue with the same events.
    ///
    /// # Errors
    /// [`CannotFork`] names the first party that cannot be copied.
    pub fn fork(&self) -> Result<Self, CannotFork> {
        let copied = self.parties.iter().zip(0..).map(|(party, index)| {
            party.boxed_clone().map_err(|reason| CannotFork { party: PartyId(index), reason })
        });
        Ok(Self {
            parties: copied.collect::<Result<_, _>>()?,
            core: self.core.clone(),
            in_this_instant: self.in_this_instant,
            begun: self.begun,
        })
    }
}

impl<P: Protocol, M: Medium> Simulation<P, M> {
    /// A simulation before its start. A party's id is its position in `parties`.
    #[must_use]
    pub fn new(parties: Vec<Box<dyn Party<P>>>, medium: M) -> Self {
        let states = PartyState { switch: None, crashed: None, incarnation: 0, held: Vec::new() };
        Self {
            core: Core {
                states: vec![states; parties.len()],
                online: vec![true; parties.len()],
                medium,
                queue: EventQueue::default(),
                timers: TimerTable::default(),
                next_timer: 0,
                journal: Journal::default(),
                now: Time::ZERO,
                stop: false,
                work: 0,
            },
            parties,
            in_this_instant: 0,
            begun: false,
        }
    }

    /// The same simulation without a digest of its events, for measuring the time that the event loop itself takes.
    #[must_use]
    pub fn without_digest(mut self) -> Self {
        self.core.journal = Journal::without_digest();
        self
    }

    /// Runs from the present state to the end. `watch` is called with every event in order, before the event is
    /// handled. After [`Ending::TimeUp`], a call with a later limit continues the run.
    ///
    /// # Errors
    /// [`KernelError::Livelock`] if more events happen at one instant than `limits` allow;
    /// [`KernelError::TooManyPending`] if more than 2^24 events are pending. A cancelled timer counts until its time comes.
    pub fn run<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        limits: Limits,
        watch: &mut W,
    ) -> Result<Ending, KernelError> {
        loop {
            if let Some(ending) = self.step(limits, watch)? {
                return Ok(ending);
            }
        }
    }

    /// Handles one event; the first call starts all parties instead. Returns how the simulation ended, or `None` if it has
    /// not ended.
    ///
    /// # Errors
    /// As [`Self::run`].
    #[inline]
    pub fn step<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        limits: Limits,
        watch: &mut W,
    ) -> Result<Option<Ending>, KernelError> {
        if !self.begun {
            self.begun = true;
            return Ok(self.begin(watch).then_some(Ending::Stopped));
        }
        if self.core.queue.has_overflowed() {
            return Err(KernelError::TooManyPending { at: self.core.now });
        }
        if self.core.work == 0 {
            return Ok(Some(Ending::Quiet));
        }
        if limits.until < Time::NEVER && self.core.queue.next_time().is_some_and(|at| at > limits.until) {
            return Ok(Some(Ending::TimeUp));
        }
        let Some((at, pending)) = self.core.queue.pop() else { return Ok(Some(Ending::Quiet)) };
        assert!(self.core.now <= at, "time never runs backwards");
        if self.core.now < at {
            self.core.now = at;
            self.in_this_instant = 0;
        } else {
            self.in_this_instant += 1;
            if self.in_this_instant > limits.events_per_instant {
                return Err(KernelError::Livelock { at, events: self.in_this_instant });
            }
        }
        Ok(self.handle_pending(pending, watch).then_some(Ending::Stopped))
    }

    /// Whether the parties have been started.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.begun
    }

    /// The present virtual time.
    #[must_use]
    pub fn now(&self) -> Time {
        self.core.now
    }

    /// Number of messages in flight. O(number of pending events).
    #[must_use]
    pub fn in_flight(&self) -> u64 {
        let travels = |pending: &&Pending<P>| match pending {
            Pending::Deliver { .. } | Pending::Relay { .. } => true,
            Pending::Handle { .. } | Pending::Timer { .. } | Pending::Switch { .. } => false,
        };
        self.core.queue.pending().filter(travels).count() as u64
    }

    /// The digest and the counts of the events so far.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.core.journal
    }

    /// The medium.
    #[must_use]
    pub fn medium(&self) -> &M {
        &self.core.medium
    }

    /// The medium, so that a caller can change it between two events.
    pub fn medium_mut(&mut self) -> &mut M {
        &mut self.core.medium
    }

    /// Changes the settings of every party, as far as they can change during a run, to those of the party at the same
    /// position in `fresh` ([`Party::adopt`]). To be called between two events.
    ///
    /// # Panics
    /// If `fresh` has another number of parties.
    pub fn adopt(&mut self, fresh: Vec<Box<dyn Party<P>>>) {
        assert_eq!(fresh.len(), self.parties.len(), "one for each party");
        for (party, fresh) in self.parties.iter_mut().zip(fresh) {
            let fresh: Box<dyn Any> = fresh;
            party.adopt(&*fresh);
        }
    }

    /// Sets a party's connection at the time `switch.at`, and asks the medium again for the connection's next change. To be
    /// called after the medium was changed between two events ([`Self::medium_mut`]). The present time becomes `switch.at`;
    /// no event may be pending for an earlier time. Returns [`Ending::Stopped`] if the party asked to stop.
    ///
    /// # Panics
    /// If the present time is after `switch.at`.
    pub fn reconnect<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        party: PartyId,
        switch: Switch,
        watch: &mut W,
    ) -> Option<Ending> {
        assert!(self.core.now <= switch.at, "a change of connection is never in the past");
        self.core.now = switch.at;
        self.core.replan_switch(party);
        let online = switch.online && switch.crashed.is_none();
        self.switch(party, online, switch.crashed, watch).then_some(Ending::Stopped)
    }

    /// Starts the parties in order of their ids. If a party asks to stop, returns true and does not start the parties after
    /// it.
    fn begin<W: FnMut(Time, &Event<'_, P>) + ?Sized>(&mut self, watch: &mut W) -> bool {
        for index in 0..self.parties.len() {
            let party = PartyId(u32::try_from(index).expect("fewer than 2^32 parties"));
            self.core.online[index] = self.core.medium.starts_online(party);
            self.core.schedule_switch(party);
        }
        for index in 0..self.parties.len() {
            let party = PartyId(u32::try_from(index).expect("fewer than 2^32 parties"));
            if self.dispatch(party, Input::Start, watch) {
                return true;
            }
        }
        false
    }

    /// Handles one pending event; true if a party asked to stop.
    fn handle_pending<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        pending: Pending<P>,
        watch: &mut W,
    ) -> bool {
        match pending {
            Pending::Deliver { from, to, message, sent_at } => {
                self.core.work -= 1;
                if !self.core.online[to.index()] || !self.core.medium.receives(to, self.core.now) {
                    let cause = LossCause::ReceiverOffline;
                    self.core.record_event(watch, &Event::Lost { from, to, message: &message, cause });
                    return false;
                }
                self.core.record_event(watch, &Event::Delivered { from, to, message: &message, sent_at });
                let occupied = self.core.medium.occupied(to, message.work(), self.core.now);
                if occupied == Span::ZERO {
                    return self.dispatch(to, Input::Message { from, message }, watch);
                }
                let incarnation = self.core.states[to.index()].incarnation;
                self.core.queue.push(
                    self.core.now + occupied,
                    Pending::Handle { from, to, message, sent_at, incarnation },
                );
                self.core.work += 1;
                if self.core.medium.replanned(to) {
                    self.core.replan_switch(to);
                }
                false
            }
            Pending::Relay { from, to, via, leg, message, sent_at } => {
                self.core.work -= 1;
                let fate = if via == to || self.core.online[via.index()] {
                    let parcel = MessageHeader { from, to, bytes: message.wire_bytes(), at: sent_at };
                    self.core.medium.proceed(parcel, via, leg, self.core.now)
                } else {
                    Delivery::Lost(LossCause::RelayOffline)
                };
                self.core.schedule_arrival(fate, from, to, message, sent_at, watch);
                false
            }
            Pending::Handle { from, to, message, sent_at, incarnation } => {
                let states = &mut self.core.states[to.index()];
                if states.incarnation == incarnation && states.crashed.is_some() {
                    states.held.push(Pending::Handle { from, to, message, sent_at, incarnation });
                    return false;
                }
                self.core.work -= 1;
                if states.incarnation != incarnation {
                    return false;
                }
                // The journal recorded the message when it was delivered, so only `watch` gets this event.
                watch(self.core.now, &Event::Handled { from, to, message: &message, sent_at });
                self.dispatch(to, Input::Message { from, message }, watch)
            }
            Pending::Timer { party, ticket, timer, incarnation } => {
                let states = &mut self.core.states[party.index()];
                if states.incarnation == incarnation && states.crashed.is_some() {
                    states.held.push(Pending::Timer { party, ticket, timer, incarnation });
                    return false;
                }
                self.core.timers.take(ticket);
                self.core.work -= 1;
                if states.incarnation != incarnation {
                    return false;
                }
                self.core.record_event(watch, &Event::TimerFired { party, timer: &timer });
                self.dispatch(party, Input::Timer(timer), watch)
            }
            Pending::Switch { party, online, crashed } => {
                self.core.states[party.index()].switch = None;
                self.core.schedule_switch(party);
                self.switch(party, online, crashed, watch)
            }
        }
    }

    /// Changes a party's connection, or lets the party crash or recover; true if the party asked to stop.
    fn switch<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        party: PartyId,
        online: bool,
        crashed: Option<Memory>,
        watch: &mut W,
    ) -> bool {
        let states = &mut self.core.states[party.index()];
        // Whether the party keeps its memory was decided when the crash began, even if a fork has changed this setting since
        // then.
        let crashed = crashed.map(|kind| states.crashed.unwrap_or(kind));
        let was_online = std::mem::replace(&mut self.core.online[party.index()], online);
        let was_crashed = std::mem::replace(&mut states.crashed, crashed);
        if (was_online, was_crashed) == (online, crashed) {
            return false;
        }
        self.core.record_event(watch, &Event::Switched { party, online, crashed });
        match (was_crashed, crashed) {
            (None, Some(Memory::Lost)) => {
                self.core.states[party.index()].incarnation += 1;
                self.core.work += 1;
                self.core.medium.drops_jobs(party);
                false
            }
            (Some(Memory::Lost), None) => {
                self.core.work -= 1;
                if let Some(restarted) = self.parties[party.index()].restarted() {
                    self.parties[party.index()] = restarted;
                }
                self.dispatch(party, Input::Start, watch)
            }
            (Some(Memory::Kept), None) => {
                // Held events keep their order, and are handled after the events already scheduled for this time.
                for pending in std::mem::take(&mut self.core.states[party.index()].held) {
                    let timer =
                        if let Pending::Timer { ticket, .. } = &pending { Some(*ticket) } else { None };
                    let place = self.core.queue.push(self.core.now, pending);
                    if let Some(ticket) = timer {
                        self.core.timers.insert(ticket, place);
                    }
                }
                online && self.dispatch(party, Input::CameBack, watch)
            }
            (None, None) => {
                self.dispatch(party, if online { Input::CameBack } else { Input::WentOffline }, watch)
            }
            (None, Some(Memory::Kept)) => was_online && self.dispatch(party, Input::WentOffline, watch),
            (Some(_), Some(_)) => false,
        }
    }

    /// Passes an input to a party. The effects that the party requests take place in the order in which it calls the methods
    /// of its [`Context`]. Returns true if the party asked to stop.
    fn dispatch<W: FnMut(Time, &Event<'_, P>) + ?Sized>(
        &mut self,
        party: PartyId,
        input: Input<P>,
        watch: &mut W,
    ) -> bool {
        let now = self.core.now;
        let mut effects = WatchedCore { core: &mut self.core, watch };
        self.parties[party.index()].handle(input, &mut Context { now, me: party, effects: &mut effects });
        std::mem::take(&mut self.core.stop)
    }
}
