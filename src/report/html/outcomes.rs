//! Outcomes beside their bounds.

use super::figure::plate;
use super::outcome_charts::plates;
use super::table::table;
use crate::report::outcomes::tables;
use crate::study::Summary;
use maud::{Markup, html};

/// The outcomes; nothing for a protocol that names none.
pub(super) fn section(summary: &Summary) -> Option<Markup> {
    let tables = tables(summary);
    if tables.is_empty() {
        return None;
    }
    let plates = plates(summary);
    let bounded = tables.iter().any(|outcome| !outcome.sources.is_empty());
    let heading = if bounded { "What came out, and what was promised" } else { "What came out" };
    Some(html! {
        section id="outcomes" {
            h2 { (heading) }
            @for outcome in &tables {
                (table(&outcome.title, &outcome.header, &outcome.rows, outcome.first_number))
                @if !outcome.sources.is_empty() { p { "bound: " (outcome.sources.join("; ")) } }
            }
            @for one in &plates { (plate(one)) }
        }
    })
}
