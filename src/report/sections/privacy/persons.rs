//! A table of the losses about persons who contribute both a row and an outcome.

use super::marks::{Notes, badge, figure};
use crate::report::document::{Cell, Column, Row, Span, Table, Visibility};
use crate::report::number::delta;
use crate::report::sections::cells::{Places, merged_persons};
use crate::study::Summary;

/// The table for a page; a terminal lists these losses in the table of all accountants. `None` if no series released both a
/// row and an outcome of a person.
pub(super) fn table(summary: &Summary, notes: &mut Notes) -> Option<Table> {
    let mut rows = Vec::new();
    let all = Places::of(summary);
    for (entry, places) in merged_persons(summary) {
        let mut whose = format!("a person of {}", entry.protected);
        let place = all.words(&places);
        if !place.is_empty() {
            whose.push_str(&format!(" ({place})"));
        }
        let rests = badge(entry.basis, entry.arithmetic).with_footnote(notes.number(&entry.note));
        let cells = [
            Cell::plain(&entry.series),
            Cell::plain(&entry.observer),
            Cell::plain(whose),
            Cell::of(vec![figure(entry.epsilon_row), Span::plain(" + "), figure(entry.epsilon_outcome)]),
            Cell::of(vec![figure(entry.epsilon)]),
            Cell::plain(delta(entry.delta)),
            Cell::of(vec![rests]),
        ];
        rows.push(cells.into_iter().collect::<Row>());
    }
    let names = ["series", "observer", "about", "row + outcome", "epsilon", "at delta", "basis"];
    let columns = names.into_iter().enumerate().map(|(at, name)| Column::new(name, (3..6).contains(&at)));
    (!rows.is_empty()).then(|| Table {
        title: "A person whose row and outcome both change: epsilons (tight) and deltas added".to_owned(),
        columns: columns.collect(),
        heads: 1,
        rows,
        shown: Visibility::Page,
        ..Table::default()
    })
}
