//! The report in a terminal of 80 columns, without colour.

mod network;
mod privacy;
mod regret;
mod style;

use crate::study::{CellSummary, SeriesSummary, Summary};
use style::{line, wrapped};

/// The whole report, at most 80 columns wide, without colour.
#[must_use]
pub fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let cells = summary.cells.len();
    let replications = summary.cells.iter().flat_map(|cell| &cell.series).map(|s| s.replications).max();
    line(
        &mut out,
        &format!(
            "{}: {cells} cell{}, {} replications, seed {}",
            summary.scenario,
            if cells == 1 { "" } else { "s" },
            replications.unwrap_or(0),
            summary.seed
        ),
    );
    line(&mut out, &format!("digest {}", summary.digest));
    line(&mut out, &format!("folder {}", summary.run));
    regret::section(&mut out, summary);
    network::section(&mut out, summary);
    privacy::section(&mut out, summary);
    early_endings(&mut out, summary);
    out
}

/// The names of the study's axes, in order.
fn axes(summary: &Summary) -> Vec<String> {
    summary.cells.first().map(|cell| cell.point.keys().cloned().collect()).unwrap_or_default()
}

fn point(cell: &CellSummary) -> Vec<String> {
    let show = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => {
            number.as_f64().filter(|v| v.fract() != 0.0).map_or_else(|| number.to_string(), short)
        }
        other => other.to_string(),
    };
    cell.point.values().map(show).collect()
}

/// A number as written, cut to five significant digits.
fn short(value: f64) -> String {
    let digits = format!("{value}");
    if digits.len() <= 7 { digits } else { format!("{value:.4}") }
}

/// Cells of the study with one of their series, series by series, so that a column reads along the axes.
fn by_series(summary: &Summary) -> Vec<Vec<(&CellSummary, &SeriesSummary)>> {
    let mut groups: Vec<Vec<(&CellSummary, &SeriesSummary)>> = Vec::new();
    for cell in &summary.cells {
        for series in &cell.series {
            match groups.iter_mut().find(|group| group[0].1.name == series.name) {
                Some(group) => group.push((cell, series)),
                None => groups.push(vec![(cell, series)]),
            }
        }
    }
    groups
}

/// Rows of a table: series, point, numbers. A series whose numbers are the same in all cells gets one row.
fn rows(
    summary: &Summary,
    numbers: impl Fn(&CellSummary, &SeriesSummary) -> Vec<String>,
) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for group in by_series(summary) {
        let name = group[0].1.name.clone();
        let found: Vec<Vec<String>> = group.iter().map(|(cell, series)| numbers(cell, series)).collect();
        let same = found.len() > 1 && found.iter().all(|row| *row == found[0]);
        for ((cell, _), numbers) in group.iter().zip(found) {
            let point = if same { vec!["any".to_owned(); cell.point.len()] } else { point(cell) };
            rows.push([vec![name.clone()], point, numbers].concat());
            if same {
                break;
            }
        }
    }
    rows
}

fn early_endings(out: &mut String, summary: &Summary) {
    for (cell, series) in by_series(summary).into_iter().flatten() {
        if let Some(reason) = &series.ended_early_because {
            let place =
                cell.point.iter().map(|(name, value)| format!(" at {name} = {value}")).collect::<String>();
            wrapped(
                out,
                0,
                &format!(
                    "warning: {} of {} replications of \"{}\"{place} ended early; the first: {reason}",
                    series.ended_early, series.replications, series.name
                ),
            );
        }
    }
}
