//! Resources of a party: servers, and the jobs of the party that wait for them, in queues with or without priorities.
//!
//! A [`Resource`] is a plain value, for parties written as state machines: its methods return which job begins, and the
//! party sets the timer for the job's end. A [`SharedResource`] is for parties written as processes: their tasks await one
//! of the resource's servers ([`ProcessContext::acquire`](super::ProcessContext::acquire)). Parties do not share resources:
//! to use another party's servers, a party sends the other party a message.

mod line;
mod shared;
mod statistics;

pub use line::{Claim, Discipline, Freed, RequestResult, Resource};
pub use shared::{Acquire, Claimed, Preempted, Preemption, Regained, SharedResource};
pub use statistics::ResourceStatistics;
