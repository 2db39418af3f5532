//! The charts of a study's results: epsilon against regret, regret and costs along the study's parameters, and regret by
//! round.

use super::headline::Measure;
use super::lines::MAX_FIGURES;
use super::{by_round, costs, regret_along_axes, trade_off};
use crate::report::document::{Block, Figure, Section, Visibility};
use crate::study::Summary;

/// Number of figures of each kind that are shown at first; the others can be opened.
const OPEN: usize = 4;

/// The section; `None` if there is nothing to draw.
pub(super) fn section(summary: &Summary) -> Option<Section> {
    let mut blocks: Vec<Block> = trade_off::figure(summary).map(Block::Figure).into_iter().collect();
    let kinds = [
        (regret_along_axes::figures(summary), "more by parameter of the study"),
        (by_round::figures(summary), "more by round"),
        (costs::figures(summary), "more costs by parameter of the study"),
    ];
    let cut = kinds.iter().any(|(figures, _)| figures.len() >= MAX_FIGURES);
    blocks.extend(kinds.into_iter().flat_map(|(figures, rest)| some_open(figures, rest)));
    if cut {
        let told = format!(
            "Where there is a figure for each combination of values of other parameters, at most {MAX_FIGURES} combinations, evenly \
             spaced, are drawn. summary.csv has the numbers of all cells."
        );
        blocks.push(Block::remark_on(told, Visibility::Page));
    }
    // A private release is judged by the published setting, so equal regret of its search is not worth a remark.
    let released = Measure::of(summary) == Some(Measure::PublishedSetting);
    for axis in regret_along_axes::axes_without_effect(summary).into_iter().filter(|_| !released) {
        let told = format!(
            "Not drawn against {axis}: regret at the end is the same in all cells that differ in it alone."
        );
        blocks.push(Block::remark_on(told, Visibility::Page));
    }
    (!blocks.is_empty()).then(|| Section::new("charts", "Charts", "Charts", blocks))
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
