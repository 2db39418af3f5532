//! What lies between parties: it decides the fate of messages and who is connected.

use crate::vocab::{PartyId, Time};

/// A message as the medium sees it: sizes and addresses, never contents.
#[derive(Clone, Copy, Debug)]
pub struct Parcel {
    /// Sender.
    pub from: PartyId,
    /// Addressee.
    pub to: PartyId,
    /// Size on the wire in bytes.
    pub bytes: u64,
    /// When it was sent.
    pub at: Time,
}

/// Why a message never arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// The link dropped it.
    Link,
    /// Its sender was not connected.
    SenderOffline,
    /// Its addressee was not connected, or did not hear it, when it arrived.
    ReceiverOffline,
    /// No route leads there.
    NoRoute,
}

/// What becomes of a message that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It arrives at this time (never before it was sent).
    Arrives(Time),
    /// It is lost on the way.
    Lost(LossCause),
}

/// A change of a party's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// When.
    pub at: Time,
    /// Connected from then on, or not.
    pub online: bool,
}

/// The medium of a simulation. The kernel asks; the medium never calls back.
pub trait Medium: std::fmt::Debug {
    /// The fate of a message of a connected sender. Called once per message, in order of sending.
    fn transmit(&mut self, parcel: Parcel) -> Fate;

    /// Whether a connected addressee hears a message that has just reached it.
    fn hears(&mut self, party: PartyId) -> bool;

    /// Whether the party is connected at time zero.
    fn starts_online(&mut self, party: PartyId) -> bool;

    /// The next change of the party's connection; called once at the start and once after each change.
    fn next_switch(&mut self, party: PartyId) -> Option<Switch>;
}

/// A medium without delay, loss or absence, for tests of parties alone.
#[derive(Clone, Copy, Debug, Default)]
pub struct PerfectMedium;

impl Medium for PerfectMedium {
    fn transmit(&mut self, parcel: Parcel) -> Fate {
        Fate::Arrives(parcel.at)
    }

    fn hears(&mut self, _: PartyId) -> bool {
        true
    }

    fn starts_online(&mut self, _: PartyId) -> bool {
        true
    }

    fn next_switch(&mut self, _: PartyId) -> Option<Switch> {
        None
    }
}
