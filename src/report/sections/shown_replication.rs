//! The one replication that some pictures show: its name, and the commands that show another one.

use super::points::Axes;
use crate::report::document::Span;
use crate::study::{ReplicationRecord, Summary};
use crate::vocab::counted;

/// One replication of one cell.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShownReplication<'a> {
    /// The cell, counted from 0.
    pub(super) cell: usize,
    /// The replication.
    pub(super) record: &'a ReplicationRecord,
}

impl ShownReplication<'_> {
    /// Its name: "replication 0" or "cell 2 (epsilon = 1.0), replication 0".
    pub(super) fn name(&self, summary: &Summary) -> String {
        let replication = format!("replication {}", self.record.replication);
        let Some(cell) = summary.cells.get(self.cell).filter(|_| summary.cells.len() > 1) else {
            return replication;
        };
        format!("cell {} ({}), {replication}", self.cell, Axes::of(summary).axis_values(cell).join(", "))
    }

    /// Sentences that say which replication is shown and, if the run has others, which commands show another one.
    pub(super) fn others(&self, summary: &Summary) -> Vec<Span> {
        let replications =
            summary.cells.iter().flat_map(|cell| &cell.series).map(|series| series.replications).max();
        let cells = summary.cells.len() as u64;
        let shown = format!(
            "Shown: {}. The run has {} of {}. ",
            self.name(summary),
            counted(cells, "cell"),
            counted(replications.unwrap_or(0), "replication")
        );
        let (cell, replication) = (self.cell as u64, self.record.replication);
        let which = match (cells, replications.unwrap_or(0)) {
            (0 | 1, 0 | 1) => return vec![Span::plain(shown.trim_end())],
            (0 | 1, _) => format!("--replication {}", u64::from(replication == 0)),
            _ => format!("--cell {} --replication 0", u64::from(cell == 0)),
        };
        vec![
            Span::plain(shown),
            Span::code(format!("subrosa report RUN {which}")),
            Span::plain(" makes this page with another one (counted from 0); "),
            Span::code(format!("subrosa trace SCENARIO {which} --format svg")),
            Span::plain(" draws its messages."),
        ]
    }
}
