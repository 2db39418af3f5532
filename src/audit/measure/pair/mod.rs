//! What is known of the output laws of a pair of neighbours: its exact loss, and the noise that counts leave possible.

mod curve;
mod discrete;
mod known;
mod noise;

pub use known::{KnownPair, numerical_error};
