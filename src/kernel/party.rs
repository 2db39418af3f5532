//! Parties: state machines that handle one input at a time.

use super::{Context, Protocol};
use crate::vocab::PartyId;
use std::any::Any;
use std::fmt;

/// An input of a party.
#[derive(Clone, Debug)]
pub enum Input<P: Protocol> {
    /// The simulation begins. Every party receives this input once, in order of ids, before any other input. A party
    /// receives it again when it restarts after a crash that lost its memory.
    Start,
    /// A message arrived.
    Message {
        /// The party that sent the message.
        from: PartyId,
        /// The contents of the message.
        message: P::Message,
    },
    /// A timer that the party had set ran out.
    Timer(P::Timer),
    /// The party lost its connection: until it is connected again, it neither sends nor receives. Its timers still run out
    /// at their times, except in a crash. If the crash keeps the party's memory ([`super::Memory::Kept`]), timers that run
    /// out during the crash are held until the party has recovered. A crash that loses the memory
    /// ([`super::Memory::Lost`]) drops the pending timers, and does not cause this input.
    WentOffline,
    /// The party is connected again. Messages that reached it while it was not connected are lost.
    CameBack,
}

/// Why a party cannot be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CannotCopy {
    /// The party is a process that has begun, and a running co-routine cannot be copied.
    #[error(
        "a process that has started cannot be copied; make it with `Process::forkable`, or write it as a state machine"
    )]
    RunningProcess,
    /// A reason that the party states.
    #[error("{0}")]
    Other(&'static str),
}

/// Copies a boxed party when a simulation is copied. The trait is implemented for every party that is `Clone`.
pub trait BoxedClone<P: Protocol> {
    /// A boxed copy of the party.
    ///
    /// # Errors
    /// [`CannotCopy`] if the party cannot be copied. A party that is `Clone` can always be copied.
    fn boxed_clone(&self) -> Result<Box<dyn Party<P>>, CannotCopy>;
}

impl<P: Protocol, T: Party<P> + Clone> BoxedClone<P> for T {
    fn boxed_clone(&self) -> Result<Box<dyn Party<P>>, CannotCopy> {
        Ok(Box::new(self.clone()))
    }
}

/// A participant of the simulation: a state machine that handles one input at a time.
pub trait Party<P: Protocol>: fmt::Debug + Any + BoxedClone<P> {
    /// Handles one input. The effects that the party requests from `ctx` take place in the order of its calls. The next
    /// input is handled after this method has returned.
    fn handle(&mut self, input: Input<P>, ctx: &mut Context<'_, P>);

    /// The party after a crash that lost its memory ([`super::Memory::Lost`]), with nothing but the contents of its
    /// stable storage. The default, `None`, keeps the party as it is: all its state is in stable storage. In both cases the
    /// party then receives [`Input::Start`].
    fn restarted(&self) -> Option<Box<dyn Party<P>>> {
        None
    }

    /// Takes over those settings of `fresh` that may change during a run, and keeps the party's own state; `fresh` is the
    /// same party built with other settings. The default method changes nothing: it is for a party whose settings cannot
    /// change.
    fn adopt(&mut self, fresh: &dyn Any) {
        let _ = fresh;
    }
}
