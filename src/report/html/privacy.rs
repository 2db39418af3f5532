//! Who learned what about whom: a matrix of protected units by observers, then every accountant's figure.

use super::figure::plate;
use super::over_rounds;
use super::table::{scrolling, table};
use crate::accounting::{AccountantName, Loss, LossBasis, Standing, multiple};
use crate::report::cells::{merged, merged_persons, place};
use crate::report::matrix::{Learned, matrix};
use crate::report::number::{delta, epsilon};
use crate::report::public;
use crate::report::published::{self, losses};
use crate::report::relations::relations;
use crate::report::whole_study;
use crate::report::words::{RUNS_DIFFER, arithmetic, person, rests_on, times, unit};
use crate::study::{PersonLoss, PrivacyRow, ReplicationRecord, Summary};
use crate::vocab::Arithmetic;
use maud::{Markup, html};

/// The accountants of the matrix, with their names there: what is claimed, what holds, and the sum.
const SHOWN: [(AccountantName, &str); 3] = [
    (AccountantName::AsPublished, "as published"),
    (AccountantName::Tight, "tight"),
    (AccountantName::Basic, "naive (basic)"),
];

pub(super) fn section(summary: &Summary, first: Option<&ReplicationRecord>) -> Option<Markup> {
    let entries = merged(summary);
    let facts = public::facts(summary);
    if entries.is_empty() && facts.is_empty() {
        return None;
    }
    let persons = merged_persons(summary);
    let notes = Notes::of(&entries, &persons, summary);
    let told = entries.iter().flat_map(|(entry, _)| &entry.losses).filter_map(|loss| loss.arithmetic);
    Some(html! {
        section id="privacy" {
            h2 { "Who learned what about whom: privacy" }
            @if !entries.is_empty() { (observed(summary, &notes)) }
            @if !persons.is_empty() { (brought(summary, &persons, &notes)) }
            ul.note {
                @for relation in relations(summary) { li { "Neighbours, " (relation) } }
                @if let Some(note) = arithmetic(told) { li { (note) } }
            }
            (notes.list())
            @if !facts.is_empty() { (taken_as_public(&facts)) }
            @if let Some((header, rows, first_number)) = losses(summary) {
                (table(published::TITLE, &header, &rows, first_number))
            }
            @for one in first.iter().flat_map(|first| over_rounds::plates(summary, first)) { (plate(&one)) }
            @if !entries.is_empty() { (accountants(summary, &entries, &notes)) }
            (studied(summary, &notes))
        }
    })
}

/// The matrix.
fn observed(summary: &Summary, notes: &Notes<'_>) -> Markup {
    let (observers, rows) = matrix(summary);
    let varies = rows.iter().any(|row| row.places.len() < summary.cells.len());
    let caption = "Privacy loss of one run by observer; ∞: no finite bound holds";
    scrolling(
        caption,
        html! {
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
                            @let place = place(summary, &row.places);
                            @if varies { td { @if place.is_empty() { "everywhere" } @else { (place) } } }
                            @for learned in &row.learned {
                                td.observed {
                                    @match learned {
                                        Learned::Entries(entries) => { @for entry in entries { (cell(entry, notes)) } }
                                        Learned::Elsewhere(places) => {
                                            span.note { "nothing released here; see " (crate::report::cells::place(summary, places)) }
                                        }
                                        Learned::Nothing => { span.note { "nothing" } }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        },
    )
}

/// One cell of the matrix.
fn cell(entry: &PrivacyRow, notes: &Notes<'_>) -> Markup {
    let times = times(entry);
    let figures = SHOWN.iter().filter_map(|(accountant, name)| {
        let loss = entry.losses.iter().find(|loss| loss.accountant == *accountant)?;
        Some((*name, loss))
    });
    let quoted = entry.losses.iter().find(|loss| loss.standing != Standing::Claim);
    html! {
        div.learned {
            div {
                (entry.released.join(", ")) ", " (times) " "
                @if let Some(loss) = quoted { (badge(loss.basis, loss.arithmetic)) (exceeded(loss)) (notes.mark(&loss.note)) }
            }
            table.figures {
                tbody {
                    @for (name, loss) in figures {
                        tr {
                            th scope="row" { (name) }
                            td class=[loud(loss)] { "ε " (figure(loss.epsilon)) }
                            td.note { "δ " (delta(loss.delta)) @if loss.standing == Standing::Claim { (notes.mark(&loss.note)) } }
                        }
                    }
                }
            }
            @if entry.runs_differ { div.note { (RUNS_DIFFER) } }
        }
    }
}

/// What was learned about those who bring a row and an outcome.
fn brought(summary: &Summary, persons: &[(&PersonLoss, Vec<String>)], notes: &Notes<'_>) -> Markup {
    let caption = "A person whose row and outcome both change: epsilons (tight) and deltas added";
    scrolling(
        caption,
        html! {
            table.persons {
                caption { span { (caption) } }
                thead { tr { @for name in ["series", "observer", "about", "row + outcome", "epsilon", "at delta", "basis"] {
                    th scope="col" { (name) }
                } } }
                tbody { @for (entry, places) in persons { tr {
                    th scope="row" { (entry.series) }
                    td { (entry.observer) }
                    td {
                        (person(&entry.protected))
                        @let place = place(summary, places);
                        @if !place.is_empty() { " (" (place) ")" }
                    }
                    td.number { (figure(entry.epsilon_row)) " + " (figure(entry.epsilon_outcome)) }
                    td.number { (figure(entry.epsilon)) }
                    td.number { (delta(entry.delta)) }
                    td { (badge(entry.basis, entry.arithmetic)) (notes.mark(&entry.note)) }
                } } }
            }
        },
    )
}

/// What all runs together cost.
fn studied(summary: &Summary, notes: &Notes<'_>) -> Markup {
    let Some(first) = summary.whole_study.first() else { return html! {} };
    let title = whole_study::title(first);
    html! {
        h3 id="whole-study" { "The whole study" }
        p.note { (whole_study::WHAT) }
        (scrolling(&title, html! {
            table {
                caption { span { (title) } }
                thead { tr {
                    th scope="col" { "series" }
                    th scope="col" { "who learned about whom" }
                    th scope="col" .number { "runs" }
                    @for (name, _) in whole_study::figures(first) { th scope="col" .number { (name) } }
                    th scope="col" { "basis" }
                } }
                tbody { @for row in &summary.whole_study { tr {
                    th scope="row" { (row.series) }
                    td { (whole_study::about(row)) }
                    td.number { (row.runs) }
                    @for (_, value) in whole_study::figures(row) { td.number { (figure(value)) } }
                    td { (badge(row.basis, row.arithmetic)) (notes.mark(whole_study::note(row))) }
                } } }
            }
        }))
    }
}

fn taken_as_public(facts: &[public::Public<'_>]) -> Markup {
    html! {
        h3 id="public" { (public::TITLE) }
        ul.public {
            @for one in facts {
                @let condition = one.fact.condition().is_some();
                li {
                    (one.fact.what) (public::about(one.fact))
                    @if !one.place.is_empty() { " (" (one.place) ")" }
                    ": " span class=[condition.then_some("warning")] { (public::origin(one.fact.origin)) }
                }
            }
        }
    }
}

/// All notes of a page, numbered as they first occur.
struct Notes<'a>(Vec<&'a str>);

impl<'a> Notes<'a> {
    fn of(
        entries: &[(&'a PrivacyRow, Vec<String>)],
        persons: &[(&'a PersonLoss, Vec<String>)],
        summary: &'a Summary,
    ) -> Self {
        let mut notes: Vec<&str> = Vec::new();
        let losses = entries.iter().flat_map(|(entry, _)| &entry.losses).map(|loss| loss.note.as_str());
        let persons = persons.iter().map(|(entry, _)| entry.note.as_str());
        let study = summary.whole_study.iter().map(whole_study::note);
        for note in losses.chain(persons).chain(study) {
            if !note.is_empty() && !notes.contains(&note) {
                notes.push(note);
            }
        }
        Self(notes)
    }

    fn number(&self, note: &str) -> Option<usize> {
        self.0.iter().position(|known| *known == note).map(|index| index + 1)
    }

    fn mark(&self, note: &str) -> Markup {
        html! { @if let Some(number) = self.number(note) { " " a href=(format!("#note-{number}")) { "[" (number) "]" } } }
    }

    fn list(&self) -> Markup {
        html! {
            @if !self.0.is_empty() {
                ol.note { @for (index, note) in self.0.iter().enumerate() { li id=(format!("note-{}", index + 1)) { (note) } } }
            }
        }
    }
}

fn badge(basis: LossBasis, arithmetic: Option<Arithmetic>) -> Markup {
    let warning = matches!(basis, LossBasis::Refuted | LossBasis::Unprotected);
    html! { span.badge.warning[warning] { (rests_on(basis, arithmetic, None)) } }
}

/// The class of a figure that is above its claim, or of such a claim.
fn loud(loss: &Loss) -> Option<&'static str> {
    loss.times_claim.map(|_| "warning")
}

/// A loud mark where a loss is above what is claimed.
fn exceeded(loss: &Loss) -> Markup {
    html! { @if let Some(times) = loss.times_claim { " " span.badge.warning { (multiple(times)) " the claim" } } }
}

fn figure(value: f64) -> Markup {
    if value.is_infinite() {
        html! { span.infinite { "∞" } }
    } else {
        html! { (epsilon(value)) }
    }
}

/// Every accountant on every entry.
fn accountants(summary: &Summary, entries: &[(&PrivacyRow, Vec<String>)], notes: &Notes<'_>) -> Markup {
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
                                    td { (loss.accountant.words()) }
                                    td.number { (figure(loss.epsilon)) }
                                    td.number { (delta(loss.delta)) }
                                    td { (range(loss)) }
                                    td { (standing(loss.standing)) }
                                    td class=[loud(loss)] { (rests_on(loss.basis, loss.arithmetic, loss.times_claim)) }
                                    td { (notes.mark(&loss.note)) }
                                }
                            }
                        }
                    }
                }
            }))
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

fn standing(standing: Standing) -> &'static str {
    match standing {
        Standing::Claim => "claim",
        Standing::Bound => "bound",
        Standing::NonAdaptiveBound => "bound if not chosen adaptively",
        Standing::NotABound => "not a bound",
    }
}
