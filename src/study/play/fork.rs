//! The comparison of a fork's branches, from their records.

use crate::protocols::SeriesRecord;
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::Records;
use crate::study::plan::cells::Plan;
use crate::study::plan::fork_branches::UNCHANGED;
use crate::study::results::statistics::Estimate;
use serde::Serialize;

/// The records of a fork, by branch.
#[derive(Debug)]
pub struct Forked {
    /// Name and records of each branch, the unchanged branch first.
    pub branches: Vec<(String, Records)>,
    /// Mean virtual time at which the branches begin, in seconds, by cell and series; NaN if a record does not state it.
    pub reached: Vec<Vec<f64>>,
}

/// The results of one series of one cell in one branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BranchRow {
    /// Position of the cell in the study without the fork.
    pub cell: usize,
    /// Name of the series.
    pub series: String,
    /// Name of the branch.
    pub branch: String,
    /// Simple regret at the end, over the replications that reached the end; absent if none did.
    pub simple_regret: Option<Estimate>,
    /// Cumulative regret at the end, over the replications that reached the end; absent if none did.
    pub cumulative_regret: Option<Estimate>,
    /// Cumulative regret minus the cumulative regret of the same replication in the unchanged branch, over the replications
    /// that reached the end in both branches. Absent for the unchanged branch, and if there are no such replications.
    pub difference: Option<Estimate>,
    /// Cumulative regret divided by the number of questions, over the replications that reached the end and asked
    /// questions; absent if there are none.
    pub regret_per_question: Option<Estimate>,
    /// Number of queries in each replication, without initial points; in a federation, the mean over agents. `None` where
    /// nothing is optimised.
    #[serde(skip)]
    pub questions: Vec<Option<f64>>,
    /// Virtual seconds from start to end, the mean over replications.
    pub virtual_seconds: f64,
    /// Messages sent, the mean over replications.
    pub messages: f64,
    /// Messages lost, the mean over replications.
    pub messages_lost: f64,
    /// Number of replications that have exactly the events of the unchanged branch.
    pub unchanged: u64,
    /// Why a replication ended before its last round: the reason of the first such replication.
    pub ended_early: Option<String>,
}

impl Forked {
    /// Reads the records of a fork. `plan` is made by [`Plan::of_branches`]. A plan without a fork counts as a single
    /// branch, the unchanged one.
    ///
    /// # Errors
    /// [`FolderError`] if records cannot be read.
    pub fn read(plan: &Plan, folder: &RunFolder) -> Result<Self, FolderError> {
        let stored = folder.stored_records(&plan.identities())?;
        let branches = plan.fork.iter().flat_map(|fork| &fork.branches);
        let mut names: Vec<String> = branches.map(|branch| branch.name.clone()).collect();
        if names.is_empty() {
            names.push(UNCHANGED.to_owned());
        }
        let count = names.len();
        let mut branches: Vec<(String, Records)> =
            names.into_iter().map(|name| (name, Records::new())).collect();
        for cell in 0..plan.cells.len() {
            let mut records = stored.cell(cell)?;
            records.retain(|&replication, _| replication < plan.replications);
            branches[cell % count].1.push(records);
        }
        let reached = branches[0].1.iter().map(|records| {
            let mut sums: Vec<f64> = Vec::new();
            for series in records.values().map(|record| &record.series) {
                sums.resize(series.len(), 0.0);
                let times = series.iter().map(|series| series.forked_at.unwrap_or(f64::NAN));
                sums.iter_mut().zip(times).for_each(|(sum, time)| *sum += time / records.len() as f64);
            }
            sums
        });
        Ok(Self { reached: reached.collect(), branches })
    }

    /// One row for every cell, series and branch. A branch has no row if none of its replications has a record in the
    /// unchanged branch too.
    #[must_use]
    pub fn rows(&self) -> Vec<BranchRow> {
        let mut rows = Vec::new();
        let cells = self.branches[0].1.len();
        for cell in 0..cells {
            let trunk = &self.branches[0].1[cell];
            let count = trunk.values().next().map_or(0, |record| record.series.len());
            for series in 0..count {
                for (place, (branch, records)) in self.branches.iter().enumerate() {
                    // A replication that failed in a branch is left out of that branch alone; one that failed in the
                    // unchanged branch is left out of all branches.
                    let both = records[cell].values();
                    let both = both.filter_map(|own| Some((own, trunk.get(&own.replication)?)));
                    let pairs: Vec<(&SeriesRecord, &SeriesRecord)> =
                        both.map(|(own, base)| (&own.series[series], &base.series[series])).collect();
                    if !pairs.is_empty() {
                        rows.push(row(cell, branch, place > 0, &pairs));
                    }
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
