//! A place of this thread where a function waits for the value that it is to read, and then its result for whoever asked.

use super::error::ReadError;
use super::node::Part;
use std::any::Any;
use std::cell::RefCell;

/// Reads a value of some type.
pub(crate) type Read = fn(Part<'_>) -> Result<Box<dyn Any>, ReadError>;

/// The name of the newtype struct at which the reader looks into the slot.
pub(super) const HAND_OVER: &str = "$subrosa::vocab::value";

/// What is there.
pub(super) enum Slot {
    /// Nothing.
    Empty,
    /// A function that waits for its value.
    Wanted(Read),
    /// A result.
    Found(Box<dyn Any>),
}

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Empty) };
}

/// Puts something else into the slot, and returns what was there.
pub(super) fn exchange(new: Slot) -> Slot {
    SLOT.with(|slot| slot.replace(new))
}

/// The function that waits, once asked for.
pub(super) fn wanted() -> Option<Read> {
    match exchange(Slot::Empty) {
        Slot::Wanted(read) => Some(read),
        Slot::Empty | Slot::Found(_) => None,
    }
}

/// Leaves a result for the visitor that is called next.
pub(super) fn leave(value: Box<dyn Any>) {
    exchange(Slot::Found(value));
}
