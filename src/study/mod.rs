//! Replications, sweeps and their files: from a checked scenario to a folder that can be resumed, replayed and
//! reported on.

pub mod audit;
pub mod files;
mod folder;
mod identity;
mod ledger;
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

pub use folder::{CellManifest, FOLDER_VERSION, FolderError, Manifest, RunFolder};
pub use ledger::{LedgerGroup, ledger_groups};
pub use plan::{CellPlan, Plan};
pub use privacy_report::{Loss, LossStanding, PrivacyRow};
pub use record::{ReplicationRecord, digest_of};
pub use replay::{Difference, Replay, replay};
pub use runner::{Failure, Options, Outcome, Progress, Records, play, write_summary};
pub use statistics::Estimate;
pub use summary::{
    BoundRow, CellSummary, CurvePoint, GroupSummary, Metrics, OutcomeRow, PublishedRow, SCHEMA,
    SeriesSummary, Summary,
};
pub use trace::trace;
pub(crate) use units::units;
pub use whole_study::StudyPrivacy;
