//! The kernel's interface to the network, which decides when messages arrive, whether they are lost, and which parties
//! are connected.

use crate::vocab::{PartyId, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The description of a message for the medium: its size and addresses, without contents.
#[derive(Clone, Copy, Debug)]
pub struct MessageHeader {
    /// Sender.
    pub from: PartyId,
    /// Addressee.
    pub to: PartyId,
    /// Size on the wire in bytes.
    pub bytes: u64,
    /// When the message was sent.
    pub at: Time,
}

/// Why a message never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LossCause {
    /// The link dropped the message.
    Link,
    /// The sender was not connected.
    SenderOffline,
    /// When the message arrived, the addressee was not connected, or the medium decided that the addressee does not receive
    /// the message ([`Medium::receives`]).
    ReceiverOffline,
    /// There is no route to the addressee.
    NoRoute,
    /// A relay was not connected.
    RelayOffline,
    /// A link's queue was full.
    QueueFull,
    /// A partition of the network separated the two ends of a link.
    Partition,
}

/// What happens to a message next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The message arrives at this time, which must not be before the present time.
    Arrives(Time),
    /// The message reaches `via` at this time, and then the kernel calls the medium again ([`Medium::proceed`]). `via` is
    /// either a relay, which must be connected to forward the message, or the addressee, whose access line the message
    /// enters.
    Passes {
        /// When the message reaches `via`.
        at: Time,
        /// The relay or the addressee.
        via: PartyId,
        /// A value that the medium chooses, and that the kernel passes back to the medium.
        leg: u8,
    },
    /// The network duplicated the message: the original and the copy reach `via` at these times.
    Doubled {
        /// When the original reaches `via`, then when the copy does.
        at: [Time; 2],
        /// The relay or the addressee.
        via: PartyId,
        /// Present if the kernel calls the medium again for the original and for the copy, as for `Passes`. If `None`, both
        /// are delivered to the addressee at the times `at`.
        leg: Option<u8>,
    },
    /// The message is lost on the way.
    Lost(LossCause),
}

/// What remains of a party after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Memory {
    /// Everything: the party stops, and later continues where it was. Timers that run out and compute times that end during
    /// the crash are handled in their order when the party has recovered.
    Kept,
    /// Only what the party had in stable storage. Its timers and the messages that it is working on are dropped, and it
    /// starts again after the crash.
    Lost,
}

/// A change of a party's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// The time of the change.
    pub at: Time,
    /// Whether the party is connected from then on.
    pub online: bool,
    /// What remains of the party's memory if it is crashed from then on, and therefore not connected; else `None`.
    pub crashed: Option<Memory>,
}

impl Switch {
    /// A change of connection without a crash.
    #[must_use]
    pub fn connection(at: Time, online: bool) -> Self {
        Self { at, online, crashed: None }
    }
}

/// The medium of a simulation. The kernel calls the medium; the medium never calls the kernel. With the default methods,
/// every party is always connected, receives every message, and needs no compute time.
pub trait Medium: std::fmt::Debug {
    /// Decides what happens to a message whose sender is connected. Called once per message, in order of sending.
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery;

    /// Decides what happens next to a message that reaches `via` at `now`, after [`Delivery::Passes`], or
    /// [`Delivery::Doubled`] with a `leg`. Called in order of time.
    fn proceed(&mut self, _parcel: MessageHeader, _via: PartyId, _leg: u8, now: Time) -> Delivery {
        Delivery::Arrives(now)
    }

    /// The time from `now` until the party has processed a message that is delivered at `now`, including the time for which
    /// the message waits while the party processes earlier messages. `work` is the message's work, as a multiple of the
    /// party's compute time (`Payload::work`).
    fn occupied(&mut self, _party: PartyId, _work: f64, _now: Time) -> Span {
        Span::ZERO
    }

    /// Whether the last call of [`Self::occupied`], which was for this party, has changed the time of the party's next
    /// change of connection. If so, the pending change is dropped, and [`Self::next_switch`] is called again. Called after
    /// each call of [`Self::occupied`] that returned a time above zero.
    fn replanned(&mut self, _party: PartyId) -> bool {
        false
    }

    /// Tells the medium that the party has crashed and lost its memory, so that it no longer processes the messages that it
    /// had received.
    fn drops_jobs(&mut self, _party: PartyId) {}

    /// Whether a connected addressee receives a message that has reached it at `now`; if not, the message is lost.
    fn receives(&mut self, _party: PartyId, _now: Time) -> bool {
        true
    }

    /// Whether the party is connected at time zero.
    fn starts_online(&mut self, _party: PartyId) -> bool {
        true
    }

    /// The next change of the party's connection; `None` if there is none. Called once at the start, once at each change,
    /// whenever [`Self::replanned`] returned true, and by [`Simulation::reconnect`](super::Simulation::reconnect).
    fn next_switch(&mut self, _party: PartyId) -> Option<Switch> {
        None
    }
}

impl<M: Medium + ?Sized> Medium for Box<M> {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        (**self).transmit(parcel)
    }
    fn proceed(&mut self, parcel: MessageHeader, via: PartyId, leg: u8, now: Time) -> Delivery {
        (**self).proceed(parcel, via, leg, now)
    }
    fn occupied(&mut self, party: PartyId, work: f64, now: Time) -> Span {
        (**self).occupied(party, work, now)
    }
    fn replanned(&mut self, party: PartyId) -> bool {
        (**self).replanned(party)
    }
    fn drops_jobs(&mut self, party: PartyId) {
        (**self).drops_jobs(party);
    }
    fn receives(&mut self, party: PartyId, now: Time) -> bool {
        (**self).receives(party, now)
    }
    fn starts_online(&mut self, party: PartyId) -> bool {
        (**self).starts_online(party)
    }
    fn next_switch(&mut self, party: PartyId) -> Option<Switch> {
        (**self).next_switch(party)
    }
}

/// A medium without delays, losses and disconnections, for tests of parties.
#[derive(Clone, Copy, Debug, Default)]
pub struct PerfectMedium;

impl Medium for PerfectMedium {
    fn transmit(&mut self, parcel: MessageHeader) -> Delivery {
        Delivery::Arrives(parcel.at)
    }
}
