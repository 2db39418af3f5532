//! The cells of a study in the order and grouping that people read them in.

use crate::study::{CellSummary, PrivacyRow, SeriesSummary, Summary};

/// The names of the study's axes, in order.
pub(super) fn axes(summary: &Summary) -> Vec<String> {
    summary.cells.first().map(|cell| cell.point.keys().cloned().collect()).unwrap_or_default()
}

pub(super) fn point(cell: &CellSummary) -> Vec<String> {
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
pub(super) fn by_series(summary: &Summary) -> Vec<Vec<(&CellSummary, &SeriesSummary)>> {
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
pub(super) fn rows(
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

/// Rows of all cells, those that agree in everything once, with the points where they hold; series together.
pub(super) fn merged(summary: &Summary) -> Vec<(&PrivacyRow, Vec<String>)> {
    let mut merged: Vec<(&PrivacyRow, Vec<String>)> = Vec::new();
    for cell in &summary.cells {
        let place = point(cell).join(", ");
        for entry in &cell.privacy {
            match merged.iter_mut().find(|(known, _)| *known == entry) {
                Some((_, places)) => places.push(place.clone()),
                None => merged.push((entry, vec![place.clone()])),
            }
        }
    }
    let mut names: Vec<&String> = Vec::new();
    for (entry, _) in &merged {
        if !names.contains(&&entry.series) {
            names.push(&entry.series);
        }
    }
    let order = |entry: &PrivacyRow| names.iter().position(|name| **name == entry.series);
    merged.sort_by_key(|(entry, _)| order(entry));
    merged
}
