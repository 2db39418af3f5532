//! The watcher of a run: it is called with every event as plain data, and may end a series.

use super::Rounds;
use super::first_events::FirstEvents;
use super::trace::{TraceEvent, TraceKind, TracedMessage};
use crate::kernel::{Digest, Digestible, Event, Payload};
use crate::vocab::{PartyId, Time};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;

/// The function that is called with each event and the name of its series; it returns whether the series
/// should continue.
type Callback = dyn FnMut(&str, TraceEvent) -> bool;

/// Receives every event of a run as plain data, with the name of its series.
#[derive(Clone)]
pub struct Watcher {
    see: Rc<RefCell<Callback>>,
    /// The stored events, for a watcher of the first events of each series.
    beginning: Option<Rc<RefCell<FirstEvents>>>,
    /// Whether events get a fingerprint of their contents.
    contents: bool,
}

impl std::fmt::Debug for Watcher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Watcher")
    }
}

impl Watcher {
    /// A watcher that calls `see` with every event.
    pub fn new(mut see: impl FnMut(&str, TraceEvent) + 'static) -> Self {
        let see = move |series: &str, event: TraceEvent| {
            see(series, event);
            true
        };
        Self { see: Rc::new(RefCell::new(see)), beginning: None, contents: false }
    }

    /// A watcher that stores the first `most_events` events of every series. The number of all parties is `parties`. If it
    /// is above `most_parties`, only events among `most_parties` parties are stored: for each series, the parties that are
    /// the first to send a message or to have a message sent to them.
    #[must_use]
    pub fn of_beginning(parties: usize, most_parties: usize, most_events: usize) -> Self {
        let beginning = Rc::new(RefCell::new(FirstEvents::new(parties, most_parties, most_events)));
        let into = Rc::clone(&beginning);
        let see = move |_: &str, event: TraceEvent| {
            into.borrow_mut().keep(event);
            true
        };
        Self { see: Rc::new(RefCell::new(see)), beginning: Some(beginning), contents: false }
    }

    /// The series in whose stored events the most kinds of messages arrive, and these events; `None` for a watcher that
    /// does not store first events, and before the first event.
    #[must_use]
    pub fn most_informative(&self) -> Option<(String, Vec<TraceEvent>)> {
        self.beginning.as_ref()?.borrow().most_informative()
    }

    /// A watcher that also receives fingerprints of contents, and ends a series when `see` returns false.
    pub fn of_contents(see: impl FnMut(&str, TraceEvent) -> bool + 'static) -> Self {
        Self { see: Rc::new(RefCell::new(see)), beginning: None, contents: true }
    }

    /// Passes an event to the watcher; returns whether the series should continue.
    pub(in crate::protocols) fn see<P: Rounds>(&self, series: &str, at: Time, event: &Event<'_, P>) -> bool {
        if let Some(beginning) = &self.beginning {
            let sent = matches!(event, Event::Sent { .. });
            if !beginning.borrow_mut().accepts_event(series, parties(event), sent) {
                return true;
            }
        }
        let round = match event {
            Event::Sent { message, .. }
            | Event::Lost { message, .. }
            | Event::Delivered { message, .. }
            | Event::Handled { message, .. }
            | Event::Doubled { message, .. } => P::round(message),
            Event::Recorded { fact, .. } => P::closes(fact),
            Event::TimerFired { .. } | Event::Switched { .. } => None,
        };
        let contents = if self.contents { fingerprint(event) } else { 0 };
        (self.see.borrow_mut())(series, TraceEvent { at, kind: kind(event), round, contents })
    }
}

/// The two parties of an event; twice the same party if the event concerns only one.
fn parties<P: Rounds>(event: &Event<'_, P>) -> [PartyId; 2] {
    match event {
        Event::Sent { from, to, .. }
        | Event::Lost { from, to, .. }
        | Event::Delivered { from, to, .. }
        | Event::Handled { from, to, .. }
        | Event::Doubled { from, to, .. } => [*from, *to],
        Event::TimerFired { party, .. } | Event::Recorded { party, .. } | Event::Switched { party, .. } => {
            [*party, *party]
        }
    }
}

/// A hash of the contents of a message that is sent, a fact or a timer, as the journal's digest includes these contents;
/// 0 for other events. The hash tells more than a [`TraceKind`], which has only the label of a message, and the debug
/// format of a fact or timer.
fn fingerprint<P: Rounds>(event: &Event<'_, P>) -> u64 {
    let mut digest = Digest::default();
    match event {
        Event::Sent { message, .. } => message.digest(&mut digest),
        Event::Recorded { fact, .. } => fact.digest(&mut digest),
        Event::TimerFired { timer, .. } => timer.digest(&mut digest),
        // The contents of a message were hashed when it was sent.
        Event::Lost { .. }
        | Event::Delivered { .. }
        | Event::Handled { .. }
        | Event::Doubled { .. }
        | Event::Switched { .. } => return 0,
    }
    digest.fingerprint()
}

fn kind<P: Rounds>(event: &Event<'_, P>) -> TraceKind {
    let parcel = |from: &PartyId, to: &PartyId, message: &P::Message| TracedMessage {
        from: *from,
        to: *to,
        label: Cow::Borrowed(message.label()),
        bytes: message.wire_bytes(),
    };
    match event {
        Event::Sent { from, to, message } => TraceKind::Sent(parcel(from, to, message)),
        Event::Lost { from, to, message, cause } => TraceKind::Lost(parcel(from, to, message), *cause),
        Event::Doubled { from, to, message } => TraceKind::Doubled(parcel(from, to, message)),
        Event::Delivered { from, to, message, sent_at } => {
            TraceKind::Delivered(parcel(from, to, message), *sent_at)
        }
        Event::Handled { from, to, message, sent_at } => {
            TraceKind::Handled(parcel(from, to, message), *sent_at)
        }
        Event::TimerFired { party, timer } => TraceKind::TimerFired(*party, format!("{timer:?}")),
        Event::Switched { party, online, crashed } => TraceKind::Switched(*party, *online, *crashed),
        Event::Recorded { party, fact } => TraceKind::Recorded(*party, format!("{fact:?}")),
    }
}
