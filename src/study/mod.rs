//! Replications, sweeps and their files: from a checked scenario to a folder from which the run can be continued, replayed
//! and reported.
//!
//! The module has five parts, each of which imports only from the parts before it: `plan` (cells and identities), `disk`
//! (the run folder), `results` (tables and summaries of the records), `play` (where replications are run) and `analysis`
//! (answers from whole studies).

mod analysis;
mod disk;
mod plan;
mod play;
mod results;

pub use analysis::crossing::{Crossing, Direction, Outcome as ThresholdOutcome, Probe, Sign};
pub use analysis::design::{Design, MOST_AXES};
pub use analysis::explain::{
    AxisShare, DesignedAxes, ExplainError, Explained, ExplainedAxis, ExplainedSeries, PairShare, design_key,
    explain,
};
pub use analysis::grid::{BadRange, Grid, Spacing};
pub use analysis::resampling::Share;
pub use analysis::tables::{keep_explained, keep_threshold};
pub use analysis::threshold::{Question, Threshold, Unended, threshold, written};
pub use disk::error::{Conflict, FolderError};
pub use disk::files;
pub use disk::first_messages::FirstMessages;
pub use disk::folder::RunFolder;
pub use disk::manifest::{CellManifest, FOLDER_VERSION, Manifest};
pub use disk::record::{Records, ReplicationRecord};
pub use disk::sign_error::{Change, SignError};
#[cfg(feature = "sign")]
pub use disk::signature::{sign, signed_by};
pub use disk::signed::{HASHES, NAMESPACE, SIGNATURE, Signed};
pub use disk::store::StoredRecords;
#[cfg(not(feature = "sign"))]
pub use disk::unsigned::{sign, signed_by};
pub use plan::cells::{CellPlan, Plan, programs_of};
pub use plan::file_name::file_safe;
pub use plan::fork_branches::{ForkBranch, ForkBranches, UNCHANGED};
pub use plan::identity::{BUILD, build_with};
pub use plan::needs::Needs;
pub use plan::program_versions::ask_programs;
pub(crate) use play::cell_runner::CellRunner;
pub use play::diff::{Cause, Divergence, EventWithCause, Side, diff};
pub use play::dry::{Answers, DrySeries, Quantiles, dry_run};
pub use play::fork::{BranchRow, Forked};
pub use play::precision::{Goal, Precision, play_until, unknown_metric, unknown_series, wrong_group};
pub use play::progress::{Failure, Options, Outcome, Progress, Start};
pub use play::replay::{Difference, DivergencePoint, Replay, replay};
pub use play::runner::play;
pub use play::simulate::{SimulateError, simulate};
pub use play::sweep;
pub use play::trace::trace;
pub use results::branch_comparison::compare_branches;
pub use results::comparable::CompareError;
pub use results::compare::{Compared, Comparison, ComparisonRow, compare};
pub use results::gather::{finish, so_far, write_summary};
pub use results::group_metric::{GroupError, WORST, check_group, metric_of_group};
pub use results::holm::holm;
pub use results::integrity::{Inconsistency, inconsistencies, summary_inconsistencies};
pub use results::ledger::{LedgerGroup, ledger_groups};
pub use results::persons::PersonLoss;
pub use results::power::Needed;
pub use results::privacy_report::PrivacyRow;
pub use results::published::{PublishedLossRow, PublishedRow};
pub use results::rounds::{DifferenceRow, TrackPoint, TrackRow};
pub use results::series::{
    BoundRow, CostErrors, CurvePoint, Fairness, GroupSummary, Metrics, OutcomeRow, SeriesSummary,
};
pub use results::statistics::Estimate;
pub use results::summary::{CellSummary, SCHEMA, Summary};
