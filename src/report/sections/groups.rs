//! Regret by group of agents, and the differences between groups.

use super::cells::rows;
use crate::report::document::{Block, Table};
use crate::report::number::regret;
use crate::study::{CellSummary, GroupSummary, SeriesSummary, Summary};

/// What Jain's index is.
const JAIN: &str =
    "Jain's index of the groups' simple regrets is 1 if all are equal, and 1/groups if only one is above 0";

/// Columns of the table of regrets, and which of them have a shorter form without the error: three errors in a row do
/// not fit into a terminal, and they are in summary.json.
const COLUMNS: [&str; 6] = ["group", "agents", "simple regret", "worst", "cumulative", "queries"];
const SHORTENED: [usize; 2] = [3, 4];

/// Regret by group, then the worst group and Jain's index of each series; empty if no series has two groups.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    if all.all(|series| series.groups.len() < 2) {
        return Vec::new();
    }
    vec![Block::Table(regrets(summary)), Block::Table(fairness(summary)), Block::remark(JAIN)]
}

fn regrets(summary: &Summary) -> Table {
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let row = |group: &GroupSummary| {
            [
                group.group.clone(),
                group.agents.to_string(),
                regret(group.simple_regret),
                regret(group.worst_simple_regret),
                regret(group.cumulative_regret),
                format!("{:.1}", group.evaluations),
            ]
        };
        series.groups.iter().flat_map(row).collect()
    };
    // The groups of a series are one row until it is known on which axes the series depends.
    let (axes, wide) = rows(summary, numbers);
    let heads = 1 + axes.len();
    let split = |row: Vec<String>| {
        let (head, groups) = row.split_at(heads);
        groups.chunks(COLUMNS.len()).map(|group| [head, group].concat()).collect::<Vec<_>>()
    };
    let rows = wide.into_iter().flat_map(split).collect();
    let mut table = Table::new("Regret by group of agents", header(axes, &COLUMNS), rows, heads + 1);
    for column in SHORTENED {
        for row in &mut table.rows {
            let cell = &mut row.cells[heads + column];
            cell.short = cell.text().split(" ± ").next().unwrap_or_default().to_owned();
        }
    }
    table
}

fn fairness(summary: &Summary) -> Table {
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let found = series.fairness.as_ref();
        found.map_or_else(Vec::new, |found| {
            vec![found.worst_group.clone(), format!("{:.3}", found.jain_index)]
        })
    };
    let (axes, mut rows) = rows(summary, numbers);
    let heads = 1 + axes.len();
    rows.retain(|row| row.len() > heads);
    Table::new("Differences between groups", header(axes, &["worst group", "Jain's index"]), rows, heads + 1)
}

fn header(axes: Vec<String>, columns: &[&str]) -> Vec<String> {
    let first = std::iter::once("series".to_owned());
    first.chain(axes).chain(columns.iter().map(|&name| name.to_owned())).collect()
}
