//! A pair of neighbours with known output distributions: its exact loss, and the largest noise that is consistent with how
//! often an event (a set of outputs) occurred in the trials of an audit.

mod known;
mod noise;

pub use known::{ExactLoss, KnownPair};
