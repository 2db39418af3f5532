//! Statements on the bias of the answers that arrived: the mean of a number (such as the reward) over these answers, minus
//! its mean over all answers that were requested.

use super::cells::by_series;
use super::points::Axes;
use crate::report::document::{Block, Visibility};
use crate::report::number::quantity_of;
use crate::study::{Estimate, Summary};

/// End of the name of each outcome of a replication that is such a bias.
const BIAS: &str = " of answers heard minus that of answers due";
/// Confidence of the intervals, by Student's t.
const CONFIDENCE: f64 = 0.95;
/// Largest number of pairs of series and cell that are named for one bias.
const NAMED: usize = 6;

/// A statement for each bias whose interval does not contain 0 for some series in some cell: where, how large the bias
/// is, and its interval.
pub(super) fn statements(summary: &Summary) -> Vec<Block> {
    let mut names: Vec<&str> = Vec::new();
    let all = summary.cells.iter().flat_map(|cell| &cell.series).flat_map(|series| &series.outcomes);
    for outcome in all.filter(|outcome| outcome.name.ends_with(BIAS)) {
        if !names.contains(&outcome.name.as_str()) {
            names.push(&outcome.name);
        }
    }
    names.into_iter().filter_map(|name| statement(summary, name)).collect()
}

fn statement(summary: &Summary, name: &str) -> Option<Block> {
    let axes = Axes::of(summary);
    let mut found: Vec<String> = Vec::new();
    let (mut most, mut tested) = (0, 0);
    for (cell, series) in by_series(summary).into_iter().flatten() {
        let Some(outcome) = series.outcomes.iter().find(|outcome| outcome.name == name) else { continue };
        let Estimate { mean, n, .. } = outcome.value;
        let Some(half) = outcome.value.half_width(CONFIDENCE) else { continue };
        tested += 1;
        if mean.abs() > half {
            most = n.max(most);
            let place: String =
                axes.axis_values(cell).into_iter().map(|told| format!(" at {told}")).collect();
            let (low, high) = (quantity_of(mean - half), quantity_of(mean + half));
            found.push(format!("{} ({low} to {high}) in \"{}\"{place}", quantity_of(mean), series.name));
        }
    }
    if found.is_empty() {
        return None;
    }
    let further = found.len().saturating_sub(NAMED);
    let count = found.len();
    found.truncate(NAMED);
    let further = if further > 0 { format!("; and {further} more") } else { String::new() };
    let text = format!(
        "the answers heard are not a representative sample of those due: {name} differs from 0 in {count} of {tested} \
         pairs of series and cell (mean with 95 % interval over {most} replications): {}{further}",
        found.join("; ")
    );
    Some(Block::statement(text, Visibility::Everywhere))
}
