//! Forks of replications: a common beginning is played once, its state is copied, and each branch continues with its own
//! changes.

use crate::protocols::{Fork, ForkPoint, ForkStates, RunOptions, SeriesRecord};
use crate::scenario::fork::changed_series;
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::prepare::prepare_folder;
use crate::study::disk::record::{Records, ReplicationRecord};
use crate::study::disk::store::{self, Segment};
use crate::study::plan::cells::Plan;
use crate::study::play::cell_runner::CellRunner;
use crate::study::play::progress::Failure;
use crate::study::results::gather::finish;
use crate::study::results::statistics::Estimate;
use crate::study::results::summary::Summary;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The branches of one plan.
#[derive(Debug)]
pub struct Forked {
    /// Name and records of each branch, the unchanged one first.
    pub branches: Vec<(String, Records)>,
    /// Mean virtual time at which branches begin, in seconds, by cell and series.
    pub reached: Vec<Vec<f64>>,
}

/// The results of one series of one cell in one branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BranchRow {
    /// Position of the cell.
    pub cell: usize,
    /// Name of the series.
    pub series: String,
    /// Name of the branch.
    pub branch: String,
    /// Simple regret at the end.
    pub simple_regret: Option<Estimate>,
    /// Cumulative regret at the end.
    pub cumulative_regret: Option<Estimate>,
    /// Cumulative regret minus that of the same replication in the unchanged branch, over the replications that reached the
    /// end in both. Absent for the unchanged branch.
    pub difference: Option<Estimate>,
    /// Cumulative regret divided by the number of questions; absent where a protocol asks none.
    pub regret_per_question: Option<Estimate>,
    /// Number of questions in each replication.
    #[serde(skip)]
    pub questions: Vec<Option<f64>>,
    /// Virtual seconds from start to end, the mean over replications.
    pub virtual_seconds: f64,
    /// Messages sent, the mean over replications.
    pub messages: f64,
    /// Messages lost, the mean over replications.
    pub messages_lost: f64,
    /// Number of replications with exactly the events of the unchanged branch.
    pub unchanged: u64,
    /// Why a replication ended before its last round: the reason of the first such replication.
    pub ended_early: Option<String>,
}

/// Plays the beginning of every replication once, and all branches from `point` on: first the unchanged `plan`, then each of
/// `branches`, which are plans with the same cells and permitted differences ([`crate::scenario::fork::settled`],
/// [`crate::scenario::fork::other_readers`]).
///
/// # Errors
/// The first [`Failure`]; a series that ends before `point` is a failure too.
///
/// # Panics
/// If a branch has another number of cells than the plan.
pub fn fork(
    plan: &Plan,
    point: ForkPoint,
    branches: &[(String, Plan)],
    done: &(dyn Fn() + Sync),
) -> Result<Forked, Failure> {
    assert!(branches.iter().all(|(_, branch)| branch.cells.len() == plan.cells.len()), "the same cells");
    let runners: Vec<CellRunner<'_>> =
        (0..plan.cells.len()).map(|cell| CellRunner::without_folder(cell, &plan.cells[cell], plan)).collect();
    let jobs: Vec<(usize, u64)> = (0..plan.cells.len())
        .flat_map(|cell| (0..plan.replications).map(move |replication| (cell, replication)))
        .collect();
    let played: Vec<(Vec<ReplicationRecord>, Vec<f64>)> = jobs
        .par_iter()
        .with_max_len(1)
        .map(|&(cell, replication)| {
            let worlds = ForkStates::default();
            // The branches of a replication share its programs.
            let programs = runners[cell].programs(replication);
            let directed =
                |fork| RunOptions { fork: Some(fork), programs: programs.clone(), ..RunOptions::default() };
            let trunk = Fork::Trunk(point, worlds.clone());
            let mut records = vec![runners[cell].play_directed(replication, None, directed(trunk))?];
            let reached = records[0].series.iter();
            let reached =
                reached.map(|s| worlds.reached(&s.name).map_or(f64::NAN, |at| at.seconds())).collect();
            for (_, branch) in branches {
                let runner = runners[cell].beside(&branch.cells[cell]);
                let drafts = [&plan.cells[cell], &branch.cells[cell]].map(|cell| cell.scenario.draft());
                let changed = changed_series(drafts[0], drafts[1]);
                let fork = Fork::Branch(worlds.clone(), Arc::new(changed));
                records.push(runner.play_directed(replication, None, directed(fork))?);
            }
            done();
            Ok((records, reached))
        })
        .collect::<Result<_, Failure>>()?;
    let names = std::iter::once("unchanged").chain(branches.iter().map(|(name, _)| name.as_str()));
    let mut forked = Forked {
        branches: names.map(|name| (name.to_owned(), vec![BTreeMap::new(); plan.cells.len()])).collect(),
        reached: vec![Vec::new(); plan.cells.len()],
    };
    for ((cell, replication), (records, reached)) in jobs.into_iter().zip(played) {
        for (place, record) in records.into_iter().enumerate() {
            forked.branches[place].1[cell].insert(replication, record);
        }
        let sums = &mut forked.reached[cell];
        sums.resize(reached.len(), 0.0);
        let share = 1.0 / plan.replications as f64;
        sums.iter_mut().zip(reached).for_each(|(sum, seconds)| *sum += share * seconds);
    }
    Ok(forked)
}

/// Stores the records of all branches in one run folder, with the tables and the summary of a study that has a cell for each
/// branch of each cell. `plan` is made by [`Plan::of_futures`] from the same branches.
///
/// # Errors
/// [`FolderError`] if the folder cannot be written.
pub fn keep_futures(plan: &Plan, folder: &RunFolder, forked: Forked) -> Result<Summary, FolderError> {
    prepare_folder(plan, folder)?;
    let segment = Segment::within(folder.file("segments"));
    let branches = forked.branches.len();
    for (place, (_, records)) in forked.branches.into_iter().enumerate() {
        for (cell, records) in records.into_iter().enumerate() {
            let cell = cell * branches + place;
            for mut record in records.into_values() {
                record.identity.clone_from(&plan.cells[cell].identity);
                let body = serde_json::to_string(&record).expect("a record is plain data with text keys");
                segment.append(&store::line(cell, &body))?;
            }
        }
    }
    segment.close()?;
    finish(plan, folder)
}

impl Forked {
    /// One row for every cell, series and branch.
    #[must_use]
    pub fn rows(&self) -> Vec<BranchRow> {
        let mut rows = Vec::new();
        let cells = self.branches[0].1.len();
        for cell in 0..cells {
            let trunk = &self.branches[0].1[cell];
            let count = trunk.values().next().map_or(0, |record| record.series.len());
            for series in 0..count {
                for (place, (branch, records)) in self.branches.iter().enumerate() {
                    let pairs = records[cell].values().zip(trunk.values());
                    let pairs: Vec<(&SeriesRecord, &SeriesRecord)> =
                        pairs.map(|(own, base)| (&own.series[series], &base.series[series])).collect();
                    rows.push(row(cell, branch, place > 0, &pairs));
                }
            }
        }
        rows
    }
}

fn row(cell: usize, branch: &str, changed: bool, pairs: &[(&SeriesRecord, &SeriesRecord)]) -> BranchRow {
    let mean = |of: fn(&SeriesRecord) -> f64| {
        pairs.iter().map(|(own, _)| of(own)).sum::<f64>() / pairs.len().max(1) as f64
    };
    let last = |of: fn(&crate::protocols::Iteration) -> f64| {
        let values: Vec<f64> = pairs.iter().filter_map(|(own, _)| own.at_the_end().map(of)).collect();
        Estimate::of(&values)
    };
    let differences: Vec<f64> = pairs
        .iter()
        .filter_map(|(own, base)| {
            Some(own.at_the_end()?.cumulative_regret - base.at_the_end()?.cumulative_regret)
        })
        .collect();
    let per_question: Vec<f64> = pairs
        .iter()
        .filter_map(|(own, _)| {
            let questions = own.questions.filter(|asked| *asked > 0.0)?;
            Some(own.at_the_end()?.cumulative_regret / questions)
        })
        .collect();
    BranchRow {
        cell,
        series: pairs.first().map_or_else(String::new, |(own, _)| own.name.clone()),
        branch: branch.to_owned(),
        simple_regret: last(|iteration| iteration.simple_regret),
        cumulative_regret: last(|iteration| iteration.cumulative_regret),
        difference: if changed { Estimate::of(&differences) } else { None },
        regret_per_question: Estimate::of(&per_question),
        questions: pairs.iter().map(|(own, _)| own.questions).collect(),
        virtual_seconds: mean(|record| record.virtual_seconds),
        messages: mean(|record| record.messages as f64),
        messages_lost: mean(|record| record.messages_lost as f64),
        unchanged: pairs.iter().filter(|(own, base)| own.digest == base.digest).count() as u64,
        ended_early: pairs.iter().find_map(|(own, _)| own.ended_early.clone()),
    }
}
