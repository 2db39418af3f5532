//! Regret at the end beside published figures, then the curves.

use super::charts::Plate;
use super::figure::plate;
use super::table::table;
use super::{along, charts};
use crate::report::cells::rows;
use crate::report::groups::{JAIN, tables};
use crate::report::number::regret;
use crate::scenario::Metric;
use crate::study::{CellSummary, PublishedRow, SeriesSummary, Summary};
use maud::{Markup, html};

/// Plates that are open from the start; the others unfold.
const OPEN: usize = 4;

pub(super) fn section(summary: &Summary) -> Option<Markup> {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    if all.all(|series| series.metrics.simple_regret.is_none()) {
        return None;
    }
    let along = along::plates(summary);
    let by_round = charts::by_round(summary);
    Some(html! {
        section id="regret" {
            h2 { "How good: regret" }
            (final_table(summary))
            (by_group(summary))
            @for axis in along::untouched(summary) {
                p.note { "No series' regret depends on " (axis) "." }
            }
            (some_open(&along, "more along the axes of the sweep"))
            (some_open(&by_round, "more by round"))
        }
    })
}

fn some_open(plates: &[Plate], rest: &str) -> Markup {
    let (open, folded) = plates.split_at(plates.len().min(OPEN));
    html! {
        @for one in open { (plate(one)) }
        @if !folded.is_empty() {
            details {
                summary { (folded.len()) " " (rest) }
                @for one in folded { (plate(one)) }
            }
        }
    }
}

/// How unequally groups of agents fared.
fn by_group(summary: &Summary) -> Markup {
    let tables = tables(summary, regret);
    html! {
        @for one in &tables { (table(one.title, &one.header, &one.rows, one.first_number)) }
        @if !tables.is_empty() { p.note { (JAIN) "." } }
    }
}

/// A difference with its sign, to two digits at least.
fn difference_of(value: f64) -> String {
    let size = value.abs();
    let places = if size > 0.0 { (1.0 - libm::floor(libm::log10(size))).clamp(3.0, 6.0) } else { 3.0 };
    format!("{value:+.*}", places as usize)
}

fn final_table(summary: &Summary) -> Markup {
    let figures = || summary.cells.iter().flat_map(|cell| &cell.published);
    let has = |metric: Metric| figures().any(|figure| figure.metric == metric);
    let numbers = |cell: &CellSummary, series: &SeriesSummary| {
        let mut row = Vec::new();
        for metric in [Metric::SimpleRegret, Metric::CumulativeRegret] {
            let estimate = match metric {
                Metric::SimpleRegret => series.metrics.simple_regret,
                Metric::CumulativeRegret => series.metrics.cumulative_regret,
            };
            row.push(estimate.map_or_else(String::new, regret));
            if has(metric) {
                let here = |f: &&PublishedRow| f.series == series.name && f.metric == metric;
                let figure = cell.published.iter().find(here);
                row.push(figure.map_or_else(String::new, |figure| figure.published.to_string()));
                let difference = figure.zip(estimate).map(|(f, e)| e.mean - f.published);
                row.push(difference.map_or_else(String::new, difference_of));
            }
        }
        row.push(series.metrics.simple_regret.map_or(0, |estimate| estimate.n).to_string());
        row
    };
    let (axes, rows) = rows(summary, numbers);
    let first_number = 1 + axes.len();
    let mut header = vec!["series".to_owned()];
    header.extend(axes);
    for metric in [Metric::SimpleRegret, Metric::CumulativeRegret] {
        header.push(metric.words().to_owned());
        if has(metric) {
            header.push("published".to_owned());
            header.push("ours minus published".to_owned());
        }
    }
    header.push("n".to_owned());
    let mut sources: Vec<&str> = Vec::new();
    for figure in figures() {
        if !sources.contains(&figure.source.as_str()) {
            sources.push(&figure.source);
        }
    }
    html! {
        (table("Regret after the last round: mean ± standard error over n replications", &header, &rows, first_number))
        @if !sources.is_empty() { p.note { "Published: " (sources.join("; ")) "." } }
        @if rows.iter().any(|row| row[1..first_number].contains(&"any".to_owned())) { p.note { "any: it does not matter to the series." } }
    }
}
