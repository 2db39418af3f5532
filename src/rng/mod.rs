//! The seed tree, and the samplers that a replay depends on.
//!
//! Every draw is addressed by its *purpose*, never by the order of drawing: `root / replication 3 / party agent-17 /
//! objective-noise`. Adding a party, turning loss off or changing a latency model therefore changes no other draws, and
//! two cells of a study share all draws that they have in common.
//!
//! Every sampler takes a fixed number of words from its stream (one, unless it says otherwise), uses `libm` for
//! transcendental functions and has a known-answer test: its values are part of the replay format.

mod stream;
mod tree;

pub use stream::Stream;
pub use tree::Key;
pub(crate) use tree::TREE_VERSION;
