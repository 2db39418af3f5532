//! Common parts of all protocols: connecting parties to the kernel and the network, facts, records, traces, forks and
//! retries.

mod asking;
pub(in crate::protocols) mod attempts;
mod beginning;
mod branching;
mod ending;
mod facts;
mod failure;
mod idle_party;
mod jitter;
mod journal_ledger;
mod measuring;
mod protocol;
mod record;
mod regret;
mod releases;
mod request;
mod rounds;
mod run;
mod search;
mod search_world;
mod searching;
pub(in crate::protocols) mod series;
mod trace;
pub(in crate::protocols) mod vocabulary;
mod watcher;
pub(in crate::protocols) mod wire;

pub use crate::accounting::CountedRelease;
pub use asking::{Requester, RetryTimer};
pub use attempts::{AfterTimeout, Backoff, Retry};
pub use branching::{BadForkPoint, Fork, ForkPoint, ForkStates};
pub use ending::{end, give_up};
pub use facts::{Fact, ProtocolFact, StatesFacts};
pub use failure::PlayError;
pub use jitter::JitterWatch;
pub use journal_ledger::{JournalLedger, seen_by};
pub use measuring::{Measured, Measurer, NEIGHBOUR_DISTANCE};
pub use protocol::Protocol;
pub(in crate::protocols) use record::ITERATION;
pub use record::{
    AskedInputs, BoundSide, BoundedRegret, BudgetReached, CheckpointRecord, GroupOutcome, Iteration,
    NamedOutcome, OutcomeBound, RegretBound, RoundClosing, RoundTrack, SeriesRecord,
};
pub use regret::{Evaluations, Regret};
pub use releases::{Releases, count};
pub use rounds::Rounds;
pub use run::{RunOptions, Stage};
pub use search::{Cast, Parts, Search, SearchSeries, SearchSettings};
pub use search_world::{RoundMessage, SearchWorld};
pub use searching::{SearchPlan, Searcher};
pub use series::Series;
pub use trace::{Parcel, TraceEvent, TraceKind};
pub use watcher::Watcher;
pub use wire::{HEADER_BYTES, WireSize};
