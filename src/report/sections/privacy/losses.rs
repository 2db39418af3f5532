//! A table of the releases of one run, with the privacy loss by each accountant.

use super::marks::{Notes, figure};
use crate::accounting::{EpsilonKind, Loss, LossBasis};
use crate::report::document::{Cell, Column, Layout, Row, Span, Table, Visibility};
use crate::report::number::{delta, epsilon};
use crate::report::sections::cells::{Places, merged, merged_persons};
use crate::report::words::{RUNS_DIFFER, basis_words, person, times, unit};
use crate::study::{PersonLoss, PrivacyRow, Summary};

/// The table of all privacy rows and accountants.
pub(super) fn table(summary: &Summary, notes: &mut Notes) -> Table {
    let entries = merged(summary);
    let persons = merged_persons(summary);
    let all = Places::of(summary);
    let at = |places: &[String]| {
        let place = all.words(places);
        if place.is_empty() { place } else { format!(" ({place})") }
    };
    let mut rows = Vec::new();
    for (index, (entry, places)) in entries.iter().enumerate() {
        rows.extend(of_entry(entry, &at(places), notes));
        if entries.get(index + 1).is_none_or(|(next, _)| next.series != entry.series) {
            let here = persons.iter().filter(|(of, _)| of.series == entry.series);
            rows.extend(here.map(|(of, places)| of_person(of, &at(places), notes)));
        }
    }
    Table {
        title: "Privacy loss of one run: who learned what about whom".to_owned(),
        columns: vec![
            Column::new("series", false),
            Column::new("who learned what about whom", false),
            Column::new("accountant", false),
            Column::new("epsilon", true).named_in_cells(),
            Column::new("delta", true).named_in_cells(),
            Column::new("known to lie in", false).on(Visibility::Page),
            Column::new("standing", false).on(Visibility::Page),
            Column::new("basis", false),
        ],
        heads: 2,
        rows,
        layout: Layout::Grouped,
        shown: Visibility::Everywhere,
    }
}

fn of_entry(entry: &PrivacyRow, place: &str, notes: &mut Notes) -> Vec<Row> {
    let who = format!(
        "{} about {} of {}: {}, {}{place}",
        entry.observer,
        unit(&entry.unit),
        entry.protected,
        entry.released.join(", "),
        times(entry),
    );
    let lines = lines(&entry.losses).into_iter().map(|line| {
        let loss = line.losses[0];
        let basis = Span::plain(basis(loss)).emphasised(loss.times_claim.is_some());
        [
            Cell::plain(&entry.series),
            Cell::plain(&who),
            Cell::plain(&line.name),
            Cell::of(vec![figure(loss.epsilon)]),
            Cell::plain(delta(loss.delta)),
            Cell::plain(line.range()),
            Cell::plain(standing(loss.standing)),
            Cell::of(vec![basis.with_footnote(notes.number(&loss.note))]),
        ]
        .into_iter()
        .collect::<Row>()
    });
    let mut rows: Vec<Row> = lines.collect();
    if let Some(last) = rows.last_mut().filter(|_| entry.runs_differ) {
        RUNS_DIFFER.clone_into(&mut last.remark);
    }
    rows
}

fn of_person(entry: &PersonLoss, place: &str, notes: &mut Notes) -> Row {
    let sum = format!("{} + {}", epsilon(entry.epsilon_row), epsilon(entry.epsilon_outcome));
    let rests = Span::plain(basis_words(entry.basis, entry.arithmetic, None));
    let cells = [
        Cell::plain(&entry.series),
        Cell::plain(format!("{} about {}: {sum}{place}", entry.observer, person(&entry.protected))),
        Cell::plain("tight, added"),
        Cell::of(vec![figure(entry.epsilon)]),
        Cell::plain(delta(entry.delta)),
        Cell::default(),
        Cell::default(),
        Cell::of(vec![rests.with_footnote(notes.number(&entry.note))]),
    ];
    cells.into_iter().collect()
}

/// The losses of accountants that share a line.
struct Line<'a> {
    name: String,
    losses: Vec<&'a Loss>,
}

impl Line<'_> {
    /// The lower and the upper limit of the exact epsilon. If the limits differ between the accountants of the line, they
    /// are stated for each accountant.
    fn range(&self) -> String {
        let ranges: Vec<(&str, String)> =
            self.losses.iter().map(|loss| (loss.accountant.words(), range(loss))).collect();
        match ranges.first() {
            Some((_, first)) if ranges.iter().all(|(_, other)| other == first) => first.clone(),
            _ => {
                let told = ranges.iter().filter(|(_, range)| !range.is_empty());
                told.map(|(name, range)| format!("{name}: {range}")).collect::<Vec<_>>().join("; ")
            }
        }
    }
}

/// One line per accountant. Accountants that give no finite epsilon, and give the same reason for this, share a line.
fn lines(losses: &[Loss]) -> Vec<Line<'_>> {
    let counts = |loss: &Loss| loss.standing != EpsilonKind::Claim;
    let accountants = losses.iter().filter(|loss| counts(loss)).count();
    let mut lines: Vec<Vec<&Loss>> = Vec::new();
    for loss in losses {
        let same = |known: &&mut Vec<&Loss>| {
            let known = known[0];
            let alike = (&known.basis, &known.note) == (&loss.basis, &loss.note);
            counts(loss)
                && counts(known)
                && known.epsilon.is_infinite()
                && loss.epsilon.is_infinite()
                && alike
        };
        match lines.iter_mut().find(same) {
            Some(line) => line.push(loss),
            None => lines.push(vec![loss]),
        }
    }
    let name = |losses: &[&Loss]| match losses.len() {
        n if n > 1 && n == accountants => "every accountant".to_owned(),
        _ => losses.iter().map(|loss| loss.accountant.words()).collect::<Vec<_>>().join(", "),
    };
    lines.into_iter().map(|losses| Line { name: name(&losses), losses }).collect()
}

fn basis(loss: &Loss) -> String {
    let suffix = match loss.standing {
        EpsilonKind::Claim | EpsilonKind::Bound => "",
        EpsilonKind::NonAdaptiveBound => ", if not chosen adaptively",
        EpsilonKind::NotABound if loss.basis == LossBasis::Approximation => ", not a bound",
        // Some release is refuted or unprotected, so no accountant gives a finite epsilon.
        EpsilonKind::NotABound => "",
    };
    format!("{}{suffix}", basis_words(loss.basis, loss.arithmetic, loss.times_claim))
}

fn range(loss: &Loss) -> String {
    match (loss.lower, loss.upper) {
        (Some(lower), Some(upper)) => format!("{} to {}", epsilon(lower), epsilon(upper)),
        (Some(lower), None) => format!("from {}", epsilon(lower)),
        (None, Some(upper)) => format!("up to {}", epsilon(upper)),
        (None, None) => String::new(),
    }
}

fn standing(standing: EpsilonKind) -> &'static str {
    match standing {
        EpsilonKind::Claim => "claim",
        EpsilonKind::Bound => "bound",
        EpsilonKind::NonAdaptiveBound => "bound if not chosen adaptively",
        EpsilonKind::NotABound => "not a bound",
    }
}
