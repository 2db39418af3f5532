//! The neighbouring relation of each loss in a report: an epsilon is meaningful only together with it.

use crate::report::words::{neighbours, unit};
use crate::study::Summary;
use crate::vocab::ProtectedUnit;

/// One phrase per kind of unit; several if series differ, each then with its series.
pub(super) fn relations(summary: &Summary) -> Vec<String> {
    let mut found: Vec<(&ProtectedUnit, String, Vec<&str>)> = Vec::new();
    for entry in summary.cells.iter().flat_map(|cell| &cell.privacy) {
        let words = neighbours(&entry.unit, &entry.neighbours);
        let same =
            |known: &&mut (&ProtectedUnit, String, Vec<&str>)| *known.0 == entry.unit && known.1 == words;
        match found.iter_mut().find(same) {
            Some((_, _, series)) if series.contains(&entry.series.as_str()) => {}
            Some((_, _, series)) => series.push(&entry.series),
            None => found.push((&entry.unit, words, vec![&entry.series])),
        }
    }
    let told = found.iter().map(|(kind, words, series)| {
        let several = found.iter().filter(|(other, ..)| other == kind).count() > 1;
        let of = if several { format!(" ({})", series.join(", ")) } else { String::new() };
        format!("{}{of}: {words}", unit(kind))
    });
    told.collect()
}
