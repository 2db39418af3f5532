//! Regret by series and cell, with the figures that papers print.

use super::style::{line, table, wrapped};
use crate::report::cells::rows;
use crate::report::number::regret;
use crate::scenario::Metric;
use crate::study::{CellSummary, PublishedRow, SeriesSummary, Summary};

pub(super) fn section(out: &mut String, summary: &Summary) {
    let all = || summary.cells.iter().flat_map(|cell| &cell.series);
    if all().all(|series| series.metrics.simple_regret.is_none()) {
        return;
    }
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
        }
    }
    header.push("n".to_owned());
    let title = "Regret at the end (mean ± standard error over n replications)";
    let shortened = rows.iter().any(|row| row[1..first_number].contains(&"any".to_owned()));
    table(out, title, header, rows, first_number);
    let mut sources: Vec<&str> = Vec::new();
    for figure in figures() {
        if !sources.contains(&figure.source.as_str()) {
            sources.push(&figure.source);
        }
    }
    if !sources.is_empty() {
        wrapped(out, 2, &format!("published: {}", sources.join("; ")));
    }
    if shortened {
        line(out, "  any: does not matter");
    }
}
