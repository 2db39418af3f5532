//! The section on the network: time, messages, bytes, lost messages and latency of a run, and the links and rounds of one
//! replication.

use super::cells::rows;
use super::shown_replication::ShownReplication;
use super::terms::meaning;
use super::{counts, first_messages, timeline, traffic};
use crate::report::document::{Block, Paragraph, ParagraphKind, Section, Table, Visibility};
use crate::report::number::{quantity, quantity_within, seconds, seconds_within};
use crate::study::{
    CellSummary, CostErrors, FirstMessages, Metrics, ReplicationRecord, SeriesSummary, Summary,
};

/// Columns that only a page shows, because they do not fit into a terminal.
const WIDE: [&str; 4] = ["time per round", "bytes per message", "bytes per round", "lost, %"];

/// The section. It includes the links, rounds and first messages of the replication that is shown, if they are
/// available.
pub(super) fn section(
    summary: &Summary,
    shown: Option<&ShownReplication<'_>>,
    first_messages: Option<&FirstMessages>,
) -> Section {
    let latency = "p50 and p99: latency of a message over one link of its route; all replications together.";
    let mut blocks = whole_runs(summary);
    blocks.push(Block::remark_on(latency, Visibility::Page));
    blocks.extend(rounds(summary).map(Block::Table));
    blocks.extend(counts::blocks(summary));
    if let Some(shown) = shown {
        blocks.push(Block::heading("one-replication", "One replication"));
        blocks.push(Block::Paragraph(Paragraph {
            words: shown.others(summary),
            kind: ParagraphKind::Remark,
            shown: Visibility::Page,
        }));
        let name = shown.name(summary);
        let first = shown.record;
        let figures = [
            timeline::timeline(first, &name),
            traffic::closings(first, &name),
            traffic::latency(first, &name),
        ];
        blocks.extend(figures.into_iter().flatten().map(Block::Figure));
        let drawn = first_messages.and_then(|messages| first_messages::drawing(messages, &name));
        blocks.extend(drawn.map(Block::Drawing));
    }
    if let Some(table) = shown.and_then(|shown| links(shown.record, &shown.name(summary))) {
        blocks.push(Block::Folded {
            title: "Link by link".to_owned(),
            blocks: vec![Block::Table(table), Block::remark(DELIVERED)],
        });
    }
    Section::new("network", "Network", "Network", blocks)
}

/// The costs of a series before rounding. From these numbers [`rows`] decides whether the series depends on an axis.
fn costs(metrics: &Metrics) -> (Vec<Option<f64>>, CostErrors) {
    let means = [
        Some(metrics.virtual_seconds),
        Some(metrics.messages),
        Some(metrics.bytes),
        Some(metrics.messages_lost),
        metrics.seconds_per_round.map(|estimate| estimate.mean),
        metrics.bytes_per_round,
        metrics.latency_p50_seconds,
        metrics.latency_p99_seconds,
    ];
    (means.to_vec(), metrics.errors)
}

fn whole_runs(summary: &Summary) -> Vec<Block> {
    let optional = |value: Option<f64>| value.map_or_else(String::new, seconds);
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let metrics = &series.metrics;
        let each = |total: f64| if metrics.messages > 0.0 { Some(total / metrics.messages) } else { None };
        let errors = &metrics.errors;
        let words = vec![
            seconds_within(metrics.virtual_seconds, errors.virtual_seconds),
            optional(metrics.seconds_per_round.map(|estimate| estimate.mean)),
            quantity_within(metrics.messages, errors.messages),
            quantity_within(metrics.bytes, errors.bytes),
            each(metrics.bytes).map_or_else(String::new, |bytes| quantity(libm::round(bytes))),
            metrics.bytes_per_round.map_or_else(String::new, |bytes| quantity(libm::round(bytes))),
            quantity_within(metrics.messages_lost, errors.messages_lost),
            each(metrics.messages_lost).map_or_else(String::new, |share| format!("{:.2}", 100.0 * share)),
            optional(metrics.latency_p50_seconds),
            optional(metrics.latency_p99_seconds),
        ];
        (costs(metrics), words)
    };
    let found = rows(summary, numbers);
    let remark = found.remark();
    let names = ["time", WIDE[0], "messages", "bytes", WIDE[1], WIDE[2], "lost", WIDE[3], "p50", "p99"];
    let title = "Network (mean over replications ± standard error; time is virtual; p50, p99: latency of one \
                 message)";
    let table = without_empty(found.table(title, names), &WIDE);
    let table = table.column_on(Visibility::Page, &WIDE).explained(meaning);
    std::iter::once(Block::Table(table)).chain(remark).collect()
}

/// The cost of a round in a federation, for a terminal; a page shows it in the table of whole runs. `None` if no series has
/// groups of agents and a number of bytes per round.
fn rounds(summary: &Summary) -> Option<Table> {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    if !all.any(|series| series.has_agents() && series.metrics.bytes_per_round.is_some()) {
        return None;
    }
    let numbers = |_: &CellSummary, series: &SeriesSummary| {
        let metrics = &series.metrics;
        let words = vec![
            metrics.seconds_per_round.map_or_else(String::new, |time| seconds_within(time.mean, time.se)),
            metrics.bytes_per_round.map_or_else(String::new, |bytes| quantity(libm::round(bytes))),
        ];
        (costs(metrics), words)
    };
    let table = rows(summary, numbers).table("A round (mean)", ["virtual time", "bytes"]);
    Some(Table { shown: Visibility::Terminal, ..table })
}

/// The table without those columns of `names` that are empty in all rows.
fn without_empty(mut table: Table, names: &[&str]) -> Table {
    let empty = |column: usize| table.rows.iter().all(|row| row.cells[column].text().is_empty());
    let kept: Vec<bool> = (0..table.columns.len())
        .map(|column| !names.contains(&table.columns[column].name.as_str()) || !empty(column))
        .collect();
    let mut of_columns = kept.iter();
    table.columns.retain(|_| of_columns.next().copied().unwrap_or(true));
    for row in &mut table.rows {
        let mut of_cells = kept.iter();
        row.cells.retain(|_| of_cells.next().copied().unwrap_or(true));
    }
    table
}

/// How the counts of links differ from those of whole runs.
const DELIVERED: &str = "Here a message counts as delivered if it crossed the link, even if its addressee was offline; in the \
                         tables of whole runs, a message whose addressee was offline counts as lost.";

/// The messages and latencies of each link in one replication, separately for the two directions of the link. A message
/// that relays forward is counted at each link of its route. In a network of more than 32 parties, a row has all links from
/// the parties of one group to those of another group or of the same group. `None` if no link was used.
fn links(first: &ReplicationRecord, name: &str) -> Option<Table> {
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
    let title = format!("Links and their latency, {name}");
    (!rows.is_empty())
        .then(|| Table { shown: Visibility::Page, ..Table::new(title, header.to_vec(), rows, 3) })
}
