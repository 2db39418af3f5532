//! The memory and time that a cell of a study takes, and the problem if the memory exceeds the limit of a run.

use crate::objectives::RunLimits;
use crate::vocab::{Effort, Memory, Problem};

/// The memory and time that the replications of a cell take.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// Memory and time of the work that all replications share.
    pub shared: Effort,
    /// Memory and time of the work of each replication.
    pub each: Effort,
}

/// Bytes of the program itself: its code, tables and the text of reports.
const PROGRAM: f64 = 14.0 * 1_048_576.0;

/// Bytes of a cell: its text, its parties, its place in tables.
const CELL: f64 = 12_000.0;

/// Bytes that a cell's curves take in the report, for each byte of one replication's record.
const CURVES: f64 = 3.3;

impl Demand {
    /// An estimate of the largest number of bytes in use while this cell, one of `cells`, runs `replications` replications
    /// on `threads` threads.
    #[must_use]
    pub fn bytes(&self, replications: u64, cells: usize, threads: u64) -> f64 {
        let jobs = replications.saturating_mul(cells as u64).min(threads) as f64;
        let records = replications as f64 * self.each.record;
        let results = (CELL + CURVES * self.each.record) * cells as f64;
        PROGRAM + results + self.shared.bytes + jobs * self.each.bytes + records
    }

    /// The problem if [`Self::bytes`] exceeds the memory limit. The problem is reported at the field `replications` if the
    /// records of the replications take more memory than any other count that the scenario states; otherwise at the field of
    /// the count that takes most of the memory.
    pub(super) fn problem(&self, replications: u64, cells: usize, limits: RunLimits) -> Option<Problem> {
        let bytes = self.bytes(replications, cells, limits.threads);
        if bytes <= limits.memory.0 as f64 {
            return None;
        }
        let records = replications as f64 * self.each.record;
        let most = self.shared.clone().and(self.each.clone().times(limits.threads as f64)).most;
        let (path, value) = match most.filter(|most| most.bytes >= records) {
            Some(most) => (most.path.trim_start_matches('/').to_owned(), most.value),
            None => ("replications".to_owned(), replications),
        };
        let found = Memory::of(bytes);
        let raised = Memory::of(bytes * 1.2 + 1e6).to_string().replace(' ', "");
        Some(Problem::wrong(
            path,
            format!("a run of at most {}", limits.memory),
            format!("{value}, with which it takes about {found}"),
            format!("lower it, use fewer threads, or allow more memory: --memory {raised}"),
        ))
    }
}
