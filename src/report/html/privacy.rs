//! Who learned what about whom: a matrix of protected units by observers, then every accountant's figure.

use super::figure::plate;
use super::over_rounds;
use super::table::{scrolling, table};
use crate::report::cells::{axes, merged};
use crate::report::number::{delta, epsilon};
use crate::report::published::{self, losses};
use crate::report::relations::relations;
use crate::report::words::{RUNS_DIFFER, times, unit};
use crate::study::{Loss, LossStanding, PrivacyRow, ReplicationRecord, Summary};
use maud::{Markup, html};

/// The accountants of the matrix, with their names there: what is claimed, what holds, and the sum.
const SHOWN: [(&str, &str); 3] =
    [("as published", "as published"), ("tight", "tight"), ("basic", "naive (basic)")];

/// One line of the matrix: all that was learned in one series about one kind of unit of one party.
struct Row<'a> {
    series: &'a str,
    whose: String,
    place: String,
    entries: Vec<&'a PrivacyRow>,
}

pub(super) fn section(summary: &Summary, first: Option<&ReplicationRecord>) -> Option<Markup> {
    let entries = merged(summary);
    if entries.is_empty() {
        return None;
    }
    let mut observers: Vec<&str> = Vec::new();
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (entry, places) in &entries {
        if !observers.contains(&entry.observer.as_str()) {
            observers.push(&entry.observer);
        }
        let place = place(summary, places);
        let whose = format!("{} of {}", unit(&entry.unit), entry.protected);
        let same =
            |row: &&mut Row<'_>| row.series == entry.series && row.whose == whose && row.place == place;
        match rows.iter_mut().find(same) {
            Some(row) => row.entries.push(entry),
            None => rows.push(Row { series: &entry.series, whose, place, entries: vec![entry] }),
        }
    }
    // Series in their order, and the same unit of the same party at different points in a row.
    let mut order: Vec<(&str, String)> = Vec::new();
    for row in &rows {
        if !order.iter().any(|(series, whose)| *series == row.series && *whose == row.whose) {
            order.push((row.series, row.whose.clone()));
        }
    }
    rows.sort_by_key(|row| {
        order.iter().position(|(series, whose)| *series == row.series && *whose == row.whose)
    });
    let varies = rows.iter().any(|row| !row.place.is_empty());
    let caption = "Privacy loss of one run by observer; ∞: no finite bound holds";
    Some(html! {
        section id="privacy" {
            h2 { "Who learned what about whom: privacy" }
            (scrolling(caption, html! {
                table.matrix {
                    caption { span { (caption) } }
                    thead {
                        tr {
                            th scope="col" { "series" }
                            th scope="col" { "whose" }
                            @if varies { th scope="col" { "where" } }
                            @for observer in &observers { th scope="col" { "what " (observer) " learned" } }
                        }
                    }
                    tbody {
                        @for row in &rows {
                            tr {
                                th scope="row" { (row.series) }
                                th scope="row" { (row.whose) }
                                @if varies { td { @if row.place.is_empty() { "everywhere" } @else { (row.place) } } }
                                @for observer in &observers {
                                    td.observed {
                                        @let mut seen = row.entries.iter().filter(|entry| entry.observer == *observer).peekable();
                                        @if seen.peek().is_none() { span.note { "nothing" } }
                                        @for entry in seen { (learned(entry)) }
                                    }
                                }
                            }
                        }
                    }
                }
            }))
            ul.note { @for relation in relations(summary) { li { "Neighbours, " (relation) } } }
            @if let Some((header, rows, first_number)) = losses(summary) {
                (table(published::TITLE, &header, &rows, first_number))
            }
            @for one in first.iter().flat_map(|first| over_rounds::plates(summary, first)) { (plate(&one)) }
            (accountants(summary, &entries))
        }
    })
}

/// One cell of the matrix.
fn learned(entry: &PrivacyRow) -> Markup {
    let times = times(entry);
    let figures = SHOWN.iter().filter_map(|(accountant, name)| {
        let loss = entry.losses.iter().find(|loss| loss.accountant == *accountant)?;
        Some((*name, loss))
    });
    let basis =
        entry.losses.iter().find(|loss| loss.standing != LossStanding::Claim).map(|loss| loss.basis.as_str());
    html! {
        div.learned {
            div { (entry.released.join(", ")) ", " (times) " " @if let Some(basis) = basis { (badge(basis)) } }
            table.figures {
                tbody {
                    @for (name, loss) in figures {
                        tr { th scope="row" { (name) } td { "ε " (figure(loss.epsilon)) } td.note { "δ " (delta(loss.delta)) } }
                    }
                }
            }
            @if entry.runs_differ { div.note { (RUNS_DIFFER) } }
        }
    }
}

fn badge(basis: &str) -> Markup {
    let warning = matches!(basis, "refuted" | "unprotected");
    html! { span.badge.warning[warning] { (basis) } }
}

fn figure(value: f64) -> Markup {
    if value.is_infinite() {
        html! { span.infinite { "∞" } }
    } else {
        html! { (epsilon(value)) }
    }
}

fn place(summary: &Summary, places: &[String]) -> String {
    if places.len() == summary.cells.len() {
        String::new()
    } else {
        format!("{} = {}", axes(summary).join(", "), places.join("; "))
    }
}

/// Every accountant on every entry.
fn accountants(summary: &Summary, entries: &[(&PrivacyRow, Vec<String>)]) -> Markup {
    let mut notes: Vec<&str> = Vec::new();
    for loss in entries.iter().flat_map(|(entry, _)| &entry.losses) {
        if !loss.note.is_empty() && !notes.contains(&loss.note.as_str()) {
            notes.push(&loss.note);
        }
    }
    let mark = |loss: &Loss| notes.iter().position(|note| *note == loss.note).map(|index| index + 1);
    let caption = "Epsilon by accountant";
    html! {
        details {
            summary { "Every accountant" }
            (scrolling(caption, html! {
                table {
                    caption { span { (caption) } }
                    thead { tr {
                        @for name in ["series", "observer", "about", "accountant", "epsilon", "at delta", "known to lie in", "standing", "basis", "note"] {
                            th scope="col" { (name) }
                        }
                    } }
                    tbody {
                        @for (entry, places) in entries {
                            @for loss in &entry.losses {
                                tr {
                                    th scope="row" { (entry.series) }
                                    td { (entry.observer) }
                                    td {
                                        (unit(&entry.unit)) " of " (entry.protected)
                                        @let place = place(summary, places);
                                        @if !place.is_empty() { " (" (place) ")" }
                                    }
                                    td { (loss.accountant) }
                                    td.number { (figure(loss.epsilon)) }
                                    td.number { (delta(loss.delta)) }
                                    td { (range(loss)) }
                                    td { (standing(loss.standing)) }
                                    td { (loss.basis) }
                                    td { @if let Some(mark) = mark(loss) { a href=(format!("#note-{mark}")) { (mark) } } }
                                }
                            }
                        }
                    }
                }
            }))
            ol.note { @for (index, note) in notes.iter().enumerate() { li id=(format!("note-{}", index + 1)) { (note) } } }
        }
    }
}

fn range(loss: &Loss) -> String {
    match (loss.lower, loss.upper) {
        (Some(lower), Some(upper)) => format!("{} to {}", epsilon(lower), epsilon(upper)),
        (Some(lower), None) => format!("from {}", epsilon(lower)),
        (None, Some(upper)) => format!("up to {}", epsilon(upper)),
        (None, None) => String::new(),
    }
}

fn standing(standing: LossStanding) -> &'static str {
    match standing {
        LossStanding::Claim => "claim",
        LossStanding::Bound => "bound",
        LossStanding::NonAdaptiveBound => "bound if not chosen adaptively",
        LossStanding::NotABound => "not a bound",
    }
}
