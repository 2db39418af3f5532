//! A pair of neighbours with known output distributions: its exact loss, and the largest noise that is
//! consistent with the counts of an event.

mod curve;
mod discrete;
mod known;
mod noise;

pub use known::{KnownPair, numerical_error};
