//! What the network did: time, messages, bytes, losses, latency, and the first replication's links and rounds.

use super::figure::plate;
use super::table::table;
use super::{Page, charts, opening, traffic};
use crate::report::cells::rows;
use crate::report::counts::{TITLE, counts};
use crate::report::number::{quantity, seconds};
use crate::study::{CellSummary, ReplicationRecord, SeriesSummary};
use maud::{Markup, html};

pub(super) fn section(page: &Page, place: &str) -> Markup {
    let (summary, first) = (&page.summary, page.first.as_ref());
    let optional = |value: Option<f64>| value.map_or_else(String::new, seconds);
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let metrics = &series.metrics;
        let each = |total: f64| if metrics.messages > 0.0 { Some(total / metrics.messages) } else { None };
        vec![
            seconds(metrics.virtual_seconds),
            metrics.seconds_per_round.map_or_else(String::new, seconds),
            quantity(metrics.messages),
            quantity(metrics.bytes),
            each(metrics.bytes).map_or_else(String::new, |bytes| quantity(libm::round(bytes))),
            metrics.bytes_per_round.map_or_else(String::new, |bytes| quantity(libm::round(bytes))),
            quantity(metrics.messages_lost),
            each(metrics.messages_lost).map_or_else(String::new, |share| format!("{:.2}", 100.0 * share)),
            optional(metrics.latency_p50_seconds),
            optional(metrics.latency_p99_seconds),
        ]
    };
    let (axes, rows) = rows(summary, numbers);
    let first_number = 1 + axes.len();
    let mut header = vec!["series".to_owned()];
    header.extend(axes);
    header.extend(
        [
            "virtual time",
            "time a round",
            "messages",
            "bytes",
            "bytes a message",
            "bytes a round",
            "lost",
            "lost, %",
            "p50",
            "p99",
        ]
        .map(str::to_owned),
    );
    let (header, rows) = without_empty(header, rows);
    let plates =
        first.map(|first| [charts::timeline(first), traffic::closings(first), traffic::latency(first)]);
    html! {
        section id="network" {
            h2 { "At what cost: the network" }
            (table(
                "Mean of a run; p50 and p99 are the latency of one message over one link, all replications together",
                &header, &rows, first_number,
            ))
            @if let Some((header, rows, first_number)) = counts(summary) {
                (table(TITLE, &header, &rows, first_number))
            }
            @for one in plates.iter().flatten().flatten() { (plate(one)) }
            @if let Some(opening) = &page.opening { (opening::section(opening)) }
            @if let Some(first) = first { (links(first, place)) }
        }
    }
}

/// Columns that no row has anything in are left out.
fn without_empty(header: Vec<String>, rows: Vec<Vec<String>>) -> (Vec<String>, Vec<Vec<String>>) {
    let kept: Vec<usize> =
        (0..header.len()).filter(|column| rows.iter().any(|row| !row[*column].is_empty())).collect();
    let pick = |row: Vec<String>| kept.iter().map(|column| row[*column].clone()).collect::<Vec<String>>();
    (pick(header), rows.into_iter().map(pick).collect())
}

/// Who sent to whom in one replication.
fn links(first: &ReplicationRecord, place: &str) -> Markup {
    let header =
        ["series", "from", "to", "delivered", "lost", "p50", "p90", "p99", "longest"].map(str::to_owned);
    let mut rows = Vec::new();
    for series in &first.series {
        for (from, to, link) in &series.network.links {
            let latency = |q: f64| link.latency_seconds(q).map_or_else(String::new, seconds);
            let mut row = vec![series.name.clone(), from.clone(), to.clone()];
            row.extend([link.delivered() as f64, link.losses() as f64].map(quantity));
            row.extend([0.5, 0.9, 0.99, 1.0].map(latency));
            rows.push(row);
        }
    }
    if rows.is_empty() {
        return html! {};
    }
    let caption = format!("Links and their latency in replication {}{place}", first.replication);
    html! { details { summary { "Link by link" } (table(&caption, &header, &rows, 3)) } }
}
