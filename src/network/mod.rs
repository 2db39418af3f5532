//! The network between parties: latency, loss, availability and topology, together a [`crate::kernel::Medium`].
//!
//! Each model is one file. A latency or an availability is a recipe that a scenario names; the recipe gives a
//! process that draws from its own stream of the seed tree, so changing one link moves no other link's draws.
//! Message number k of a link always takes draw number k of that link, whatever other links do.

pub mod availability;
pub mod compute;
pub mod latency;
pub mod loss;
pub mod outage;
pub mod topology;
mod bandwidth;
mod data_file;
mod links;
mod medium;
mod pair_index;
mod party;
mod population;
mod relays;
mod statistics;

pub use bandwidth::{Access, Bandwidth};
pub use links::{Encryption, Link, LinkRule, Network, Order};
pub use medium::NetworkMedium;
pub use population::{PartyTraits, Population};
pub use relays::Relays;
pub use statistics::{LinkStatistics, NetworkStatistics};
pub use topology::TopologyModel;
