//! The progress of a sweep, and the claims of its workers. A block is a group of replications that one worker runs. A
//! claim is a worker's lock file on a block.

use super::claims::{Claim, ClaimTable};
use super::division::Division;
use super::error::SweepError;
use crate::study::disk::folder::RunFolder;
use crate::study::plan::cells::Plan;
use serde::Serialize;
use std::time::Duration;

/// A claim on a block that is not finished.
#[derive(Clone, Debug, Serialize)]
pub struct ClaimStatus {
    /// The block.
    pub block: u64,
    /// Number of times that the block was taken over.
    pub taken_over: u64,
    /// Machine and process of the worker.
    pub worker: String,
    /// Seconds since the last heartbeat of the worker, by the file system's clock.
    pub silent_seconds: f64,
}

/// The progress of a sweep.
#[derive(Clone, Debug, Serialize)]
pub struct Status {
    /// Number of blocks of the stored division of the study, `work/plan.json`.
    pub blocks: u64,
    /// Number of finished blocks.
    pub blocks_finished: u64,
    /// Number of replications of the whole study.
    pub replications: u64,
    /// Number of finished replications.
    pub replications_finished: u64,
    /// The replications that failed, each with the reason.
    pub failed: Vec<String>,
    /// Number of damaged records.
    pub damaged: u64,
    /// Replications with two different results.
    pub conflicts: Vec<String>,
    /// The latest claim on each block that is not finished; blocks without a claim are not listed.
    pub claims: Vec<ClaimStatus>,
    /// Estimate of the seconds left, from the number of finished blocks and the time since `work/plan.json` was written;
    /// absent before the first block is finished.
    pub seconds_left: Option<f64>,
}

/// Reads the progress of a sweep.
///
/// # Errors
/// [`SweepError`] if `work/plan.json` is missing, damaged or made for another study, or if a file cannot be read.
pub fn status(plan: &Plan, folder: &RunFolder) -> Result<Status, SweepError> {
    let division = Division::of(plan, folder)?;
    let table = ClaimTable::new(folder, division.blocks(), 0);
    let claims = table.latest()?;
    let finished = table.finished()?;
    let stored = folder.stored_records(&plan.identities())?;
    let open = claims.into_iter().filter(|(block, _)| !finished.contains(block));
    let claims = open.filter_map(|(block, generation)| {
        let (holder, silent) = table.holder(Claim { block, generation })?;
        Some(ClaimStatus {
            block,
            taken_over: generation,
            worker: format!("{}:{}", holder.host, holder.process),
            silent_seconds: silent.as_secs_f64(),
        })
    });
    let failed = stored.failures()?.into_iter();
    let failed = failed
        .map(|(cell, record)| format!("cell {cell}, replication {}: {}", record.replication, record.failure));
    let left = division.blocks().saturating_sub(finished.len() as u64);
    let planned = std::fs::metadata(folder.file("work").join("plan.json")).and_then(|file| file.modified());
    let since =
        planned.ok().and_then(|planned| planned.elapsed().ok()).map(|since: Duration| since.as_secs_f64());
    let pace = since.filter(|_| !finished.is_empty()).map(|since| since / finished.len() as f64);
    Ok(Status {
        blocks: division.blocks(),
        blocks_finished: finished.len() as u64,
        replications: plan.total(),
        replications_finished: stored.finished(plan.replications),
        failed: failed.collect(),
        damaged: stored.damaged,
        conflicts: stored.conflicts.iter().map(ToString::to_string).collect(),
        claims: claims.collect(),
        seconds_left: pace.map(|pace| pace * left as f64),
    })
}
