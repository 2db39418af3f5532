//! The seed tree, and the samplers that a replay depends on.
//!
//! Every stream of draws is addressed by its *purpose*, never by the order in which streams are used:
//! `root / replication 3 / party agent-17 / objective-noise`. Adding a party, turning message loss off or changing a latency
//! model therefore changes no draws for other purposes. Two cells of a study with the same seed have the same draws for
//! every purpose that occurs in both.
//!
//! A sampler takes one 64-bit word from its stream, unless the sampler's documentation states otherwise. It computes
//! transcendental functions without the standard library, mostly by `libm`. The values of samplers are part of the replay
//! format.
//!
//! A [`Stream`] implements the generator traits of `rand`, and [`laws`] has twenty distributions of `rand_distr` over
//! [`Portable`] numbers. The traits and the distributions serve members that other programs add to families. The
//! library's own members use neither the traits nor these distributions, so that no version of `rand` changes a replay.

pub mod laws;
mod portable;
pub mod sobol;
mod stream;
mod tree;

pub use laws::Law;
pub use portable::Portable;
pub use stream::Stream;
pub(crate) use stream::{open_unit, unit};
pub use tree::Key;
pub(crate) use tree::TREE_VERSION;
