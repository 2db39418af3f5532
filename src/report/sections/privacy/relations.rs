//! The neighbouring relations of the losses in a report, without which an epsilon has no meaning.

use crate::report::words::{neighbours, unit};
use crate::study::Summary;
use crate::vocab::{Neighbours, ProtectedUnit};

/// One phrase per kind of unit; if series differ in the relation, one phrase per relation, with its series.
pub(in crate::report::sections) fn relations(summary: &Summary) -> Vec<String> {
    let entries = summary.cells.iter().flat_map(|cell| &cell.privacy);
    relations_of(entries.map(|entry| (entry.unit, &entry.neighbours, entry.series.as_str())))
}

/// One phrase per kind of unit for given triples of unit, relation and series; if series differ in
/// the relation, one phrase per relation, with its series.
pub(in crate::report::sections) fn relations_of<'a>(
    all: impl Iterator<Item = (ProtectedUnit, &'a Neighbours, &'a str)>,
) -> Vec<String> {
    let mut found: Vec<(ProtectedUnit, String, Vec<&str>)> = Vec::new();
    for (of, relation, name) in all {
        let words = neighbours(&of, relation);
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
