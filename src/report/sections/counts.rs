//! The table of a protocol's own counts, besides regret and messages.

use super::cells::rows;
use crate::report::document::Block;
use crate::report::number::quantity;
use crate::study::{CellSummary, SeriesSummary, Summary};

/// The table; empty if no series has counts.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let mut names: Vec<&String> = Vec::new();
    for series in summary.cells.iter().flat_map(|cell| &cell.series) {
        for name in series.metrics.counts.keys() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return Vec::new();
    }
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let count =
            |name: &&String| series.metrics.counts.get(*name).map_or_else(String::new, |n| quantity(*n));
        let exact: Vec<Option<u64>> =
            names.iter().map(|name| series.metrics.counts.get(*name).map(|count| count.to_bits())).collect();
        (exact, names.iter().map(count).collect())
    };
    let found = rows(summary, numbers);
    let remark = found.remark();
    let table = found.table("Counts of the protocol (mean over replications)", names.into_iter().cloned());
    std::iter::once(Block::Table(table)).chain(remark).collect()
}
