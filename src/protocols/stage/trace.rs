//! Events of a run as plain data, to be inspected one by one.

use crate::kernel::{LossCause, Memory};
use crate::vocab::{PartyId, Time};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// One event, without the types of its protocol.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// Virtual time of the event.
    pub at: Time,
    /// Kind of event.
    pub kind: TraceKind,
    /// The round that a message is about, or that a fact closes. `None` for other events, and for a message or fact
    /// without a round.
    pub round: Option<u64>,
    /// A fingerprint of the contents of a message that is sent, of a fact, or of a timer that runs out; 0 for other
    /// events, and if the watcher did not request fingerprints.
    pub contents: u64,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum TraceKind {
    /// A message left its sender.
    Sent(TracedMessage),
    /// A message was lost.
    Lost(TracedMessage, LossCause),
    /// A message was duplicated by the network.
    Doubled(TracedMessage),
    /// A message reached its addressee. The time is that at which the message was sent.
    Delivered(TracedMessage, Time),
    /// The work on a delivered message is done. The time is that at which the message was sent.
    Handled(TracedMessage, Time),
    /// A timer ran out; the text is its debug format.
    TimerFired(PartyId, String),
    /// A party's connection changed, or the party crashed or recovered. The fields are the party, whether it is connected
    /// from now on, and, if it is crashed from now on, what remains of its memory.
    Switched(PartyId, bool, Option<Memory>),
    /// A party recorded a fact; the text is its debug format.
    Recorded(PartyId, String),
}

/// A message without its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TracedMessage {
    /// Sender.
    pub from: PartyId,
    /// Addressee.
    pub to: PartyId,
    /// Kind of message.
    pub label: Cow<'static, str>,
    /// Size in bytes.
    pub bytes: u64,
}
