//! An estimate of the memory and time that a whole study takes, from the demands of its cells.

use crate::study::plan::cells::Plan;
use serde::Serialize;
use std::collections::BTreeSet;

/// The memory and time that a study takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Needs {
    /// Number of threads, and so of replications that are run at the same time.
    pub threads: u64,
    /// Largest number of bytes of memory in use at any time.
    pub bytes: u64,
    /// Processor time of all threads together, in seconds, on a machine like that of docs/reliability.md.
    pub seconds: f64,
}

/// Seconds that it takes to start the program and to write the report.
const PROGRAM: f64 = 0.015;
/// Seconds that each cell takes in tables and figures.
const CELL: f64 = 0.002;
/// Seconds that each byte of a record takes: it is written, read again and summarised.
const RECORD: f64 = 30e-9;

impl Plan {
    /// An estimate for this study, if it is run on `threads` threads.
    #[must_use]
    pub fn needs(&self, threads: u64) -> Needs {
        let (cells, replications) = (self.cells.len(), self.replications);
        let mut prepared = BTreeSet::new();
        let mut needs = Needs { threads, bytes: 0, seconds: PROGRAM + CELL * cells as f64 };
        for cell in &self.cells {
            let demand = cell.scenario.demand();
            needs.bytes = needs.bytes.max(demand.bytes(replications, cells, threads) as u64);
            if prepared.insert(&cell.preparation) {
                needs.seconds += demand.shared.seconds;
            }
            let each = demand.each.seconds + RECORD * demand.each.record;
            needs.seconds += replications as f64 * each + demand.each.accounted;
        }
        needs
    }
}
