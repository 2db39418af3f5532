//! Runs one replication and passes every event to a watcher; nothing is stored.

use crate::protocols::Watcher;
use crate::study::disk::record::ReplicationRecord;
use crate::study::plan::cells::Plan;
use crate::study::play::cell_runner::CellRunner;
use crate::study::play::progress::Failure;

/// Runs one replication of a cell. `watcher` is called with every event of every series, in order.
///
/// # Errors
/// [`Failure`] as in a run.
pub fn trace(
    plan: &Plan,
    cell: usize,
    replication: u64,
    watcher: Watcher,
) -> Result<ReplicationRecord, Failure> {
    CellRunner::without_folder(cell, &plan.cells[cell], plan).play_watched(replication, Some(watcher))
}
