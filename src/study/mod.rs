//! Replications, sweeps and their files: from a checked scenario to a folder that can be resumed, replayed and
//! reported on.

pub mod files;
mod compare;
mod folder;
mod gather;
mod identity;
mod ledger;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
mod precision;
mod privacy_report;
mod record;
mod replay;
mod results;
mod reuse;
mod runner;
mod statistics;
mod store;
mod summary;
pub mod sweep;
mod tables;
mod trace;
mod units;
mod whole_study;
mod workshop;

pub use compare::{Comparison, ComparisonRow, Side, compare};
pub use folder::{CellManifest, FOLDER_VERSION, FolderError, Manifest, RunFolder};
pub use gather::finish;
pub use ledger::{LedgerGroup, ledger_groups};
pub use plan::{CellPlan, Plan};
pub use precision::{Goal, Precision, play_until};
pub use privacy_report::{Loss, LossStanding, PrivacyRow};
pub use record::ReplicationRecord;
pub use replay::{Difference, Replay, replay};
pub use runner::{Failure, Options, Outcome, Progress, Start, play};
pub use statistics::Estimate;
pub use store::{Archive, Conflict};
pub use summary::{
    BoundRow, CellSummary, CurvePoint, GroupSummary, Metrics, OutcomeRow, PublishedRow, SCHEMA,
    SeriesSummary, Summary,
};
pub use trace::trace;
pub(crate) use units::units;
pub use whole_study::StudyPrivacy;
