//! What a protocol counted beside regret and messages: a table for page and terminal.

use super::cells::rows;
use super::number::quantity;
use crate::study::{CellSummary, SeriesSummary, Summary};

/// Header, rows, and how many columns stand before the first number; none if no protocol counted anything.
pub(super) fn counts(summary: &Summary) -> Option<(Vec<String>, Vec<Vec<String>>, usize)> {
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
        names.iter().map(count).collect()
    };
    let (axes, rows) = rows(summary, numbers);
    let first_number = 1 + axes.len();
    let mut header = vec!["series".to_owned()];
    header.extend(axes);
    header.extend(names.into_iter().cloned());
    Some((header, rows, first_number))
}

/// The table's title.
pub(super) const TITLE: &str = "Counts of the protocol (mean of a run)";
