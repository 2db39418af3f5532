//! The protocols: who talks to whom about what. Each names its messages, timers and facts and builds its parties.
//!
//! Above this floor nothing is generic in a protocol: a [`Protocol`] recipe plays one replication and returns
//! plain records.

pub mod echo;
pub mod federated;
pub mod local;
pub mod outsourced;
pub mod release;
mod asking;
mod bookkeeping;
mod jitter;
mod record;
mod stage;
mod trace;

pub use asking::{AskAgain, Asker, Retry, Verdict};
pub use bookkeeping::{Bookkeeping, Books, give_up};
pub use jitter::JitterWatch;
pub use record::{
    BookedRelease, BudgetReached, GroupOutcome, Iteration, NamedOutcome, OutcomeBound, SeriesRecord, book,
};
pub use stage::{PlayError, Stage};
pub use trace::{Parcel, TraceEvent, TraceKind, Watcher};

use crate::rng::Key;
use crate::vocab::Problem;

/// The behaviour of a protocol recipe.
pub trait Protocol: Send + Sync {
    /// What is wrong with the recipe in this world; paths begin below the recipe.
    fn problems(&self, stage: &Stage) -> Vec<Problem>;

    /// Whether the protocol optimises something.
    fn needs_objective(&self) -> bool {
        false
    }

    /// Whether its parties can start again after a crash that lost their memory ([`crate::kernel::Memory::Lost`]).
    fn survives_amnesia(&self) -> bool {
        false
    }

    /// The names of the series that one replication gives, in order.
    fn series(&self) -> Vec<String>;

    /// Plays one replication: every series, on common random numbers below `key`.
    ///
    /// # Errors
    /// [`PlayError`] names the series and what went wrong; nothing of the replication counts then.
    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError>;
}

crate::family! {
    /// Who talks to whom about what.
    pub enum ProtocolModel: dyn Protocol {
        Outsourced(outsourced::Outsourced),
        Federated(federated::Federated),
        Local(local::Local),
        Release(release::Release),
        Echo(echo::Echo),
    }
}
