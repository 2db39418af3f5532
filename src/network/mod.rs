//! The network between parties: latency, loss, availability and topology, together a [`crate::kernel::Medium`].
//!
//! Each model is one file. A latency or an availability is a recipe that a scenario names; the recipe gives a
//! process that draws from its own stream of the seed tree, so changing one link moves no other link's draws.
//! Message number k of a link always takes draw number k of that link, whatever other links do.

pub mod availability;
pub mod latency;
pub mod loss;
mod links;
mod medium;
mod statistics;
mod topology;

pub use links::{Link, LinkRule, Network};
pub use medium::{NetworkMedium, StatisticsHandle};
pub use statistics::{LinkStatistics, NetworkStatistics};
pub use topology::Topology;
