//! Numbers that series end with, beside what theorems say about them: one table for each.

use super::cells::rows;
use super::number::{quantity_of, regret};
use crate::study::{OutcomeRow, Summary};

/// The table of one outcome.
pub(super) struct OutcomeTable {
    /// What it is, and what the columns are.
    pub(super) title: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The first column of numbers.
    pub(super) first_number: usize,
    /// Where its bounds are from; empty if it has none.
    pub(super) sources: Vec<String>,
}

/// All of them, in the order in which the protocols name them; nothing for most protocols.
pub(super) fn tables(summary: &Summary) -> Vec<OutcomeTable> {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    let mut names: Vec<&str> = Vec::new();
    for outcome in all() {
        if !names.contains(&outcome.name.as_str()) {
            names.push(&outcome.name);
        }
    }
    let table = |name: &str| {
        let here = || all().filter(|outcome| outcome.name == name);
        let bounded = here().any(|outcome| outcome.bound.is_some());
        let (axes, rows) = rows(summary, |_, series| {
            numbers(series.outcomes.iter().find(|outcome| outcome.name == name), bounded)
        });
        let first_number = 1 + axes.len();
        // Series without this outcome are left out.
        let rows = rows.into_iter().filter(|row| !row[first_number].is_empty()).collect();
        let mut header = vec!["series".to_owned()];
        header.extend(axes);
        header.push("mean".to_owned());
        if bounded {
            header.extend(["bound", "holds for", "held in"].map(str::to_owned));
        }
        let mut sources: Vec<String> = Vec::new();
        for bound in here().filter_map(|row| row.bound.as_ref()) {
            if !sources.contains(&bound.source) {
                sources.push(bound.source.clone());
            }
        }
        let title = format!("{name} (mean ± standard error over replications)");
        OutcomeTable { title, header, rows, first_number, sources }
    };
    names.into_iter().map(table).collect()
}

fn numbers(row: Option<&OutcomeRow>, bounded: bool) -> Vec<String> {
    let mut cells = vec![row.map_or_else(String::new, |row| regret(row.value))];
    if bounded {
        let bound = row.and_then(|row| row.bound.as_ref());
        cells.extend(bound.map_or_else(
            || vec![String::new(); 3],
            |bound| vec![quantity_of(bound.at_most), percent(bound.probability), percent(bound.held)],
        ));
    }
    cells
}

/// A share as a percentage with one digit, never rounded up.
fn percent(share: f64) -> String {
    if share >= 1.0 { "100 %".to_owned() } else { format!("{:.1} %", libm::floor(share * 1000.0) / 10.0) }
}
