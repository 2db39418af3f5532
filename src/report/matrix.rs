//! Who learned what about whom at which points of a study: every row shows all that was learned there.

use super::cells::point;
use super::words::unit;
use crate::study::{PrivacyRow, Summary};

/// One line of the matrix: one kind of unit of one party in one series, at the points where the same was learned.
pub(super) struct MatrixRow<'a> {
    pub(super) series: &'a str,
    /// The unit and its owner in words.
    pub(super) whose: String,
    /// The points where the row holds, in the order of the cells.
    pub(super) places: Vec<String>,
    /// What each observer learned there, in the order of the observers.
    pub(super) learned: Vec<Learned<'a>>,
}

/// What one observer learned in one row.
pub(super) enum Learned<'a> {
    /// These entries hold at every point of the row.
    Entries(Vec<&'a PrivacyRow>),
    /// Nothing was released to it here, but something about the same at these other points.
    Elsewhere(Vec<String>),
    /// Nothing about these units was released to it anywhere in the study.
    Nothing,
}

/// The observers in the order in which they first occur, and the rows: series in their order, and the same unit of the
/// same party at different points in a row.
pub(super) fn matrix(summary: &Summary) -> (Vec<&str>, Vec<MatrixRow<'_>>) {
    let mut observers: Vec<&str> = Vec::new();
    let mut kinds: Vec<(&str, String)> = Vec::new();
    for entry in summary.cells.iter().flat_map(|cell| &cell.privacy) {
        if !observers.contains(&entry.observer.as_str()) {
            observers.push(&entry.observer);
        }
        let kind = (entry.series.as_str(), whose(entry));
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    let mut order: Vec<&str> = Vec::new();
    for (series, _) in &kinds {
        if !order.contains(series) {
            order.push(series);
        }
    }
    kinds.sort_by_key(|(series, _)| order.iter().position(|name| name == series));
    let rows = kinds.iter().flat_map(|(series, whose)| rows(summary, &observers, series, whose)).collect();
    (observers, rows)
}

fn whose(entry: &PrivacyRow) -> String {
    format!("{} of {}", unit(&entry.unit), entry.protected)
}

/// The rows of one kind of unit: cells with the same entries of all observers are one.
fn rows<'a>(
    summary: &'a Summary,
    observers: &[&'a str],
    series: &'a str,
    whose_units: &str,
) -> Vec<MatrixRow<'a>> {
    let mut found: Vec<(Vec<Vec<&PrivacyRow>>, Vec<String>)> = Vec::new();
    for cell in &summary.cells {
        let here = |observer: &str| -> Vec<&PrivacyRow> {
            let about = |entry: &&PrivacyRow| {
                entry.series == series && entry.observer == observer && whose(entry) == whose_units
            };
            cell.privacy.iter().filter(about).collect()
        };
        let entries: Vec<Vec<&PrivacyRow>> = observers.iter().map(|observer| here(observer)).collect();
        if entries.iter().all(Vec::is_empty) {
            continue;
        }
        let place = point(cell).join(", ");
        match found.iter_mut().find(|(known, _)| *known == entries) {
            Some((_, places)) => places.push(place),
            None => found.push((entries, vec![place])),
        }
    }
    let elsewhere = |index: usize| -> Vec<String> {
        let others = found.iter().filter(|(entries, _)| !entries[index].is_empty());
        others.flat_map(|(_, places)| places.clone()).collect()
    };
    let row = |(entries, places): &(Vec<Vec<&'a PrivacyRow>>, Vec<String>)| {
        let learned = entries.iter().enumerate().map(|(index, entries)| match elsewhere(index) {
            _ if !entries.is_empty() => Learned::Entries(entries.clone()),
            others if others.is_empty() => Learned::Nothing,
            others => Learned::Elsewhere(others),
        });
        MatrixRow {
            series,
            whose: whose_units.to_owned(),
            places: places.clone(),
            learned: learned.collect(),
        }
    };
    found.iter().map(row).collect()
}
