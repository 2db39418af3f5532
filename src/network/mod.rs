//! The network between parties: latency, loss, bandwidth, topology, and the availability and compute time of parties.
//! Together they form a [`crate::kernel::Medium`].
//!
//! Each model has a file of its own, and a scenario states models as recipes. Each link and each party has random streams of
//! its own in the seed tree, so a change of one link changes no draw of another link. Whatever the models are, the delay and
//! the loss of message k, counted from 0, use the words 2 k and 2 k + 1 (64-bit random numbers) of the link's stream. (Two
//! words of a second stream of the link decide whether a message is duplicated, and the delay of the copy. A message takes
//! words from this second stream only if the link's probability of duplication is above 0.)

pub mod availability;
pub mod compute;
pub mod latency;
pub mod loss;
pub mod outage;
pub mod throughput;
pub mod topology;
mod announced;
mod bandwidth;
mod data_file;
mod draws;
mod fedscale_capacity;
mod graphml;
mod hours;
mod lines;
mod link_process;
mod links;
mod medium;
mod pair_index;
mod party;
mod population;
mod recording;
mod relays;
mod schedule;
mod statistics;
mod together;

pub use announced::announced_seconds;
pub use bandwidth::{Access, Bandwidth};
pub use hours::Zone;
pub use links::{Encryption, Link, LinkRule, Network, Order};
pub use medium::NetworkMedium;
pub use population::{PartyTraits, Population};
pub use relays::Relays;
pub use statistics::{LinkStatistics, NetworkStatistics};
pub use together::{PartyQuantity, Together};
pub use topology::TopologyModel;
