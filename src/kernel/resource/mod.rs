//! Resources of a party: servers that its jobs wait for, in queues with or without priorities.
//!
//! A [`Resource`] is a plain value, for parties written as state machines: it says which job begins, and the party
//! sets the timer for its end. A [`SharedResource`] is the same for the tasks of a process, which wait for it
//! ([`ProcessContext::acquire`](super::ProcessContext::acquire)). Parties share none, as they share no variable: who
//! uses another party's servers sends a message.

mod line;
mod shared;
mod statistics;

pub use line::{Begun, Claim, Discipline, Freed, Resource};
pub use shared::{Acquire, Claimed, Preempted, Preemption, Regained, SharedResource};
pub use statistics::ResourceStatistics;
