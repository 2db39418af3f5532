//! Numbers that series end with, beside what theorems say about them.

use super::style::{table, wrapped};
use crate::report::cells::rows;
use crate::report::number::{quantity_of, regret};
use crate::study::{OutcomeRow, Summary};

pub(super) fn section(out: &mut String, summary: &Summary) {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    let mut names: Vec<&str> = Vec::new();
    for outcome in all() {
        if !names.contains(&outcome.name.as_str()) {
            names.push(&outcome.name);
        }
    }
    for name in names {
        let bounded = all().any(|outcome| outcome.name == name && outcome.bound.is_some());
        let numbers = |row: Option<&OutcomeRow>| {
            let mut cells = vec![row.map_or_else(String::new, |row| regret(row.value))];
            if bounded {
                match row.and_then(|row| row.bound.as_ref()) {
                    Some(bound) => cells.extend([
                        quantity_of(bound.at_most),
                        percent(bound.probability),
                        percent(bound.held),
                    ]),
                    None => cells.extend([String::new(), String::new(), String::new()]),
                }
            }
            cells
        };
        let (axes, rows) =
            rows(summary, |_, series| numbers(series.outcomes.iter().find(|outcome| outcome.name == name)));
        let first_number = 1 + axes.len();
        // Series without this outcome are left out.
        let rows: Vec<_> = rows.into_iter().filter(|row| !row[first_number].is_empty()).collect();
        let mut header = vec!["series".to_owned()];
        header.extend(axes);
        header.push("mean".to_owned());
        if bounded {
            header.extend(["bound", "holds for", "held in"].map(str::to_owned));
        }
        table(out, &format!("{name} (mean ± standard error over replications)"), header, rows, first_number);
        let mut sources: Vec<&str> = Vec::new();
        for bound in all().filter(|outcome| outcome.name == name).filter_map(|row| row.bound.as_ref()) {
            if !sources.contains(&bound.source.as_str()) {
                sources.push(&bound.source);
            }
        }
        if !sources.is_empty() {
            wrapped(out, 2, &format!("bound: {}", sources.join("; ")));
        }
    }
}

/// A share as a percentage with one digit, never rounded up to 100.
fn percent(share: f64) -> String {
    if share >= 1.0 { "100 %".to_owned() } else { format!("{:.1} %", libm::floor(share * 1000.0) / 10.0) }
}
