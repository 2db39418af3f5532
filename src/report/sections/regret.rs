//! Regret at the end with published figures, by group, and the curves.

use super::cells::rows;
use super::{along, by_round, groups, sparklines};
use crate::report::document::{Block, Figure, Section, Shown, Table};
use crate::report::number::regret;
use crate::scenario::Metric;
use crate::study::{CellSummary, PublishedRow, SeriesSummary, Summary};

/// Number of figures that are shown at first; the others can be opened.
const OPEN: usize = 4;
/// A column that does not fit into a terminal.
const DIFFERENCE: &str = "measured minus published";

/// How curves are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Curves {
    /// As charts.
    Charts,
    /// As sparklines.
    Sparklines,
    /// Not at all.
    Nowhere,
}

/// The section; `None` for a protocol that optimises nothing.
pub(super) fn section(summary: &Summary, curves: Curves) -> Option<Section> {
    let mut all = summary.cells.iter().flat_map(|cell| &cell.series);
    if all.all(|series| series.metrics.simple_regret.is_none()) {
        return None;
    }
    let mut blocks = at_the_end(summary);
    if curves == Curves::Sparklines {
        blocks.extend(sparklines::blocks(summary));
    }
    blocks.extend(groups::blocks(summary));
    if curves == Curves::Charts {
        for axis in along::untouched(summary) {
            blocks.push(Block::remark_on(format!("No series' regret depends on {axis}."), Shown::Page));
        }
        blocks.extend(some_open(along::figures(summary), "more by parameter of the study"));
        blocks.extend(some_open(by_round::figures(summary), "more by round"));
    }
    Some(Section::new("regret", "Regret", "Regret", blocks))
}

fn some_open(mut figures: Vec<Figure>, rest: &str) -> Vec<Block> {
    let folded: Vec<Block> =
        figures.split_off(figures.len().min(OPEN)).into_iter().map(Block::Figure).collect();
    let mut blocks: Vec<Block> = figures.into_iter().map(Block::Figure).collect();
    if !folded.is_empty() {
        blocks.push(Block::Folded { title: format!("{} {rest}", folded.len()), blocks: folded });
    }
    blocks
}

/// A difference with its sign, to two digits at least.
fn difference_of(value: f64) -> String {
    let size = value.abs();
    let places = if size > 0.0 { (1.0 - libm::floor(libm::log10(size))).clamp(3.0, 6.0) } else { 3.0 };
    format!("{value:+.*}", places as usize)
}

fn at_the_end(summary: &Summary) -> Vec<Block> {
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
            header.extend(["published", DIFFERENCE].map(str::to_owned));
        }
    }
    header.push("n".to_owned());
    let mut sources: Vec<&str> = Vec::new();
    for figure in figures() {
        if !sources.contains(&figure.source.as_str()) {
            sources.push(&figure.source);
        }
    }
    let shortened = rows.iter().any(|row| row[1..first_number].contains(&"any".to_owned()));
    let title = "Regret at the end (mean ± standard error over n replications)";
    let table = Table::new(title, header, rows, first_number).column_on(Shown::Page, &[DIFFERENCE]);
    let mut blocks = vec![Block::Table(table)];
    if !sources.is_empty() {
        blocks.push(Block::remark(format!("published: {}", sources.join("; "))));
    }
    if shortened {
        blocks
            .push(Block::remark("any: the numbers of the row are the same for every value of the parameter"));
    }
    blocks
}
