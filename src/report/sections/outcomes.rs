//! Numbers at the end of series, with theorems' bounds on them.

use super::cells::rows;
use super::outcome_charts;
use crate::report::document::{Block, Section, Table};
use crate::report::number::{quantity_of, regret};
use crate::study::{OutcomeRow, Summary};

/// The section, with charts where they can be shown; `None` for most protocols, which have no outcomes.
pub(super) fn section(summary: &Summary, charts: bool) -> Option<Section> {
    let tables = tables(summary);
    if tables.is_empty() {
        return None;
    }
    let bounded = tables.iter().any(|(_, sources)| !sources.is_empty());
    let mut blocks = Vec::new();
    for (table, sources) in tables {
        blocks.push(Block::Table(table));
        if !sources.is_empty() {
            blocks.push(Block::remark(format!("bound: {}", sources.join("; "))));
        }
    }
    if charts {
        blocks.extend(outcome_charts::figures(summary).into_iter().map(Block::Figure));
    }
    let title = if bounded { "Outcomes and their bounds" } else { "Outcomes" };
    Some(Section::new("outcomes", "Outcomes", title, blocks))
}

/// A table of each outcome and where its bounds are from, in the order in which the protocols name them.
fn tables(summary: &Summary) -> Vec<(Table, Vec<String>)> {
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
        (Table::new(title, header, rows, first_number), sources)
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
