//! What every protocol stands on: wiring parties to the kernel and the network, records, traces, forks and retries.

mod asking;
mod beginning;
pub(in crate::protocols) mod bookkeeping;
mod branching;
pub(in crate::protocols) mod bystander;
pub(in crate::protocols) mod chronicle;
mod disclosed;
mod jitter;
mod protocol;
mod record;
mod rounds;
mod run;
mod trace;
mod watcher;
pub(in crate::protocols) mod wire;

pub use asking::{AskAgain, Asker, Retry, Verdict};
pub use bookkeeping::{Bookkeeping, Books, end, give_up, seen_by};
pub use branching::{Fork, ForkPoint, WarmWorlds};
pub use disclosed::Disclosed;
pub use jitter::JitterWatch;
pub use protocol::Protocol;
pub use record::{
    BookedRelease, BoundSide, BoundedRegret, BudgetReached, GroupOutcome, Iteration, NamedOutcome,
    OutcomeBound, RegretBound, RoundClosing, SeriesRecord, Waypoint, book, over_rounds,
};
pub use rounds::Rounds;
pub use run::{Directions, PlayError, Stage};
pub use trace::{Parcel, TraceEvent, TraceKind};
pub use watcher::Watcher;
