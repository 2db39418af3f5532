//! Statements of the short report about counts and outcomes (numbers at the end of a series) that are not 0. Without these
//! statements, regrets could be misread.

use super::cells::by_series;
use super::points::Axes;
use crate::report::document::{Block, Visibility};
use crate::report::number::{quantity, two_digits};
use crate::study::{CellSummary, SeriesSummary, Summary};

/// Names of counts and outcomes, each with its meaning. The statements give means over replications.
const NUMBERS: [(&str, &str); 5] = [
    ("rounds given up", "rounds that ended without a sum, since too few answers or shares of masks arrived"),
    ("rounds given up that the server can unmask", "rounds given up whose sum the server can compute later"),
    ("no trial, nothing published", "share of replications without a trial, in which nothing was published"),
    (
        "Functions of agents: value lost at other points",
        "the best value of an agent's function over all points minus its best value over its own points, a difference that regret does not contain",
    ),
    (
        "Overlap of domains: share of own points lost, mean of agents",
        "of the points that an agent can measure, the share at which it does not choose by sums, or that lie in a region whose sum lacks the agent's vector",
    ),
];
/// Largest number of pairs of series and cell that are named for one count or outcome.
const NAMED: usize = 6;

/// A statement for each count or outcome that is not 0 in at least one series of one cell.
pub(super) fn statements(summary: &Summary) -> Vec<Block> {
    NUMBERS.iter().filter_map(|(name, words)| statement(summary, name, words)).collect()
}

fn value(series: &SeriesSummary, name: &str) -> Option<f64> {
    let outcome = || series.outcomes.iter().find(|outcome| outcome.name == name).map(|row| row.value.mean);
    series.metrics.counts.get(name).copied().or_else(outcome).filter(|value| *value != 0.0)
}

fn statement(summary: &Summary, name: &str, words: &str) -> Option<Block> {
    let axes = Axes::of(summary);
    let told = |(cell, series): (&CellSummary, &SeriesSummary)| {
        let value = value(series, name)?;
        let place: String = axes.axis_values(cell).into_iter().map(|told| format!(" at {told}")).collect();
        let value = if value.abs() < 10.0 { two_digits(value) } else { quantity(value) };
        Some(format!("{value} in \"{}\"{place}", series.name))
    };
    let mut found: Vec<String> = by_series(summary).into_iter().flatten().filter_map(told).collect();
    let further = found.len().saturating_sub(NAMED);
    found.truncate(NAMED);
    if further > 0 {
        found.push(format!("and {further} more"));
    }
    let text = format!("{words}: {}", found.join("; "));
    (!found.is_empty()).then(|| Block::statement(text, Visibility::Everywhere))
}
