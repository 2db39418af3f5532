//! A table of the losses in all cells of a study: protected units as rows, observers as columns.

use super::marks::{Notes, badge, exceeded, short_figure};
use crate::accounting::{AccountantName, EpsilonKind, Loss};
use crate::report::document::{Cell, Column, Finding, Row, Span, Table, Visibility};
use crate::report::number::delta;
use crate::report::sections::cells::Places;
use crate::report::sections::points::Axes;
use crate::report::sections::terms::meaning;
use crate::report::words::{RUNS_DIFFER, times, unit};
use crate::study::{PrivacyRow, Summary};

/// The accountants of the table, with the names that the table uses: the claim, the tight bound, and basic composition.
const ACCOUNTANTS: [(AccountantName, &str); 3] = [
    (AccountantName::AsPublished, "as published"),
    (AccountantName::Tight, "tight"),
    (AccountantName::Basic, "naive (basic)"),
];

/// The table of losses; the accountants' notes become its footnotes, which are collected in `notes`.
pub(super) fn table(summary: &Summary, notes: &mut Notes) -> Table {
    let (observers, units) = all(summary);
    let varies = units.iter().any(|row| row.places.len() < summary.cells.len());
    let mut columns = vec![Column::new("series", false), Column::new("whose", false)];
    columns.extend(varies.then(|| Column::new("where", false)));
    columns.extend(observers.iter().map(|observer| Column::new(format!("what {observer} learned"), false)));
    let mut rows = Vec::new();
    let all = Places::of(summary);
    for units in &units {
        let mut cells = vec![Cell::plain(units.series), Cell::plain(&units.whose)];
        if varies {
            let place = all.words(&units.places);
            cells.push(Cell::plain(if place.is_empty() { "everywhere".to_owned() } else { place }));
        }
        cells.extend(units.learned.iter().map(|learned| match learned {
            Learned::Entries(entries) => {
                let findings = entries.iter().map(|entry| finding(entry, notes)).collect();
                Cell { findings, ..Cell::default() }
            }
            Learned::Elsewhere(places) => {
                let elsewhere =
                    format!("nothing was released in these cells; for other cells see {}", all.words(places));
                Cell::of(vec![Span::quiet(elsewhere)])
            }
            Learned::Nothing => Cell::of(vec![Span::quiet("nothing")]),
        }));
        rows.push(cells.into_iter().collect::<Row>());
    }
    Table {
        title: "Privacy loss of one run by observer; ∞: no finite bound is known".to_owned(),
        columns,
        heads: 2,
        rows,
        shown: Visibility::Page,
        ..Table::default()
    }
}

/// The meaning of the basis of a loss, followed by the accountants' note.
fn reason(loss: &Loss) -> String {
    [meaning(loss.basis.words()), loss.note.clone()].join(" ").trim().to_owned()
}

/// The releases of one privacy row, with the epsilons of the table's accountants.
fn finding(entry: &PrivacyRow, notes: &mut Notes) -> Finding {
    let mut words = vec![Span::plain(format!("{}, {} ", entry.released.join(", "), times(entry)))];
    if let Some(loss) = entry.losses.iter().find(|loss| loss.standing != EpsilonKind::Claim) {
        let reason = Span { explanation: reason(loss), ..badge(loss.basis, loss.arithmetic) };
        let mut marks = vec![reason];
        marks.extend(exceeded(loss).into_iter().flat_map(|mark| [Span::plain(" "), mark]));
        if let Some(last) = marks.last_mut() {
            last.footnote = notes.number(&loss.note);
        }
        words.extend(marks);
    }
    let mut figures = Vec::new();
    for (accountant, name) in ACCOUNTANTS {
        let Some(loss) = entry.losses.iter().find(|loss| loss.accountant == accountant) else { continue };
        // Emphasised: a loss that exceeds its claim, and an exceeded claim.
        let loud = loss.times_claim.is_some();
        let claim = loss.standing == EpsilonKind::Claim;
        let note = if claim { notes.number(&loss.note) } else { None };
        let value = short_figure(loss.epsilon).emphasised(loud);
        figures.push([
            vec![Span::quiet(name).explained(meaning(name))],
            vec![Span::plain("ε").emphasised(loud).explained(meaning("epsilon")), Span::plain(" "), value],
            vec![Span::quiet(format!("δ {}", delta(loss.delta))).with_footnote(note)],
        ]);
    }
    let remark = if entry.runs_differ { RUNS_DIFFER.to_owned() } else { String::new() };
    Finding { words, figures, remark }
}

/// A row of the table: one kind of unit of one owner in one series, at the points of the study's grid (cells) at which its
/// losses are the same.
struct Units<'a> {
    series: &'a str,
    /// The unit and its owner, in words.
    whose: String,
    /// The points where the row holds, in the order of the cells.
    places: Vec<String>,
    /// The losses to each observer there, in the order of the observers.
    learned: Vec<Learned<'a>>,
}

/// A cell of the table: the losses to one observer in one row.
enum Learned<'a> {
    /// These entries hold at every point of the row.
    Entries(Vec<&'a PrivacyRow>),
    /// Nothing about these units was released to this observer at the points of this row. The variant lists the points at
    /// which something about these units was released to this observer.
    Elsewhere(Vec<String>),
    /// Nothing about these units was released to this observer in the whole study.
    Nothing,
}

/// The observers in the order in which they first occur, and the rows, grouped by series. Points with the same losses about
/// a unit share a row.
fn all(summary: &Summary) -> (Vec<&str>, Vec<Units<'_>>) {
    let mut observers: Vec<&str> = Vec::new();
    let mut kinds: Vec<(&str, String)> = Vec::new();
    for entry in summary.cells.iter().flat_map(|cell| &cell.privacy) {
        if !observers.contains(&entry.observer.as_str()) {
            observers.push(&entry.observer);
        }
        let kind = (entry.series.as_str(), unit_and_owner(entry));
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

fn unit_and_owner(entry: &PrivacyRow) -> String {
    format!("{} of {}", unit(&entry.unit), entry.protected)
}

/// The rows of one kind of unit; cells with the same entries for all observers share a row.
fn rows<'a>(
    summary: &'a Summary,
    observers: &[&'a str],
    series: &'a str,
    whose_units: &str,
) -> Vec<Units<'a>> {
    let mut found: Vec<(Vec<Vec<&PrivacyRow>>, Vec<String>)> = Vec::new();
    let axes = Axes::of(summary);
    for cell in &summary.cells {
        let here = |observer: &str| -> Vec<&PrivacyRow> {
            let about = |entry: &&PrivacyRow| {
                entry.series == series && entry.observer == observer && unit_and_owner(entry) == whose_units
            };
            cell.privacy.iter().filter(about).collect()
        };
        let entries: Vec<Vec<&PrivacyRow>> = observers.iter().map(|observer| here(observer)).collect();
        if entries.iter().all(Vec::is_empty) {
            continue;
        }
        let place = axes.point(cell).join(", ");
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
        Units { series, whose: whose_units.to_owned(), places: places.clone(), learned: learned.collect() }
    };
    found.iter().map(row).collect()
}
