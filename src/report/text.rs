//! The report in a terminal of 80 columns.

use super::number::{epsilon, quantity, regret, seconds};
use crate::study::{CellSummary, Metrics, SeriesSummary, Summary};
use crate::vocab::{Neighbours, ProtectedUnit};
use comfy_table::{CellAlignment, ContentArrangement, Table, presets};
use std::fmt::Write;

const WIDTH: u16 = 80;

/// The whole report, at most 80 columns wide, without colour.
#[must_use]
pub fn text(summary: &Summary) -> String {
    let mut out = String::new();
    let cells = summary.cells.len();
    let replications = summary.cells.iter().flat_map(|cell| &cell.series).map(|s| s.replications).max();
    line(
        &mut out,
        &format!(
            "{}: {cells} cell{}, {} replications, seed {}",
            summary.scenario,
            if cells == 1 { "" } else { "s" },
            replications.unwrap_or(0),
            summary.seed
        ),
    );
    line(&mut out, &format!("digest {}", summary.digest));
    line(&mut out, &format!("folder {}", summary.run));
    regrets(&mut out, summary);
    published(&mut out, summary);
    network(&mut out, summary);
    privacy(&mut out, summary);
    early_endings(&mut out, summary);
    out
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}

fn table(header: Vec<String>) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_HORIZONTAL_ONLY)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(WIDTH)
        .set_header(header);
    table
}

/// Columns from `first` on hold numbers and stand to the right.
fn finish(out: &mut String, title: &str, mut table: Table, first: usize) {
    for column in table.column_iter_mut().skip(first) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    line(out, "");
    line(out, title);
    for row in table.lines() {
        line(out, row.trim_end());
    }
}

/// The names of the study's axes, in order.
fn axes(summary: &Summary) -> Vec<String> {
    summary.cells.first().map(|cell| cell.point.keys().cloned().collect()).unwrap_or_default()
}

fn point(cell: &CellSummary) -> Vec<String> {
    let show = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => {
            number.as_f64().filter(|v| v.fract() != 0.0).map_or_else(|| number.to_string(), short)
        }
        other => other.to_string(),
    };
    cell.point.values().map(show).collect()
}

/// A number as written, cut to five significant digits.
fn short(value: f64) -> String {
    let digits = format!("{value}");
    if digits.len() <= 7 { digits } else { format!("{value:.4}") }
}

fn rows(summary: &Summary) -> impl Iterator<Item = (&CellSummary, &SeriesSummary)> {
    summary.cells.iter().flat_map(|cell| cell.series.iter().map(move |series| (cell, series)))
}

fn regrets(out: &mut String, summary: &Summary) {
    if rows(summary).all(|(_, series)| series.metrics.simple_regret.is_none()) {
        return;
    }
    let axes = axes(summary);
    let mut header = axes.clone();
    header.extend(["series", "simple regret", "cumulative regret", "n"].map(str::to_owned));
    let mut table = table(header);
    for (cell, series) in rows(summary) {
        let mut row = point(cell);
        row.push(series.name.clone());
        let Metrics { simple_regret, cumulative_regret, .. } = series.metrics.clone();
        row.push(simple_regret.map_or_else(String::new, regret));
        row.push(cumulative_regret.map_or_else(String::new, regret));
        row.push(simple_regret.map_or(0, |estimate| estimate.n).to_string());
        table.add_row(row);
    }
    finish(out, "Regret at the end (mean ± standard error over n replications)", table, axes.len() + 1);
}

fn published(out: &mut String, summary: &Summary) {
    if summary.cells.iter().all(|cell| cell.published.is_empty()) {
        return;
    }
    let axes = axes(summary);
    let mut header = axes.clone();
    header.extend(["series", "source", "metric", "published", "measured"].map(str::to_owned));
    let mut table = table(header);
    for cell in &summary.cells {
        for figure in &cell.published {
            let mut row = point(cell);
            row.extend([
                figure.series.clone(),
                figure.source.clone(),
                figure.metric.words().to_owned(),
                figure.published.to_string(),
                figure.measured.map_or_else(String::new, regret),
            ]);
            table.add_row(row);
        }
    }
    finish(out, "Published figures beside the measured ones", table, axes.len() + 3);
}

fn network(out: &mut String, summary: &Summary) {
    let axes = axes(summary);
    let mut header = axes.clone();
    header.extend(["series", "virtual time", "messages", "bytes", "lost", "p50", "p99"].map(str::to_owned));
    let mut table = table(header);
    let optional = |value: Option<f64>| value.map_or_else(String::new, seconds);
    for (cell, series) in rows(summary) {
        let metrics = &series.metrics;
        let mut row = point(cell);
        row.extend([
            series.name.clone(),
            seconds(metrics.virtual_seconds),
            quantity(metrics.messages),
            quantity(metrics.bytes),
            quantity(metrics.messages_lost),
            optional(metrics.latency_p50_seconds),
            optional(metrics.latency_p99_seconds),
        ]);
        table.add_row(row);
    }
    finish(
        out,
        "Network (mean of a run; p50, p99: latency of a message over one link)",
        table,
        axes.len() + 1,
    );
}

fn privacy(out: &mut String, summary: &Summary) {
    if summary.cells.iter().all(|cell| cell.privacy.is_empty()) {
        return;
    }
    let axes = axes(summary);
    let mut header = axes.clone();
    header.extend(["series", "whose", "seen by", "counted", "epsilon", "delta", "basis"].map(str::to_owned));
    let mut table = table(header);
    let mut notes: Vec<String> = Vec::new();
    for cell in &summary.cells {
        for entry in &cell.privacy {
            for loss in &entry.losses {
                let mut basis = loss.basis.clone();
                if !loss.note.is_empty() {
                    let known = notes.iter().position(|note| *note == loss.note).unwrap_or_else(|| {
                        notes.push(loss.note.clone());
                        notes.len() - 1
                    });
                    let _ = write!(basis, " [{}]", known + 1);
                }
                let mut row = point(cell);
                row.extend([
                    entry.series.clone(),
                    format!("{}: {}", entry.protected, unit_words(&entry.unit)),
                    format!("{} ({}x)", entry.observer, entry.releases),
                    loss.accountant.clone(),
                    epsilon(loss.epsilon),
                    format!("{:e}", loss.delta),
                    basis,
                ]);
                table.add_row(row);
            }
        }
    }
    finish(out, "Privacy loss of one run: who learned what about whom", table, usize::MAX);
    let mut relations: Vec<String> = Vec::new();
    for entry in summary.cells.iter().flat_map(|cell| &cell.privacy) {
        let words = format!("{}: {}", unit_words(&entry.unit), neighbours_words(&entry.neighbours));
        if !relations.contains(&words) {
            relations.push(words);
        }
    }
    for relation in relations {
        wrapped(out, &format!("  neighbours, {relation}"));
    }
    for (index, note) in notes.iter().enumerate() {
        wrapped(out, &format!("  [{}] {note}", index + 1));
    }
}

fn early_endings(out: &mut String, summary: &Summary) {
    for (cell, series) in rows(summary) {
        if let Some(reason) = &series.ended_early_because {
            let place =
                cell.point.iter().map(|(name, value)| format!(" at {name} = {value}")).collect::<String>();
            wrapped(
                out,
                &format!(
                    "warning: {} of {} replications of \"{}\"{place} ended early; the first: {reason}",
                    series.ended_early, series.replications, series.name
                ),
            );
        }
    }
}

/// Breaks a long line between words, later lines indented by six.
fn wrapped(out: &mut String, text: &str) {
    let indent = text.len() - text.trim_start().len();
    let mut current = " ".repeat(indent);
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && current.chars().count() + 1 + word.chars().count() > WIDTH as usize {
            line(out, &current);
            current = " ".repeat(6);
            empty = true;
        }
        if !empty {
            current.push(' ');
        }
        current.push_str(word);
        empty = false;
    }
    line(out, &current);
}

fn unit_words(unit: &ProtectedUnit) -> &'static str {
    match unit {
        ProtectedUnit::Record => "a record",
        ProtectedUnit::Outcome => "an outcome",
        ProtectedUnit::Reward => "a reward",
        ProtectedUnit::User => "a user",
        ProtectedUnit::Agent => "an agent",
        ProtectedUnit::ValidationRecord => "a validation record",
    }
}

fn neighbours_words(neighbours: &Neighbours) -> String {
    match neighbours {
        Neighbours::RowMoved { distance } => {
            format!("one row moved by a Euclidean distance of at most {distance} in the scaled inputs")
        }
        Neighbours::ReplaceOne => "one record replaced by any other".to_owned(),
        Neighbours::AddRemove => "one unit added or removed".to_owned(),
        Neighbours::ZeroOut => "one agent's contribution replaced by zero".to_owned(),
        Neighbours::AnyValue => "one value replaced by any other".to_owned(),
    }
}
