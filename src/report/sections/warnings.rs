//! Warnings: learners that never left an arm, jitter that models needed, privacy budgets that were reached, and
//! replications that ended early.

use super::cells::by_series;
use super::points::Axes;
use crate::protocols::OneArm;
use crate::report::document::{Block, Section, Visibility};
use crate::study::Summary;
use crate::vocab::counted;
use std::collections::BTreeSet;

/// Largest number of warnings that a page shows unfolded.
const OPEN: usize = 2;

/// The section of a terminal's report; usually empty.
pub(super) fn section(summary: &Summary) -> Section {
    let mut blocks: Vec<Block> = Vec::new();
    blocks.extend(jitter(summary).map(|note| Block::statement(note, Visibility::Everywhere)));
    blocks.extend(warnings(summary));
    Section { urgent: true, blocks, ..Section::default() }
}

/// The warnings on a page. If there are more than [`OPEN`], all of them are in one folded block.
pub(super) fn folded(summary: &Summary) -> Vec<Block> {
    let blocks = warnings(summary);
    if blocks.len() <= OPEN {
        return blocks;
    }
    let title = format!(
        "{} warnings: learners that never left an arm, budgets that were reached, replications that ended early",
        blocks.len()
    );
    vec![Block::Folded { title, blocks }]
}

fn warnings(summary: &Summary) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let axes = Axes::of(summary);
    for (cell, series) in by_series(summary).into_iter().flatten() {
        let place: String = axes.axis_values(cell).into_iter().map(|told| format!(" at {told}")).collect();
        let replications = counted(series.replications, "replication");
        let name = &series.name;
        if let Some((runs, found)) = series.never_left.as_ref().filter(|_| !series.at_random) {
            blocks.push(Block::warning(never_left(name, &place, (*runs, &replications), found)));
        }
        if let Some(reason) = &series.budget {
            blocks.push(Block::warning(format!(
                "privacy budget reached by \"{name}\"{place} in {} of {replications}; the first: {reason}",
                series.budget_reached,
            )));
        }
        if let Some(reason) = &series.ended_early_because {
            blocks.push(Block::warning(format!(
                "warning: {} of {replications} of \"{name}\"{place} ended early and {} not included in final regrets; the \
                 first: {reason}",
                series.ended_early,
                if series.ended_early == 1 { "is" } else { "are" },
            )));
        }
    }
    blocks
}

/// The warning about a learner that never left an arm, with advice.
fn never_left(name: &str, place: &str, (runs, replications): (u64, &str), found: &OneArm) -> String {
    let OneArm { rounds, arms, unknown, learners } = found;
    let who = match learners {
        1 => format!("\"{name}\"{place}"),
        _ => format!("{learners} learners of \"{name}\"{place}"),
    };
    format!(
        "warning: {who} played 1 of {arms} arms in {rounds} rounds, and the model of the objective knows next to nothing about \
         {unknown} of the others (in {runs} of {replications}). If its prior mean or variance does not fit \
         the outcomes' unit, standardise the outcomes (`output_scale` of Table and Correlation), or state a prior mean and \
         variance in their unit; if the noise is many times the prior standard deviation, more rounds or less noise help",
    )
}

/// The largest jitter and the series that needed jitter, in words; `None` if no model needed any.
pub(super) fn jitter(summary: &Summary) -> Option<String> {
    let needed = || summary.cells.iter().flat_map(|cell| &cell.series).filter(|series| series.jitter > 0.0);
    let most = needed().map(|series| series.jitter).fold(0.0, f64::max);
    let names: BTreeSet<String> = needed().map(|series| format!("\"{}\"", series.name)).collect();
    let everywhere = names.len() == by_series(summary).len();
    let told =
        if everywhere { "every series".to_owned() } else { names.into_iter().collect::<Vec<_>>().join(", ") };
    (most > 0.0).then(|| {
        format!(
            "jitter: up to {most:.1e} was added to the diagonal of a covariance matrix that rounding had made singular, in {told}"
        )
    })
}
