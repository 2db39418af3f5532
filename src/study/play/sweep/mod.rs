//! One study on many machines: the study is divided into blocks, workers claim them in a shared folder, and a merge gathers
//! their results.
//!
//! ```text
//! work/plan.json               the blocks
//! work/claims/<block>.<n>      the worker that runs a block; n is the number of times that the block was taken over before
//! work/results/<block>.jsonl   records and failures of a block; complete or absent
//! work/conflicts/              the second results of blocks that were computed twice with different results
//! ```
//!
//! No particular scheduler is needed: Slurm, GNU parallel, ssh and Kubernetes can all start the same worker.

mod claims;
mod division;
mod error;
mod status;
mod worker;

pub use division::{PlannedSweep, plan_sweep};
pub use error::SweepError;
pub use status::{ClaimStatus, Status, status};
pub use worker::{HeartbeatTimes, WorkOptions, WorkerResult, work};

use crate::study::disk::answers;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::segment::Segment;
use crate::study::disk::store::{StoredRecords, no_conflict};
use crate::study::plan::cells::Plan;
use crate::study::play::jobs::Jobs;
use crate::study::play::reuse::copy_first_messages;
use crate::study::results::gather::finish;
use crate::study::results::summary::Summary;
use std::collections::{BTreeMap, BTreeSet};

/// Makes one run in `folder`, with summary and report, from the workers' results there and in `others`, which may contain
/// parts of the same study that were run elsewhere. The records are the same as if a single process had run the study, and
/// do not depend on the order of the folders. With `partial`, replications may be missing.
///
/// # Errors
/// [`SweepError::Incomplete`] if replications are missing, unless `partial`; a conflict if a replication has two different
/// results; any other [`SweepError`] if a file cannot be read or written.
pub fn merge(
    plan: &Plan,
    folder: &RunFolder,
    others: &[RunFolder],
    partial: bool,
) -> Result<Summary, SweepError> {
    let mut cells: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, cell) in plan.cells.iter().enumerate() {
        cells.entry(&cell.identity).or_default().push(index);
    }
    let mine = |_: usize, identity: &str| cells.get(identity).cloned().unwrap_or_default();
    let here = folder.stored_records(&plan.identities())?;
    let mut all = StoredRecords::empty();
    for place in std::iter::once(folder).chain(others) {
        for path in place.record_files() {
            all.add(&path, &mine)?;
        }
    }
    no_conflict(&all)?;
    let missing = Jobs::missing(plan, &all).len();
    if !partial && missing > 0 {
        let failed = all.failures()?.into_iter().filter(|(_, record)| record.replication < plan.replications);
        let failed = failed.map(|(cell, record)| {
            format!("cell {cell}, replication {}: {}", record.replication, record.failure)
        });
        return Err(SweepError::Incomplete { missing, failed: failed.collect() });
    }
    let segment = Segment::within(folder.file("segments"));
    for (cell, replication) in all.keys().filter(|key| key.1 < plan.replications) {
        if !here.holds(cell, replication)
            && let Some(line) = all.line(cell, replication)?
        {
            segment.append(&line)?;
        }
    }
    segment.close()?;
    for other in others {
        copy_first_messages(other, folder)?;
        // The report shows the fitted values, and a replay needs the fitted values with which the records were made.
        for preparation in plan.cells.iter().map(|cell| cell.preparation.as_str()).collect::<BTreeSet<_>>() {
            if let Some(fitted) = other.fitted(preparation)? {
                folder.keep_fitted(preparation, &fitted)?;
            }
        }
        for cell in plan.cells.iter().filter(|cell| !cell.programs.is_empty()) {
            answers::copy(other, folder, &cell.preparation)?;
        }
    }
    let summary = finish(plan, folder)?;
    if summary.complete {
        // All results in this folder have just been gathered. A file that cannot be removed does no harm.
        drop(std::fs::remove_dir_all(folder.file("work")));
    }
    Ok(summary)
}
