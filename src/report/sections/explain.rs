//! The report of `explain`: tables of shares of variance for each series, and a chart of these shares.

use crate::report::document::{Block, Document, Section, Table, Visibility};
use crate::report::number::{quantity_of, two_digits};
use crate::report::plots::{Axis, Chart, Kind, Line, Point};
use crate::study::{Explained, ExplainedSeries, PairShare, Share};
use crate::vocab::counted;

/// Largest number of pairs of varied values that are listed for a series; explain.csv has all pairs.
const MOST_PAIRS: usize = 10;

/// A share with three decimal places, without "-0.000".
fn number(share: f64) -> String {
    format!("{:.3}", libm::round(share * 1000.0) / 1000.0 + 0.0)
}

fn interval(share: &Share) -> String {
    match (share.low, share.high) {
        (Some(low), Some(high)) => format!("{} to {}", number(low), number(high)),
        _ => "none".to_owned(),
    }
}

fn tables(found: &Explained, series: &ExplainedSeries) -> Vec<Block> {
    let sd = if series.variance.value > 0.0 { series.variance.value.sqrt() } else { 0.0 };
    let metric = found.metric.replace('_', " ");
    if series.axes.is_empty() {
        let told = format!(
            "{}: {metric} does not vary between cells beyond the noise of replications (mean {}, standard deviation of noise {}).",
            series.series,
            quantity_of(series.mean),
            quantity_of(series.noise.sqrt())
        );
        return vec![Block::statement(told, Visibility::Everywhere)];
    }
    let title = format!(
        "{}: shares of the variance of {metric} (mean {}, standard deviation between cells {}, of noise {})",
        series.series,
        quantity_of(series.mean),
        quantity_of(sd),
        quantity_of(series.noise.sqrt())
    );
    let ends = format!("{} % interval", two_digits(100.0 * found.confidence));
    let header = ["parameter", "alone", &ends, "with others", &ends].map(str::to_owned).to_vec();
    let rows = series.axes.iter().map(|axis| {
        let (first, total) = (&axis.first, &axis.total);
        vec![axis.axis.clone(), number(first.value), interval(first), number(total.value), interval(total)]
    });
    let mut blocks = vec![Block::Table(Table::new(title, header, rows.collect(), 1))];
    let mut pairs: Vec<&PairShare> = series.pairs.iter().collect();
    pairs.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
    if !pairs.is_empty() {
        let row = |pair: &&PairShare| {
            vec![pair.axes.join(" and "), number(pair.share.value), interval(&pair.share)]
        };
        let rows: Vec<Vec<String>> = pairs.iter().take(MOST_PAIRS).map(row).collect();
        let title = format!(
            "{}: shares of the interaction of two parameters, beyond what each explains alone",
            series.series
        );
        let header = ["parameters", "share", &ends].map(str::to_owned).to_vec();
        blocks.push(Block::Table(Table::new(title, header, rows, 1)));
        if pairs.len() > MOST_PAIRS {
            blocks.push(Block::remark(format!(
                "The {MOST_PAIRS} largest of {} are shown; explain.csv has all.",
                counted(pairs.len() as u64, "pair")
            )));
        }
    }
    blocks
}

/// The tables, a remark on how to read them, and notes on what was left out.
pub(in crate::report) fn document(found: &Explained) -> Document {
    let mut blocks: Vec<Block> = found.series.iter().flat_map(|series| tables(found, series)).collect();
    let cells = counted(found.cells as u64, "cell");
    let replications = counted(found.replications, "replication");
    let design = match found.points {
        None => {
            format!(
                "all combinations of the parameters' values, each value with equal weight: {cells}, {replications}"
            )
        }
        Some(points) => {
            let ranges: Vec<String> = found
                .axes
                .iter()
                .map(|axis| format!("{} from {}", axis.name, axis.values.join(" to ")))
                .collect();
            format!("{} quasi-random points of {}: {cells}, {replications}", points, ranges.join(", "))
        }
    };
    blocks.push(Block::remark(format!(
        "alone: the share of the variance between cells that a varied parameter explains alone (first-order Sobol' index); with \
         others: this share plus the shares of all its interactions with other parameters (total index). The noise of \
         replications is removed without bias, so a share of 0 may be estimated below 0. Intervals: bootstrap, {} \
         resamples, approximate. Design: {design}.",
        found.resamples
    )));
    if found.series.iter().any(|series| series.axes.iter().any(|axis| axis.first.low.is_none())) {
        blocks.push(Block::remark(
            "No interval: an interval requires at least 5 replications, and a variance between cells that can be distinguished from noise.",
        ));
    }
    blocks.extend(
        found.notes.iter().map(|note| Block::statement(format!("note: {note}"), Visibility::Everywhere)),
    );
    blocks.push(Block::statement(format!("run: {}", found.run), Visibility::Everywhere));
    Document { sections: vec![Section { blocks, ..Section::default() }], ..Document::default() }
}

/// A chart of the shares of variance: for every series, the share of every varied parameter alone, and its share with
/// others.
#[must_use]
pub fn explain_chart(found: &Explained) -> Chart {
    let names: Vec<String> = found.axes.iter().map(|axis| axis.name.clone()).collect();
    let told: Vec<&ExplainedSeries> = found.series.iter().filter(|series| !series.axes.is_empty()).collect();
    let entries = (2 * told.len()).max(1) as f64;
    let mut legend = Vec::new();
    let mut lines = Vec::new();
    for series in told {
        for (total, words) in [(false, "alone"), (true, "with others")] {
            let key = legend.len();
            // Marks of one parameter stand side by side.
            let shift = 0.5 * ((key as f64 + 0.5) / entries - 0.5);
            let points = series.axes.iter().enumerate().map(|(place, axis)| {
                let share = if total { axis.total } else { axis.first };
                let error = |end: Option<f64>| end.map_or(0.0, |end| (end - share.value).abs());
                Point {
                    x: place as f64 + 1.0 + shift,
                    y: share.value,
                    error: error(share.low).max(error(share.high)),
                    at: axis.axis.clone(),
                    says: format!("{} ({})", number(share.value), interval(&share)),
                }
            });
            lines.push(Line { key, kind: Kind::Marks, points: points.collect() });
            legend.push(format!("{}, {words}", series.series));
        }
    }
    let heights: Vec<(f64, f64)> =
        lines.iter().flat_map(|line| &line.points).map(|point| (point.y, point.error)).collect();
    let mut x = Axis::in_order(&names);
    (x.low, x.high) = (0.5, names.len() as f64 + 0.5);
    Chart {
        id: "explain".to_owned(),
        title: format!("What the {} depends on", found.metric.replace('_', " ")),
        x_label: "varied parameter".to_owned(),
        y_label: "share of the variance".to_owned(),
        x,
        y: Axis::plain(heights.into_iter().chain([(0.0, 0.0), (1.0, 0.0)])),
        legend,
        lines,
        note: format!(
            "Shares of the variance between cells, without the noise of {}. Bars: in both directions as long as the distance to the farther end of the {} % bootstrap interval.",
            counted(found.replications, "replication"),
            two_digits(100.0 * found.confidence)
        ),
        caption: String::new(),
        beyond: Vec::new(),
    }
}
