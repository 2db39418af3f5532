//! Outcomes beside their bounds, and what the whole study costs.

use super::figure::plate;
use super::outcome_charts::plates;
use super::table::table;
use crate::report::number::epsilon;
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
            @if let Some(first) = summary.whole_study.first() { (whole_study(summary, first.delta)) }
        }
    })
}

fn whole_study(summary: &Summary, delta: f64) -> Markup {
    let header = ["series", "runs", "releases", "basic", "rdp", "basis"].map(str::to_owned);
    let rows: Vec<Vec<String>> = summary
        .whole_study
        .iter()
        .map(|row| {
            vec![
                row.series.clone(),
                row.runs.to_string(),
                row.releases.to_string(),
                epsilon(row.epsilon_basic),
                epsilon(row.epsilon_rdp),
                row.basis.clone(),
            ]
        })
        .collect();
    let caption = format!(
        "Privacy loss of the whole study, were every run published: epsilon at delta {delta:e}; all runs of a series are \
         on the same data"
    );
    table(&caption, &header, &rows, 1)
}
