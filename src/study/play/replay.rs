//! Runs stored replications again and compares the results with their records.

use crate::protocols::{CheckpointRecord, RunOptions, SeriesRecord};
use crate::study::disk::first_messages;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::ReplicationRecord;
use crate::study::plan::cells::Plan;
use crate::study::play::branches::{self, Branches};
use crate::study::play::cell_runner::{CellRunner, recorded};
use crate::study::play::progress::Failure;
use crate::vocab::Time;
use rayon::prelude::*;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// A difference of a replay from its run.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Position of the cell in the study.
    pub cell: usize,
    /// Number of the replication.
    pub replication: u64,
    /// Name of the series.
    pub series: String,
    /// The first difference in words: an evaluation that differs, a field that was changed in the record, or a series that
    /// is missing. Absent if all evaluations agree, and only other events differ.
    pub first: Option<String>,
    /// The checkpoints of the record between which the first event that differs lies. Absent if the series is missing, if
    /// the record has no checkpoints, or if the replay ran to the end and no event differs. A replay that stops at a time
    /// `until` compares events only at checkpoints. In such a replay, the field is present even if all checkpoints agree.
    pub divergence: Option<DivergencePoint>,
}

/// The checkpoints between which a run and its replay first differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DivergencePoint {
    /// The last checkpoint up to which all events are the same; absent if there is no such checkpoint.
    pub same: Option<CheckpointRecord>,
    /// The first checkpoint up to which some event differs; absent if all checkpoints agree, so that only later events can
    /// differ.
    pub differs: Option<CheckpointRecord>,
}

impl fmt::Display for DivergencePoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |checkpoint: &CheckpointRecord| checkpoint.nanos as f64 / 1e9;
        let after = match &self.same {
            Some(same) => format!("the first {} events (until {} s) agree", same.events, seconds(same)),
            None => String::from("no checkpoint agrees"),
        };
        match &self.differs {
            Some(differs) if differs.events == self.same.as_ref().map_or(0, |same| same.events) + 1 => {
                write!(f, "{after}; event {} at {} s differs", differs.events, seconds(differs))
            }
            Some(differs) => {
                write!(
                    f,
                    "{after}; an event up to number {} at {} s differs",
                    differs.events,
                    seconds(differs)
                )
            }
            None => write!(f, "{after}; a later event differs"),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cell {}, replication {}, series \"{}\": ", self.cell, self.replication, self.series)?;
        match &self.first {
            Some(first) => f.write_str(first)?,
            None => f.write_str("all evaluations agree, but messages or timers differ")?,
        }
        match &self.divergence {
            Some(divergence) => write!(f, "; {divergence}"),
            None => Ok(()),
        }
    }
}

/// The result of a replay.
#[derive(Debug)]
pub struct Replay {
    /// Number of replications that were run again.
    pub compared: u64,
    /// The differences between the repeated replications and their records.
    pub differences: Vec<Difference>,
    /// Replications that could not be run again.
    pub failures: Vec<Failure>,
    /// Names of files whose events differ from the events of the repeated replications. Records do not hold single events,
    /// so the comparison of records does not cover these files.
    pub files: Vec<&'static str>,
}

/// Runs every recorded replication again, in parallel on the current thread pool, and compares the records. If the digests
/// of a series are equal, every field of the series is compared, otherwise only evaluations and checkpoints. With `until`,
/// replications are run only up to that virtual time, and only evaluations and checkpoints are compared. The branches of a
/// fork are run to their end, from one common beginning; `until` must be `None` for a forked study.
#[must_use]
pub fn replay(
    plan: &Plan,
    folder: &RunFolder,
    records: &[Vec<ReplicationRecord>],
    until: Option<Time>,
    done: &(dyn Fn() + Sync),
) -> Replay {
    let runners: Vec<CellRunner<'_>> = plan
        .cells
        .iter()
        .enumerate()
        .map(|(index, cell)| CellRunner::new(index, cell, plan, folder).repeating(None))
        .collect();
    // One job for each record; in a forked study, one job for all branches of a replication together.
    let branches = plan.fork.as_ref().map(Branches::of);
    let mut jobs: BTreeMap<(usize, u64), Vec<Option<&ReplicationRecord>>> = BTreeMap::new();
    let size = branches.as_ref().map_or(1, Branches::len);
    for (cell, records) in records.iter().enumerate() {
        for record in records {
            let first = cell - cell % size;
            jobs.entry((first, record.replication)).or_insert_with(|| vec![None; size])[cell - first] =
                Some(record);
        }
    }
    let compare = |cell: usize, old: &ReplicationRecord, new: Result<ReplicationRecord, Failure>| {
        let new = new?;
        done();
        Ok(differences(cell, old, &new, until))
    };
    let jobs: Vec<_> = jobs.into_iter().collect();
    // Whether the replay gives other events for the report's message diagram. No record holds these events.
    let opening_differs = AtomicBool::new(false);
    let results: Vec<Vec<Result<Vec<Difference>, Failure>>> = jobs
        .par_iter()
        .with_max_len(1)
        .map(|(job, old)| {
            let (first, replication) = *job;
            let Some(branches) = &branches else {
                let runner = &runners[first];
                let whole = old.iter().flatten().map(|&old| {
                    let options = RunOptions { until, programs: recorded(old), ..RunOptions::default() };
                    let beginning = (*job == (0, 0) && until.is_none()).then(|| runner.beginning());
                    let new = runner.play_with(replication, beginning.clone(), options);
                    let made = beginning.and_then(|beginning| runner.first_messages(replication, &beginning));
                    if made.is_some_and(|made| folder.first_messages_differ(&made)) {
                        opening_differs.store(true, Ordering::Relaxed);
                    }
                    compare(first, old, new)
                });
                return whole.collect();
            };
            let played = branches::replay(plan, branches, &runners[first], *job, old);
            let both = played.into_iter().filter_map(|(cell, new)| match old[cell - first] {
                Some(old) => Some(compare(cell, old, new)),
                None => new.err().map(Err),
            });
            both.collect()
        })
        .collect();
    let mut replay = Replay { compared: 0, differences: Vec::new(), failures: Vec::new(), files: Vec::new() };
    if opening_differs.into_inner() {
        replay.files.push(first_messages::FILE);
    }
    for result in results.into_iter().flatten() {
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

fn differences(
    cell: usize,
    old: &ReplicationRecord,
    new: &ReplicationRecord,
    until: Option<Time>,
) -> Vec<Difference> {
    let difference = |series: &SeriesRecord, first: Option<String>, divergence: Option<DivergencePoint>| {
        Difference { cell, replication: old.replication, series: series.name.clone(), first, divergence }
    };
    let both = old.series.iter().zip(&new.series).filter_map(|(old, new)| {
        let evaluation = first_difference(old, new, until);
        if until.is_some() || old.digest != new.digest {
            let divergence = differing_checkpoints(old, new, until);
            let agrees = |point: &DivergencePoint| point.differs.is_none();
            let same = until.is_some() && divergence.as_ref().is_none_or(agrees);
            return (!same || evaluation.is_some()).then(|| difference(old, evaluation, divergence));
        }
        let place = field(&plain(old), &plain(new))?;
        let told = format!(
            "{place} is not what the replay has, though every event is the same: the record was changed after the run"
        );
        Some(difference(old, Some(evaluation.map_or(told.clone(), |first| format!("{first}; {told}"))), None))
    });
    let rest = old.series.iter().skip(new.series.len()).map(|series| (series, "the replay"));
    let rest = rest.chain(new.series.iter().skip(old.series.len()).map(|series| (series, "the run")));
    let alone = rest.map(|(series, who)| difference(series, Some(format!("{who} has no such series")), None));
    both.chain(alone).collect()
}

fn plain(series: &SeriesRecord) -> Value {
    serde_json::to_value(series).expect("a record is plain data with text keys")
}

/// The path of the first field in which two values differ, such as `iterations[0].simple_regret`; `None` if they are equal.
fn field(old: &Value, new: &Value) -> Option<String> {
    let below = |step: String, inner: String| {
        let dot = if inner.is_empty() || inner.starts_with('[') { "" } else { "." };
        format!("{step}{dot}{inner}")
    };
    match (old, new) {
        (Value::Object(one), Value::Object(other)) => {
            let names = one.keys().chain(other.keys().filter(|name| !one.contains_key(*name)));
            names.into_iter().find_map(|name| match (one.get(name), other.get(name)) {
                (Some(old), Some(new)) => field(old, new).map(|inner| below(name.clone(), inner)),
                _ => Some(name.clone()),
            })
        }
        (Value::Array(one), Value::Array(other)) => {
            let pairs = one.iter().zip(other).enumerate();
            let mut inside = pairs.filter_map(|(index, (old, new))| {
                field(old, new).map(|inner| below(format!("[{index}]"), inner))
            });
            let length = (one.len() != other.len()).then(|| format!("[{}]", one.len().min(other.len())));
            inside.next().or(length)
        }
        (old, new) => (old != new).then(String::new),
    }
}

/// The checkpoints between which two records first differ, among the checkpoints that both have; `None` if the old record
/// has no checkpoints.
fn differing_checkpoints(
    old: &SeriesRecord,
    new: &SeriesRecord,
    until: Option<Time>,
) -> Option<DivergencePoint> {
    let mut same = None;
    for checkpoint in &old.checkpoints {
        if until.is_some_and(|until| checkpoint.nanos > until.nanos()) {
            break;
        }
        match new.checkpoints.iter().find(|other| other.events == checkpoint.events) {
            Some(other) if other == checkpoint => same = Some(checkpoint.clone()),
            Some(_) => return Some(DivergencePoint { same, differs: Some(checkpoint.clone()) }),
            None => {}
        }
    }
    (!old.checkpoints.is_empty()).then_some(DivergencePoint { same, differs: None })
}

fn first_difference(old: &SeriesRecord, new: &SeriesRecord, until: Option<Time>) -> Option<String> {
    let pair = old.iterations.iter().zip(&new.iterations).find(|(old, new)| old != new);
    if let Some((old, new)) = pair {
        return Some(format!(
            "round {}: the run evaluated arm {} (outcome {}) at {} s, the replay arm {} (outcome {}) at {} s",
            old.t, old.arm, old.outcome, old.seconds, new.arm, new.outcome, new.seconds
        ));
    }
    (until.is_none() && old.iterations.len() != new.iterations.len()).then(|| {
        format!("the run made {} evaluations, the replay {}", old.iterations.len(), new.iterations.len())
    })
}
