//! Events of a run as plain data, for whoever wants to look at them one by one.

use crate::kernel::{Event, LossCause, Memory, Payload, Protocol};
use crate::vocab::{PartyId, Time};
use std::cell::RefCell;
use std::rc::Rc;

/// One event, without the types of its protocol.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceEvent {
    /// When.
    pub at: Time,
    /// What.
    pub kind: TraceKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceKind {
    /// A message left its sender.
    Sent(Parcel),
    /// A message was lost.
    Lost(Parcel, LossCause),
    /// A message was doubled on its way.
    Doubled(Parcel),
    /// A message reached its addressee; with the time it had been sent.
    Delivered(Parcel, Time),
    /// A timer ran out.
    TimerFired(PartyId, String),
    /// A party's connection changed, or it crashed.
    Switched(PartyId, bool, Option<Memory>),
    /// A party stated a fact.
    Recorded(PartyId, String),
}

/// A message from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// Sender.
    pub from: PartyId,
    /// Addressee.
    pub to: PartyId,
    /// Kind of message.
    pub label: &'static str,
    /// Size in bytes.
    pub bytes: u64,
}

/// What is called with each event and the name of its series.
type See = dyn FnMut(&str, TraceEvent);

/// Sees every event with the name of its series.
#[derive(Clone)]
pub struct Watcher(Rc<RefCell<See>>);

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

impl Watcher {
    /// A watcher that calls `see`.
    pub fn new(see: impl FnMut(&str, TraceEvent) + 'static) -> Self {
        Self(Rc::new(RefCell::new(see)))
    }

    pub(super) fn see<P: Protocol>(&self, series: &str, at: Time, event: &Event<'_, P>) {
        (self.0.borrow_mut())(series, TraceEvent { at, kind: kind(event) });
    }
}

fn kind<P: Protocol>(event: &Event<'_, P>) -> TraceKind {
    let parcel = |from: &PartyId, to: &PartyId, message: &P::Message| Parcel {
        from: *from,
        to: *to,
        label: message.label(),
        bytes: message.wire_bytes(),
    };
    match event {
        Event::Sent { from, to, message } => TraceKind::Sent(parcel(from, to, message)),
        Event::Lost { from, to, message, cause } => TraceKind::Lost(parcel(from, to, message), *cause),
        Event::Doubled { from, to, message } => TraceKind::Doubled(parcel(from, to, message)),
        Event::Delivered { from, to, message, sent_at } => {
            TraceKind::Delivered(parcel(from, to, message), *sent_at)
        }
        Event::TimerFired { party, timer } => TraceKind::TimerFired(*party, format!("{timer:?}")),
        Event::Switched { party, online, crashed } => TraceKind::Switched(*party, *online, *crashed),
        Event::Recorded { party, fact } => TraceKind::Recorded(*party, format!("{fact:?}")),
    }
}
