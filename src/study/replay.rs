//! Plays a finished run again and compares digests.

use super::folder::RunFolder;
use super::plan::Plan;
use super::record::ReplicationRecord;
use super::runner::Failure;
use super::workshop::Workshop;
use crate::protocols::SeriesRecord;
use rayon::prelude::*;
use std::fmt;

/// Where a replay differs from its run.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Position of the cell in the study.
    pub cell: usize,
    /// Number of the replication.
    pub replication: u64,
    /// Name of the series.
    pub series: String,
    /// The first evaluation that differs, in words; absent if all agree and only the order or timing of events
    /// differs.
    pub first: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}, replication {}, series \"{}\": ", self.cell, self.replication, self.series)?;
        match &self.first {
            Some(first) => f.write_str(first),
            None => f.write_str("all evaluations agree, but messages or timers differ"),
        }
    }
}

/// The result of a replay.
#[derive(Debug)]
pub struct Replay {
    /// Replications played again.
    pub compared: u64,
    /// Where they differ.
    pub differences: Vec<Difference>,
    /// Replications that could not be played again.
    pub failures: Vec<Failure>,
}

/// Plays every recorded replication again, in parallel on the current thread pool, and compares.
#[must_use]
pub fn replay(
    plan: &Plan,
    folder: &RunFolder,
    records: &[Vec<ReplicationRecord>],
    done: &(dyn Fn() + Sync),
) -> Replay {
    let workshops: Vec<Workshop<'_>> =
        plan.cells.iter().enumerate().map(|(index, cell)| Workshop::new(index, cell, plan, folder)).collect();
    let jobs: Vec<(usize, &ReplicationRecord)> = records
        .iter()
        .enumerate()
        .flat_map(|(cell, records)| records.iter().map(move |record| (cell, record)))
        .collect();
    let results: Vec<Result<Vec<Difference>, Failure>> = jobs
        .par_iter()
        .with_max_len(1)
        .map(|&(cell, old)| {
            let new = workshops[cell].play(old.replication)?;
            done();
            Ok(differences(cell, old, &new))
        })
        .collect();
    let mut replay = Replay { compared: 0, differences: Vec::new(), failures: Vec::new() };
    for result in results {
        match result {
            Ok(found) => {
                replay.compared += 1;
                replay.differences.extend(found);
            }
            Err(failure) => replay.failures.push(failure),
        }
    }
    replay
}

fn differences(cell: usize, old: &ReplicationRecord, new: &ReplicationRecord) -> Vec<Difference> {
    old.series
        .iter()
        .zip(&new.series)
        .filter(|(old, new)| old.digest != new.digest)
        .map(|(before, after)| Difference {
            cell,
            replication: old.replication,
            series: before.name.clone(),
            first: first_difference(before, after),
        })
        .collect()
}

fn first_difference(old: &SeriesRecord, new: &SeriesRecord) -> Option<String> {
    let pair = old.iterations.iter().zip(&new.iterations).find(|(old, new)| old != new);
    if let Some((old, new)) = pair {
        return Some(format!(
            "round {}: the run evaluated arm {} (outcome {}) at {} s, the replay arm {} (outcome {}) at {} s",
            old.t, old.arm, old.outcome, old.seconds, new.arm, new.outcome, new.seconds
        ));
    }
    (old.iterations.len() != new.iterations.len()).then(|| {
        format!("the run made {} evaluations, the replay {}", old.iterations.len(), new.iterations.len())
    })
}
