//! Common parts of all protocols: facts, records, traces, forks, retries, and the connection of parties to the kernel and
//! the network.

mod requester;
pub(in crate::protocols) mod differences;
pub(in crate::protocols) mod retries;
mod first_events;
mod fork_states;
mod ending;
mod facts;
mod failure;
mod nonresponse_bias;
mod idle_party;
mod jitter;
mod journal_ledger;
mod measurer;
mod one_arm;
mod protocol;
mod record;
mod regret;
mod releases;
mod request;
mod rounds;
mod run;
mod search;
mod search_protocol;
mod searcher;
pub(in crate::protocols) mod series;
mod trace;
pub(in crate::protocols) mod message_macros;
mod watcher;
pub(in crate::protocols) mod wire;

pub use crate::accounting::CountedRelease;
pub use ending::{end, end_refused};
pub use facts::{Fact, ProtocolFact, RecordsFacts};
pub use failure::ReplicationError;
pub use fork_states::{BadForkPoint, Fork, ForkPoint, ForkStates};
pub use jitter::JitterWatch;
pub use journal_ledger::{JournalLedger, seen_by};
pub use measurer::{Measured, Measurer, NEIGHBOUR_DISTANCE, OUTCOMES};
pub use nonresponse_bias::NonresponseBias;
pub use one_arm::{OneArm, QueriedArms};
pub use protocol::Protocol;
pub(in crate::protocols) use record::ITERATION;
pub use record::{
    BoundSide, BoundedRegret, BudgetReached, CheckpointRecord, GroupOutcome, Iteration, OutcomeBound,
    QueriedInputs, RegretBound, RoundClosing, RoundTrack, SeriesOutcome, SeriesRecord,
};
pub use regret::{Evaluations, Regret, against_best_found};
pub use releases::{Releases, count};
pub use requester::{Requester, RetryTimer};
pub use retries::{AfterTimeout, Backoff, Retry};
pub use rounds::Rounds;
pub use run::{ReplicationSetup, RunOptions};
pub use search::{ActiveParties, Numbering, Parts, Search, SearchSeries, SearchSettings};
pub use search_protocol::{RoundMessage, SearchProtocol};
pub use searcher::{SearchPlan, Searcher};
pub use series::Series;
pub use trace::{TraceEvent, TraceKind, TracedMessage};
pub use watcher::Watcher;
pub use wire::{HEADER_BYTES, WireSize};
