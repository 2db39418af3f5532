//! Regret by group of agents, and the differences between groups.

use super::cells::rows;
use crate::report::document::{Block, Section, Table};
use crate::report::number::regret;
use crate::study::{CellSummary, GroupSummary, SeriesSummary, Summary};

/// An explanation of Jain's index.
const JAIN: &str = "Jain's index of the groups' simple regrets is 1 if all are equal, and 1 divided by the number of groups if only one is above 0";
/// An explanation of Jain's index for cohorts of users.
const JAIN_OF_COHORTS: &str = "regret is against the best arm of the user's own cohort; Jain's index of the cohorts' regrets per \
                               user is 1 if all are equal, and 1 divided by the number of cohorts if only one is above 0";

/// Whether the groups of a summary are cohorts of users.
fn are_cohorts(summary: &Summary) -> bool {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.groups);
    all.any(|group| group.regret_per_user.is_some())
}

/// Columns of the table of regrets of groups of agents.
const COLUMNS: [&str; 6] = ["group", "agents", "simple regret", "worst", "cumulative", "queries"];
/// Indices of the columns that a terminal shows without standard errors, because three columns with standard errors do not
/// fit into a terminal; summary.json has all standard errors.
const SHORTENED: [usize; 2] = [3, 4];
/// Columns of the table of regrets of cohorts of users.
const OF_COHORTS: [&str; 5] = ["cohort", "users", "simple regret", "cumulative", "per user"];
/// Indices of the columns of [`OF_COHORTS`] that a terminal shows without standard errors.
const SHORTENED_OF_COHORTS: [usize; 1] = [3];

/// Regret by group, then the worst group and Jain's index of each series; empty if no series has two groups.
pub(super) fn blocks(summary: &Summary) -> Vec<Block> {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    if all.all(|series| series.groups.len() < 2) {
        return Vec::new();
    }
    let mut blocks = regrets(summary);
    let remark = if are_cohorts(summary) { JAIN_OF_COHORTS } else { JAIN };
    blocks.extend([Block::Table(fairness(summary)), Block::remark(remark)]);
    blocks
}

/// Largest number of groups shown side by side in a terminal; of more groups only the worst is shown.
const BESIDE: usize = 4;

/// Regret by group, one line per series and cell: simple regret of agents, or cumulative regret per user of cohorts. `None`
/// if all series together have fewer than two groups.
pub(super) fn brief(summary: &Summary) -> Option<Section> {
    let mut names: Vec<&str> = Vec::new();
    for group in summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.groups) {
        if !names.contains(&group.group.as_str()) {
            names.push(&group.group);
        }
    }
    if names.len() < 2 {
        return None;
    }
    let beside = names.len() <= BESIDE;
    let cohorts = are_cohorts(summary);
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let of = |name: &&str| series.groups.iter().find(|group| group.group == *name);
        // A cohort without users in any replication has no regret per user.
        let of_group = |group: &GroupSummary| match cohorts {
            true => group.regret_per_user,
            false => Some(group.simple_regret),
        };
        let words = |group: Option<&GroupSummary>| group.and_then(of_group).map_or_else(String::new, regret);
        let worst = series.fairness.as_ref().map_or("", |found| &found.worst_group);
        let mut row: Vec<String> = match beside {
            true => names.iter().map(|name| words(of(name))).collect(),
            false => vec![worst.to_owned(), words(of(&worst))],
        };
        row.push(series.fairness.as_ref().map_or_else(String::new, |f| format!("{:.3}", f.jain_index)));
        let exact: Vec<_> = series.groups.iter().map(of_group).collect();
        (exact, row)
    };
    let found = rows(summary, numbers).filled();
    let mut columns = if beside { names } else { vec!["worst group", "its regret"] };
    columns.push("Jain's index");
    let heads = found.heads();
    let remark = found.remark();
    let title = match cohorts {
        true => "Cumulative regret per user, by cohort (mean ± standard error)",
        false => "Simple regret by group of agents (mean ± standard error)",
    };
    let jain = if cohorts { JAIN_OF_COHORTS } else { JAIN };
    let mut table = found.table(title, columns);
    table.columns[heads].number = beside;
    let blocks = std::iter::once(Block::Table(table)).chain(remark).chain([Block::remark(jain)]);
    Some(Section { blocks: blocks.collect(), ..Section::default() })
}

fn regrets(summary: &Summary) -> Vec<Block> {
    let cohorts = are_cohorts(summary);
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let row = |group: &GroupSummary| {
            if cohorts {
                let [simple, cumulative] = [group.simple_regret, group.cumulative_regret].map(regret);
                let users = format!("{:.1}", group.evaluations);
                // A cohort without users in any replication has no regret per user.
                let per_user = group.regret_per_user.map_or_else(String::new, regret);
                return vec![group.group.clone(), users, simple, cumulative, per_user];
            }
            vec![
                group.group.clone(),
                group.agents.to_string(),
                regret(group.simple_regret),
                regret(group.worst_simple_regret),
                regret(group.cumulative_regret),
                format!("{:.1}", group.evaluations),
            ]
        };
        let exact =
            |group: &GroupSummary| [group.simple_regret, group.worst_simple_regret, group.cumulative_regret];
        let exact: Vec<_> = series.groups.iter().map(exact).collect();
        (exact, series.groups.iter().flat_map(row).collect())
    };
    // `rows` needs all groups of a series in one row to find the axes on which the series' regrets depend; the row
    // is split afterwards.
    let mut found = rows(summary, numbers);
    let (heads, remark) = (found.heads(), found.remark());
    let (title, columns, shortened): (_, &[&str], &[usize]) = match cohorts {
        true => ("Regret by cohort of users", &OF_COHORTS, &SHORTENED_OF_COHORTS),
        false => ("Regret by group of agents", &COLUMNS, &SHORTENED),
    };
    let split = |row: Vec<String>| {
        let (head, groups) = row.split_at(heads);
        groups.chunks(columns.len()).map(|group| [head, group].concat()).collect::<Vec<_>>()
    };
    found.rows = found.rows.into_iter().flat_map(split).collect();
    let mut table = found.table(title, columns.iter().copied());
    table.columns[heads].number = false;
    table.heads = heads + 1;
    for &column in shortened {
        for row in &mut table.rows {
            let cell = &mut row.cells[heads + column];
            cell.short = cell.text().split(" ± ").next().unwrap_or_default().to_owned();
        }
    }
    std::iter::once(Block::Table(table)).chain(remark).collect()
}

fn fairness(summary: &Summary) -> Table {
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let found = series.fairness.as_ref();
        let words = found.map_or_else(Vec::new, |found| {
            vec![found.worst_group.clone(), format!("{:.3}", found.jain_index)]
        });
        (found.cloned(), words)
    };
    let found = rows(summary, numbers).filled();
    let heads = found.heads();
    let mut table = found.table("Differences between groups", ["worst group", "Jain's index"]);
    table.columns[heads].number = false;
    table
}
