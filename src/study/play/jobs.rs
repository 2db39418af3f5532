//! Replications that are still to be run. They are stored as ranges, because a list of all of them may not fit into memory.

use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;

/// Replications of cells in order, each a job with a number from 0.
#[derive(Debug, Default)]
pub(in crate::study) struct Jobs {
    runs: Vec<Run>,
    total: u64,
}

/// Consecutive replications of one cell.
#[derive(Clone, Copy, Debug)]
pub(in crate::study) struct Run {
    pub(in crate::study) cell: usize,
    pub(in crate::study) first: u64,
    pub(in crate::study) count: u64,
    /// Number of jobs in all earlier ranges.
    before: u64,
}

impl Jobs {
    /// The replications of a study that have no stored record.
    pub(in crate::study) fn missing(plan: &Plan, stored: &StoredRecords) -> Self {
        let mut jobs = Self::default();
        for cell in 0..plan.cells.len() {
            let mut next = 0;
            for replication in stored.replications(cell).take_while(|k| *k < plan.replications) {
                jobs.add(cell, next, replication - next);
                next = replication + 1;
            }
            jobs.add(cell, next, plan.replications - next);
        }
        jobs
    }

    /// Appends `count` replications of a cell, from `first` on.
    pub(in crate::study) fn add(&mut self, cell: usize, first: u64, count: u64) {
        if count > 0 {
            self.runs.push(Run { cell, first, count, before: self.total });
            self.total += count;
        }
    }

    pub(in crate::study) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(in crate::study) fn len(&self) -> u64 {
        self.total
    }

    /// Cell and replication of the job with the number `index`; `None` if there is no such job.
    pub(in crate::study) fn get(&self, index: u64) -> Option<(usize, u64)> {
        if index >= self.total {
            return None;
        }
        let run = self.runs[self.runs.partition_point(|run| run.before <= index) - 1];
        Some((run.cell, run.first + (index - run.before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_counted_and_found_without_a_list() {
        let mut jobs = Jobs::default();
        for (cell, first, count) in [(0, 0, 3), (0, 5, 0), (0, 7, 1), (2, 0, u64::MAX / 2)] {
            jobs.add(cell, first, count);
        }
        let found: Vec<_> = (0..6).map_while(|index| jobs.get(index)).collect();
        assert_eq!(found, [(0, 0), (0, 1), (0, 2), (0, 7), (2, 0), (2, 1)]);
        assert_eq!(jobs.len(), 4 + u64::MAX / 2);
        assert_eq!(jobs.get(jobs.len() - 1), Some((2, u64::MAX / 2 - 1)));
        assert_eq!(jobs.get(jobs.len()), None);
    }
}
