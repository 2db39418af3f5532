//! The neighbouring relations of the losses in a report, without which an epsilon has no meaning.

use crate::protocols::OUTCOMES;
use crate::report::words::{neighbours, unit};
use crate::study::Summary;
use crate::vocab::{Neighbours, ProtectedUnit};

/// The neighbouring relations of a study in words, with one phrase per kind of unit. If series differ in the relation,
/// there is one phrase per relation, which names its series.
pub(in crate::report::sections) fn relations(summary: &Summary) -> Vec<String> {
    let entries = summary.cells.iter().flat_map(|cell| {
        let outcomes = cell.privacy.iter().any(|entry| entry.unit == ProtectedUnit::Outcome);
        cell.privacy.iter().map(move |entry| {
            let mut words = neighbours(&entry.unit, &entry.neighbours);
            if outcomes && matches!(entry.neighbours, Neighbours::RowMoved { .. }) {
                words.push_str(outcome_of_row(&entry.released));
            }
            (entry.unit, words, entry.series.as_str())
        })
    });
    gathered(entries)
}

/// What happens to the outcome of a row that is moved. If the loss about rows counts the releases of outcomes too, the
/// outcome may differ between neighbours. Otherwise neighbours have the same outcome, and the loss about rows says nothing
/// about what the outcomes reveal.
fn outcome_of_row(released: &[String]) -> &'static str {
    let counted = released.iter().any(|name| name == OUTCOMES);
    if counted { ", which changes its outcome" } else { ", with the same outcome" }
}

/// The neighbouring relations of given triples of unit, relation and series in words, as `relations` writes them, but
/// without a phrase on what happens to the outcome of a moved row.
pub(in crate::report::sections) fn relations_of<'a>(
    all: impl Iterator<Item = (ProtectedUnit, &'a Neighbours, &'a str)>,
) -> Vec<String> {
    gathered(all.map(|(of, relation, name)| (of, neighbours(&of, relation), name)))
}

fn gathered<'a>(all: impl Iterator<Item = (ProtectedUnit, String, &'a str)>) -> Vec<String> {
    let mut found: Vec<(ProtectedUnit, String, Vec<&str>)> = Vec::new();
    for (of, words, name) in all {
        match found.iter_mut().find(|known| known.0 == of && known.1 == words) {
            Some((_, _, series)) if series.contains(&name) => {}
            Some((_, _, series)) => series.push(name),
            None => found.push((of, words, vec![name])),
        }
    }
    let told = found.iter().map(|(kind, words, series)| {
        let several = found.iter().filter(|(other, ..)| other == kind).count() > 1;
        let of = if several { format!(" ({})", series.join(", ")) } else { String::new() };
        format!("{}{of}: {words}", unit(kind))
    });
    told.collect()
}
