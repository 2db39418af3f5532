//! Replications, sweeps and their files: from a checked scenario to a folder that can be resumed, replayed and
//! reported on.

pub mod audit;
mod bounds;
mod diff;
mod dry;
pub mod files;
mod folder;
mod fork;
mod identity;
mod ledger;
mod opening;
mod plan;
mod privacy_report;
mod record;
mod replay;
mod runner;
mod statistics;
mod summary;
mod tables;
mod trace;
mod units;
mod whole_study;

pub use diff::{Cause, Divergence, Side, Told, diff};
pub use dry::{Answers, DrySeries, Spread, dry_run};
pub use folder::{CellManifest, FOLDER_VERSION, FolderError, Manifest, RunFolder};
pub use fork::{BranchRow, Forked, fork};
pub use ledger::{LedgerGroup, ledger_groups};
pub use opening::Opening;
pub use plan::{CellPlan, Plan};
pub use privacy_report::{Loss, LossStanding, PrivacyRow};
pub use record::{ReplicationRecord, digest_of};
pub use replay::{Difference, Parting, Replay, replay};
pub use runner::{Failure, Options, Outcome, Progress, Records, play, write_summary};
pub use statistics::Estimate;
pub use summary::{
    BoundRow, CellSummary, CurvePoint, Fairness, GroupSummary, Metrics, OutcomeRow, PublishedRow, SCHEMA,
    SeriesSummary, Summary,
};
pub use trace::trace;
pub(crate) use units::units;
pub use whole_study::StudyPrivacy;
