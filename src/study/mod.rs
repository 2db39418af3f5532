//! Replications, sweeps and their files: from a checked scenario to a folder that can be resumed, replayed and
//! reported on.

mod bounds;
mod diff;
mod dry;
pub mod files;
mod finite;
mod compare;
mod folder;
mod fork;
mod gather;
mod identity;
mod integrity;
mod jobs;
mod ledger;
mod loss;
mod opening;
#[cfg(feature = "parquet")]
mod parquet;
mod persons;
mod plan;
mod precision;
mod privacy_report;
mod privacy_table;
mod published;
mod record;
mod replay;
mod results;
mod reuse;
mod runner;
mod simulate;
mod statistics;
mod store;
mod summary;
pub mod sweep;
mod tables;
mod trace;
mod units;
mod whole_study;
mod workshop;

pub use compare::{Compared, Comparison, ComparisonRow, compare};
pub use diff::{Cause, Divergence, Side, Told, diff};
pub use dry::{Answers, DrySeries, Spread, dry_run};
pub use folder::{CellManifest, FOLDER_VERSION, FolderError, Manifest, RunFolder};
pub use fork::{BranchRow, Forked, fork};
pub use gather::{finish, write_summary};
pub use identity::BUILD;
pub use integrity::{Misfit, misfits, summary_misfits};
pub use ledger::{LedgerGroup, ledger_groups};
pub use loss::{Loss, LossStanding, basis_for, multiple, standing};
pub use opening::Opening;
pub use persons::PersonLoss;
pub use plan::{CellPlan, Plan};
pub use precision::{Goal, Precision, play_until, unknown_metric};
pub use privacy_report::PrivacyRow;
pub use published::{PublishedLossRow, PublishedRow};
pub use record::{Records, ReplicationRecord};
pub use replay::{Difference, Parting, Replay, replay};
pub use runner::{Failure, Options, Outcome, Progress, Start, play};
pub use simulate::{SimulateError, simulate};
pub use statistics::Estimate;
pub use store::{Archive, Conflict};
pub use summary::{
    BoundRow, CellSummary, CurvePoint, Fairness, GroupSummary, Metrics, OutcomeRow, SCHEMA, SeriesSummary,
    Summary,
};
pub use trace::trace;
pub(crate) use units::units;
pub use whole_study::StudyPrivacy;
pub(crate) use workshop::Workshop;
