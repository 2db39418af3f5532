//! One replication played for somebody who watches every event; nothing is kept.

use super::plan::Plan;
use super::record::ReplicationRecord;
use super::runner::Failure;
use super::workshop::Workshop;
use crate::protocols::Watcher;

/// Plays one replication of a cell; `watcher` sees every event of every series in order.
///
/// # Errors
/// [`Failure`] as in a run.
pub fn trace(
    plan: &Plan,
    cell: usize,
    replication: u64,
    watcher: Watcher,
) -> Result<ReplicationRecord, Failure> {
    Workshop::without_folder(cell, &plan.cells[cell], plan).play_watched(replication, Some(watcher))
}
