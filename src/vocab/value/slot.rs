//! A thread-local slot. It first holds a function that will read a value, and then the result of this function.

use super::error::ReadError;
use super::node::Part;
use std::any::Any;
use std::cell::RefCell;

/// A function that reads a value of some type.
pub(crate) type Read = fn(Part<'_>) -> Result<Box<dyn Any>, ReadError>;

/// The name of the newtype struct for which [`Reader`](super::Reader) uses the slot.
pub(super) const SLOT_STRUCT: &str = "$subrosa::vocab::value";

/// The content of the slot.
pub(super) enum Slot {
    /// Nothing.
    Empty,
    /// A function that has not been called yet.
    Wanted(Read),
    /// The result of the function.
    Found(Box<dyn Any>),
}

thread_local! {
    static SLOT: RefCell<Slot> = const { RefCell::new(Slot::Empty) };
}

/// Replaces the content of the slot, and returns the old content.
pub(super) fn exchange(new: Slot) -> Slot {
    SLOT.with(|slot| slot.replace(new))
}

/// Takes the function out of the slot; `None` if there is none.
pub(super) fn wanted() -> Option<Read> {
    match exchange(Slot::Empty) {
        Slot::Wanted(read) => Some(read),
        Slot::Empty | Slot::Found(_) => None,
    }
}

/// Stores a result for the visitor that is called next.
pub(super) fn leave(value: Box<dyn Any>) {
    exchange(Slot::Found(value));
}
