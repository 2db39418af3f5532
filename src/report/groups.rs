//! How groups of agents fared, and how unequally: tables for page and terminal.

use super::cells::rows;
use super::number::regret;
use crate::study::{CellSummary, Estimate, GroupSummary, SeriesSummary, Summary};

/// What Jain's index is.
pub(super) const JAIN: &str =
    "Jain's index of the groups' simple regrets is 1 when all fare alike, and 1/groups when one bears it all";

/// One table.
pub(super) struct GroupTable {
    pub(super) title: &'static str,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
    /// The first column of numbers.
    pub(super) first_number: usize,
}

/// Regret by group, then the worst group and Jain's index of each series; nothing where no series has two groups.
/// `further` shows the regrets beside the mean simple one.
pub(super) fn tables(summary: &Summary, further: fn(Estimate) -> String) -> Vec<GroupTable> {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    if all.all(|series| series.groups.len() < 2) {
        return Vec::new();
    }
    vec![regrets(summary, further), fairness(summary)]
}

fn regrets(summary: &Summary, further: fn(Estimate) -> String) -> GroupTable {
    const COLUMNS: [&str; 6] = ["group", "agents", "simple regret", "worst", "cumulative", "queries"];
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let row = |group: &GroupSummary| {
            [
                group.group.clone(),
                group.agents.to_string(),
                regret(group.simple_regret),
                further(group.worst_simple_regret),
                further(group.cumulative_regret),
                format!("{:.1}", group.evaluations),
            ]
        };
        series.groups.iter().flat_map(row).collect()
    };
    // The groups of a series stand together, so they are one row until it is known which axes matter to it.
    let (axes, wide) = rows(summary, numbers);
    let heads = 1 + axes.len();
    let split = |row: Vec<String>| {
        let (head, groups) = row.split_at(heads);
        groups.chunks(COLUMNS.len()).map(|group| [head, group].concat()).collect::<Vec<_>>()
    };
    GroupTable {
        title: "Regret by group of agents",
        header: header(axes, &COLUMNS),
        rows: wide.into_iter().flat_map(split).collect(),
        first_number: heads + 1,
    }
}

fn fairness(summary: &Summary) -> GroupTable {
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let found = series.fairness.as_ref();
        found.map_or_else(Vec::new, |found| {
            vec![found.worst_group.clone(), format!("{:.3}", found.jain_index)]
        })
    };
    let (axes, mut rows) = rows(summary, numbers);
    let heads = 1 + axes.len();
    rows.retain(|row| row.len() > heads);
    GroupTable {
        title: "How unequally groups fared",
        header: header(axes, &["worst group", "Jain's index"]),
        rows,
        first_number: heads + 1,
    }
}

fn header(axes: Vec<String>, columns: &[&str]) -> Vec<String> {
    let first = std::iter::once("series".to_owned());
    first.chain(axes).chain(columns.iter().map(|&name| name.to_owned())).collect()
}
