//! How groups of agents fared: a table for page and terminal, and how unequally.

use super::cells::{axes, point};
use super::number::regret;
use crate::study::{SeriesSummary, Summary};

/// The table's title.
pub(super) const TITLE: &str = "Regret by group of agents";
/// What Jain's index is.
pub(super) const JAIN: &str =
    "Jain's index is 1 when all groups fare alike, and 1/groups when one bears it all";

/// A table of groups, and what is to be said of each series.
pub(super) struct Groups {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The first column of numbers.
    pub(super) first_number: usize,
    /// The group that fared worst and Jain's index, one text per series and cell.
    pub(super) notes: Vec<String>,
}

/// None where no series has two groups.
pub(super) fn groups(summary: &Summary) -> Option<Groups> {
    let all = || summary.cells.iter().flat_map(|cell| cell.series.iter().map(move |series| (cell, series)));
    if all().all(|(_, series)| series.groups.len() < 2) {
        return None;
    }
    let mut header = vec!["series".to_owned(), "group".to_owned()];
    header.extend(axes(summary));
    let first_number = header.len();
    header.extend(["agents", "simple regret", "worst", "cumulative", "queries"].map(str::to_owned));
    let mut rows = Vec::new();
    for (cell, series) in all() {
        for group in &series.groups {
            let mut row = vec![series.name.clone(), group.group.clone()];
            row.extend(point(cell));
            row.extend([
                group.agents.to_string(),
                regret(group.simple_regret),
                regret(group.worst_simple_regret),
                regret(group.cumulative_regret),
                format!("{:.1}", group.evaluations),
            ]);
            rows.push(row);
        }
    }
    let note = |(_, series): (_, &SeriesSummary)| {
        let fairness = series.fairness.as_ref()?;
        Some(format!(
            "{}: worst group {}; Jain's index of the groups' regrets {:.3}",
            series.name, fairness.worst_group, fairness.jain_index
        ))
    };
    Some(Groups { header, rows, first_number, notes: all().filter_map(note).collect() })
}
