//! The kernel protocol of a search: its messages may belong to rounds, its timers are the alarms of co-routines, and its
//! own facts are measurements.

use super::facts::Fact;
use super::measurer::Measured;
use super::rounds::Rounds;
use crate::kernel::{Payload, ProcessTimer, Protocol};
use std::fmt;
use std::marker::PhantomData;

/// A message that may be about a round. [`messages!`](crate::messages) implements this trait for enums of messages.
pub trait RoundMessage: Payload + 'static {
    /// The round that the message is about. Rounds are counted from 0, and each initial point is a round. The default: none.
    fn round(&self) -> Option<u64> {
        None
    }
}

/// The kernel protocol of a [`Search`](super::Search) whose parties send messages `M`, and may be co-routines.
pub struct SearchProtocol<M>(PhantomData<fn() -> M>);

impl<M> Clone for SearchProtocol<M> {
    fn clone(&self) -> Self {
        Self(PhantomData)
    }
}

impl<M> fmt::Debug for SearchProtocol<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SearchProtocol")
    }
}

impl<M: RoundMessage> Protocol for SearchProtocol<M> {
    type Message = M;
    type Timer = ProcessTimer;
    type Fact = Fact<Measured>;
}

impl<M: RoundMessage> Rounds for SearchProtocol<M> {
    /// One more than [`RoundMessage::round`], because evaluations are numbered from 1.
    fn round(message: &M) -> Option<u64> {
        message.round().map(|round| round + 1)
    }

    fn closes(fact: &Self::Fact) -> Option<u64> {
        fact.closes()
    }
}
