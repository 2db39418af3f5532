//! `summary.csv`: one line per cell, series and metric.

use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::results::columns::{Entry, integers, numbers, texts};
use crate::study::results::points::Points;
use crate::study::results::series::SeriesSummary;
use crate::study::results::statistics::Estimate;
use crate::study::results::summary::Summary;
use crate::study::results::table::Table;

/// A metric: its name, its mean, its standard error if it has one, and the number of replications.
type Line = (String, f64, Option<f64>, u64);

/// Writes the table to `folder`.
pub(in crate::study) fn write(folder: &RunFolder, summary: &Summary) -> Result<(), FolderError> {
    let points = Points::of_summary(summary);
    let mut columns = vec![integers("cell")];
    columns.extend(points.columns());
    columns.extend(["series", "metric"].map(texts));
    columns.extend(["mean", "se"].map(numbers));
    columns.push(integers("n"));
    let mut table = Table::new(folder, "summary", columns)?;
    for (index, cell) in summary.cells.iter().enumerate() {
        for series in &cell.series {
            for (metric, mean, se, n) in lines(series) {
                let mut row = vec![Entry::from(index)];
                row.extend(points.entries(index));
                row.extend([series.name.as_str().into(), metric.as_str().into(), mean.into()]);
                row.extend([se.into(), n.into()]);
                table.row(row)?;
            }
        }
    }
    Ok(table.commit()?)
}

fn lines(series: &SeriesSummary) -> Vec<Line> {
    let metrics = &series.metrics;
    let mut lines: Vec<Line> = Vec::new();
    let mut line = |name: &str, estimate: Estimate| {
        lines.push((name.to_owned(), estimate.mean, Some(estimate.se), estimate.n));
    };
    let estimates = [
        ("simple_regret", metrics.simple_regret),
        ("cumulative_regret", metrics.cumulative_regret),
        ("questions", metrics.questions),
        ("regret_per_question", metrics.regret_per_question),
        ("seconds_per_round", metrics.seconds_per_round),
    ];
    estimates.into_iter().for_each(|(name, found)| found.into_iter().for_each(|found| line(name, found)));
    for outcome in &series.outcomes {
        let n = outcome.value.n;
        lines.push((outcome.name.clone(), outcome.value.mean, Some(outcome.value.se), n));
        if let Some(bound) = &outcome.bound {
            let name = &outcome.name;
            lines.push((format!("bound on {name}"), bound.at_most, None, n));
            lines.push((format!("probability that the bound on {name} holds"), bound.probability, None, n));
            lines.push((format!("share of runs within the bound on {name}"), bound.held, None, n));
        }
    }
    let errors = &metrics.errors;
    let costs = [
        ("virtual_seconds", Some(metrics.virtual_seconds), Some(errors.virtual_seconds)),
        ("messages", Some(metrics.messages), Some(errors.messages)),
        ("bytes", Some(metrics.bytes), Some(errors.bytes)),
        ("messages_lost", Some(metrics.messages_lost), Some(errors.messages_lost)),
        // Quantiles are taken over the messages of all replications together, so they have no standard error.
        ("latency_p50_seconds", metrics.latency_p50_seconds, None),
        ("latency_p99_seconds", metrics.latency_p99_seconds, None),
    ];
    let n = series.replications;
    let told = costs.into_iter().filter_map(|(name, mean, se)| Some((name.to_owned(), mean?, se, n)));
    lines.extend(told);
    lines
}
