//! What a party is: a state machine that reacts to one input at a time.

use super::{Context, Protocol};
use crate::vocab::PartyId;
use std::any::Any;
use std::fmt;

/// An input of a party.
#[derive(Clone, Debug)]
pub enum Input<P: Protocol> {
    /// The simulation begins. Every party gets this once, in order of ids, before anything else; and again when it is
    /// back from a crash that lost its memory.
    Start,
    /// A message arrived.
    Message {
        /// Who sent it.
        from: PartyId,
        /// Its contents.
        message: P::Message,
    },
    /// A timer that the party had set ran out.
    Timer(P::Timer),
    /// The party lost its connection: until it comes back, it neither sends nor receives. Its timers go on.
    WentOffline,
    /// The party is connected again. Messages that were sent to it meanwhile are lost.
    CameBack,
}

/// Clones a boxed party, when a simulation is cloned. Implemented for every party that is `Clone`.
pub trait BoxedClone<P: Protocol> {
    /// The copy.
    fn boxed_clone(&self) -> Box<dyn Party<P>>;
}

impl<P: Protocol, T: Party<P> + Clone> BoxedClone<P> for T {
    fn boxed_clone(&self) -> Box<dyn Party<P>> {
        Box::new(self.clone())
    }
}

/// A participant of the simulation: a state machine that handles one input at a time.
pub trait Party<P: Protocol>: fmt::Debug + Any + BoxedClone<P> {
    /// Handles one input. The effects that it asks of `ctx` take place in that order; no further input comes
    /// before this returns.
    fn handle(&mut self, input: Input<P>, ctx: &mut Context<'_, P>);

    /// The party as it comes back from a crash that lost its memory ([`super::Memory::Lost`]): only what it had in
    /// stable storage. It then gets [`Input::Start`]. The default is a party that has everything in stable storage.
    fn restarted(&self) -> Option<Box<dyn Party<P>>> {
        None
    }

    /// Takes over the settings that may change in the middle of a run from `fresh`, a party made for this place with
    /// other settings, and keeps its state. The default is a party whose settings cannot change.
    fn adopt(&mut self, fresh: &dyn Any) {
        let _ = fresh;
    }
}
