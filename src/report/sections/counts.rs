//! The table of a protocol's own counts, besides regret and messages.

use super::cells::{Rows, rows};
use crate::report::document::Table;
use crate::report::number::quantity;
use crate::study::{CellSummary, SeriesSummary, Summary};

/// The table; `None` if no protocol has counts.
pub(super) fn table(summary: &Summary) -> Option<Table> {
    let mut names: Vec<&String> = Vec::new();
    for series in summary.cells.iter().flat_map(|cell| &cell.series) {
        for name in series.metrics.counts.keys() {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        return None;
    }
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let count =
            |name: &&String| series.metrics.counts.get(*name).map_or_else(String::new, |n| quantity(*n));
        let exact = series.metrics.counts.values().map(|count| count.to_bits()).collect::<Vec<u64>>();
        (exact, names.iter().map(count).collect())
    };
    let Rows { axes, rows, .. } = rows(summary, numbers);
    let first_number = 1 + axes.len();
    let mut header = vec!["series".to_owned()];
    header.extend(axes);
    header.extend(names.into_iter().cloned());
    Some(Table::new("Counts of the protocol (mean of a run)", header, rows, first_number))
}
