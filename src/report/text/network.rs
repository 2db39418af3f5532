//! What the network did: time, messages, bytes, losses, latency.

use super::style::table;
use crate::report::cells::rows;
use crate::report::number::{quantity, seconds};
use crate::study::{CellSummary, SeriesSummary, Summary};

pub(super) fn section(out: &mut String, summary: &Summary) {
    let optional = |value: Option<f64>| value.map_or_else(String::new, seconds);
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let metrics = &series.metrics;
        vec![
            seconds(metrics.virtual_seconds),
            quantity(metrics.messages),
            quantity(metrics.bytes),
            quantity(metrics.messages_lost),
            optional(metrics.latency_p50_seconds),
            optional(metrics.latency_p99_seconds),
        ]
    };
    let title = "Network (mean of a run; time is virtual; p50, p99: latency of one message)";
    let (axes, rows) = rows(summary, numbers);
    let first_number = 1 + axes.len();
    let mut header = vec!["series".to_owned()];
    header.extend(axes);
    header.extend(["time", "messages", "bytes", "lost", "p50", "p99"].map(str::to_owned));
    table(out, title, header, rows, first_number);
    per_round(out, summary);
}

/// What a round costs, where agents play in rounds.
fn per_round(out: &mut String, summary: &Summary) {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    if !all.any(|series| !series.groups.is_empty() && series.metrics.bytes_per_round.is_some()) {
        return;
    }
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let metrics = &series.metrics;
        vec![
            metrics.seconds_per_round.map_or_else(String::new, seconds),
            metrics.bytes_per_round.map_or_else(String::new, |bytes| quantity(libm::round(bytes))),
        ]
    };
    let (axes, rows) = rows(summary, numbers);
    let first_number = 1 + axes.len();
    let mut header = vec!["series".to_owned()];
    header.extend(axes);
    header.extend(["virtual time", "bytes"].map(str::to_owned));
    table(out, "A round (mean)", header, rows, first_number);
}
