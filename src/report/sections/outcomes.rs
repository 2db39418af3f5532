//! The section on outcomes: numbers at the end of a series, with theorems' bounds on them.

use super::cells::{Rows, rows};
use super::lines::capital;
use super::outcome_charts;
use crate::report::document::{Block, Section, Table};
use crate::report::number::{quantity_of, regret};
use crate::report::words::outcome;
use crate::study::{OutcomeRow, Summary};

/// The section, with charts if `charts`; `None` without outcomes, which most protocols do not have.
pub(super) fn section(summary: &Summary, charts: bool) -> Option<Section> {
    let tables = tables(summary);
    if tables.is_empty() {
        return None;
    }
    let bounded = tables.iter().any(|(_, sources, alone)| *alone && !sources.is_empty());
    let mut blocks = Vec::new();
    for (table, remarks, alone) in tables {
        blocks.push(Block::Table(table));
        if !remarks.is_empty() {
            let said = remarks.join("; ");
            blocks.push(Block::remark(if alone { format!("bound: {said}") } else { said }));
        }
    }
    if charts {
        blocks.extend(outcome_charts::figures(summary).into_iter().map(Block::Figure));
    }
    let title = if bounded { "Outcomes and their bounds" } else { "Outcomes" };
    Some(Section::new("outcomes", "Outcomes", title, blocks))
}

/// Explanations of groups of outcomes, by the name that the outcomes of a group share before ": ".
const NOTES: [(&str, &str); 2] = [
    (
        "PO-GP-UCB's design rule",
        "Computed from the inputs for the reader of this simulation: no party learns it, and it is no release. Whoever chooses \
         r by it reveals something about the inputs for which the ledger does not account. lifted: 1 if sigma_min < omega; C' \
         is that of \
         Theorem 2; largest r: without a lift, 0 if there is none.",
    ),
    (
        "PO-GP-UCB's Theorem 3",
        "r asked for: the least for any epsilon_ucb. dominant to: outcomes up to which the covariance of the rows asked for is \
         diagonally dominant (Definition 3). Terms: roots of the summands, with constant 1 in C1 and C2; epsilon_ucb is \
         empty where r allows none. in force: 1 if every assumption holds in every run; only then its bound is shown.",
    ),
];

/// The group of an outcome and its name within it, such as "rule" and "a" of "rule: a"; `None` for an outcome without a group.
fn group(name: &str) -> Option<(&str, &str)> {
    name.split_once(": ")
}

/// A whole number below 1e5, such as a count or a flag, without decimal places; any other number with four digits.
fn whole_or(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e5 { format!("{value}") } else { quantity_of(value) }
}

/// A table of a group's outcomes side by side, without errors, and the explanation of the group.
fn side_by_side(summary: &Summary, of: &str, names: &[&str]) -> (Table, Vec<String>) {
    let members: Vec<&str> =
        names.iter().copied().filter(|name| group(name).is_some_and(|(first, _)| first == of)).collect();
    let Rows { axes, rows, .. } = rows(summary, |_, series| {
        let value = |name: &&str| {
            let found = series.outcomes.iter().find(|outcome| outcome.name == *name);
            found.map_or_else(String::new, |outcome| whole_or(outcome.value.mean))
        };
        let exact: Vec<_> = members
            .iter()
            .map(|name| series.outcomes.iter().find(|outcome| outcome.name == *name).cloned())
            .collect();
        (exact, members.iter().map(value).collect())
    });
    let first_number = 1 + axes.len();
    let told = |row: &Vec<String>| row[first_number..].iter().any(|cell| !cell.is_empty());
    let rows = rows.into_iter().filter(told).collect();
    let mut header = vec!["series".to_owned()];
    header.extend(axes);
    header.extend(members.iter().filter_map(|name| Some(group(name)?.1.to_owned())));
    let note = NOTES.iter().find(|(known, _)| *known == of).map(|(_, note)| (*note).to_owned());
    (
        Table::new(format!("{of} (means over replications)"), header, rows, first_number),
        note.into_iter().collect(),
    )
}

/// A table of each outcome or group of outcomes, in the order in which they first occur. Each has its remarks (the sources of
/// bounds, or the explanation of the group), and whether it is a single outcome.
fn tables(summary: &Summary) -> Vec<(Table, Vec<String>, bool)> {
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
        let Rows { axes, rows, .. } = rows(summary, |_, series| {
            let found = series.outcomes.iter().find(|outcome| outcome.name == name);
            (found.cloned(), numbers(found, bounded))
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
        let words = outcome(name);
        let formula = if words == name { String::new() } else { format!("{name}; ") };
        let title = format!("{} ({formula}mean ± standard error over replications)", capital(words));
        (Table::new(title, header, rows, first_number), sources)
    };
    let mut groups: Vec<&str> = Vec::new();
    let mut found = Vec::new();
    for name in &names {
        match group(name) {
            Some((of, _)) if groups.contains(&of) => {}
            Some((of, _)) => {
                groups.push(of);
                let (table, notes) = side_by_side(summary, of, &names);
                found.push((table, notes, false));
            }
            None => {
                let (table, sources) = table(name);
                found.push((table, sources, true));
            }
        }
    }
    found
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

/// A share as a percentage with one decimal place, rounded down.
fn percent(share: f64) -> String {
    if share >= 1.0 { "100 %".to_owned() } else { format!("{:.1} %", libm::floor(share * 1000.0) / 10.0) }
}
