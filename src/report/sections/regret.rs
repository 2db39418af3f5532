//! The section on regret: regret at the end beside published values, regret by group of agents, and curves.

use super::cells::{by_series, rows};
use super::terms::meaning;
use super::{groups, regret_along_axes, sparklines};
use crate::report::document::{Block, Section, Visibility};
use crate::report::number::regret;
use crate::scenario::Metric;
use crate::study::{CellSummary, Estimate, PublishedRow, SeriesSummary, Summary};

/// A column that only a page shows, because it does not fit into a terminal.
const DIFFERENCE: &str = "measured minus published";

/// How curves are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) enum Curves {
    /// As sparklines.
    Sparklines,
    /// Not at all.
    Nowhere,
}

/// The section; `None` if no series has a regret at the end: the protocol optimises nothing, or no replication finished.
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
    for axis in regret_along_axes::axes_without_effect(summary) {
        let same =
            format!("Final regret is the same, to the last digit, for every value of {axis} in all cells.");
        blocks.push(Block::remark_on(same, Visibility::Page));
    }
    Some(Section::new("regret", "Regret", "Regret", blocks))
}

/// A difference with its sign, and at least three decimal places.
fn difference_of(value: f64) -> String {
    let size = value.abs();
    let places = if size > 0.0 { (1.0 - libm::floor(libm::log10(size))).clamp(3.0, 6.0) } else { 3.0 };
    format!("{value:+.*}", places as usize)
}

pub(super) fn at_the_end(summary: &Summary) -> Vec<Block> {
    let figures = || summary.cells.iter().flat_map(|cell| &cell.published);
    let uneven = question_counts_differ(summary);
    let has = |metric: Metric| figures().any(|figure| figure.metric == metric);
    let numbers = |cell: &CellSummary, series: &SeriesSummary| {
        let mut row = Vec::new();
        for metric in [Metric::SimpleRegret, Metric::CumulativeRegret] {
            let estimate = series.metrics.regret(metric);
            row.push(estimate.map_or_else(String::new, regret));
            if has(metric) {
                let here = |f: &&PublishedRow| f.series == series.name && f.metric == metric;
                let figure = cell.published.iter().find(here);
                row.push(figure.map_or_else(String::new, |figure| figure.published.to_string()));
                let difference = figure.zip(estimate).map(|(f, e)| e.mean - f.published);
                row.push(difference.map_or_else(String::new, difference_of));
            }
        }
        if uneven {
            row.push(series.metrics.regret_per_question.map_or_else(String::new, regret));
        }
        row.push(series.metrics.simple_regret.map_or(0, |estimate| estimate.n).to_string());
        (exact(series), row)
    };
    let found = rows(summary, numbers);
    let remark = found.remark();
    let mut columns = Vec::new();
    for metric in [Metric::SimpleRegret, Metric::CumulativeRegret] {
        columns.push(metric.words());
        if has(metric) {
            columns.extend(["published", DIFFERENCE]);
        }
    }
    columns.extend(uneven.then_some("per question"));
    columns.push("n");
    let mut sources: Vec<&str> = Vec::new();
    for figure in figures() {
        if !sources.contains(&figure.source.as_str()) {
            sources.push(&figure.source);
        }
    }
    let title = title(summary, "n replications");
    let table = found.table(title, columns).column_on(Visibility::Page, &[DIFFERENCE]).explained(meaning);
    let mut blocks = vec![Block::Table(table)];
    if !sources.is_empty() {
        blocks.push(Block::remark(format!("published: {}", sources.join("; "))));
    }
    blocks.extend(remark);
    blocks.extend(remarks(summary));
    blocks
}

/// The title of a table of regrets, with their unit.
pub(super) fn title(summary: &Summary, over: &str) -> String {
    let mut units: Vec<&str> = Vec::new();
    for cell in &summary.cells {
        if !cell.regret_unit.is_empty() && !units.contains(&cell.regret_unit.as_str()) {
            units.push(&cell.regret_unit);
        }
    }
    let unit = if units.is_empty() { String::new() } else { format!(", in {}", units.join(" or ")) };
    format!("Regret at the end{unit} (mean ± standard error, {over})")
}

/// The exact regrets and number of questions of a series, by which [`rows`] decides whether its results depend on an axis.
pub(super) fn exact(series: &SeriesSummary) -> [Option<Estimate>; 4] {
    let metrics = &series.metrics;
    [metrics.simple_regret, metrics.cumulative_regret, metrics.questions, metrics.regret_per_question]
}

/// Whether some series asked more questions than others, so that sums over questions cannot be compared.
pub(super) fn question_counts_differ(summary: &Summary) -> bool {
    let all = summary.cells.iter().flat_map(|cell| &cell.series);
    let asked: Vec<f64> = all.filter_map(|series| Some(series.metrics.questions?.mean)).collect();
    let (least, most) = asked.iter().fold((f64::INFINITY, 0.0f64), |(a, b), &x| (a.min(x), b.max(x)));
    most > least * (1.0 + 1e-9)
}

/// Remarks for a comparison of regrets: on unequal numbers of questions, and on learners that queried a single arm.
pub(super) fn remarks(summary: &Summary) -> Vec<Block> {
    let mut blocks = Vec::new();
    if question_counts_differ(summary) {
        blocks.push(Block::remark(
            "per question: cumulative regret divided by the questions asked. The rows have different numbers of questions (lost \
             messages, answers that come late), and a sum over fewer questions is smaller for that reason alone.",
        ));
    }
    let mut stuck: Vec<String> = Vec::new();
    for group in by_series(summary) {
        let (of, all) = group
            .iter()
            .fold((0, 0), |(of, all), (_, series)| (of + series.one_arm, all + series.replications));
        if of > 0 {
            stuck.push(format!("\"{}\" in {of} of {all} replications", group[0].1.name));
        }
    }
    if !stuck.is_empty() {
        blocks.push(Block::remark(format!(
            "learners that queried one and the same arm in every recorded round: {}. Such a learner has the same regret \
             whatever the noise or epsilon is, which does not show that noise and epsilon have no effect.",
            stuck.join(", ")
        )));
    }
    blocks
}
