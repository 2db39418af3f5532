//! The types that a protocol defines: its messages, its timers and its facts.

use super::Digestible;
use std::fmt;

/// The messages, timers and facts of one protocol.
pub trait Protocol: Clone + 'static {
    /// Everything that parties can send each other.
    type Message: Payload;
    /// All timers of parties. This is a separate type, so that no party can send a timer as a message.
    type Timer: Clone + fmt::Debug + Digestible;
    /// All facts that a party can record in the journal.
    type Fact: Clone + fmt::Debug + Digestible;
}

/// The properties of a message that the network and the journal use.
pub trait Payload: Clone + fmt::Debug + Digestible {
    /// Size on the wire in bytes, headers included.
    fn wire_bytes(&self) -> u64;

    /// The work of handling the message, as a multiple of the addressee's compute time; 0 for none. Default: 1.
    fn work(&self) -> f64 {
        1.0
    }

    /// A short name of the kind of message, for traces.
    fn label(&self) -> &'static str;
}

/// A message that is a single number, with the headers of IPv4 and UDP; for small simulations.
impl Payload for f64 {
    fn wire_bytes(&self) -> u64 {
        28 + 8
    }

    fn label(&self) -> &'static str {
        "number"
    }
}
