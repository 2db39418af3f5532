//! Common parts of charts of a study's series: the cells on one chart, the names of lines, and their last
//! points.

use super::cells::{axes, dependence, point};
use crate::report::number::regret;
use crate::report::plots::{Line, Point};
use crate::scenario::Metric;
use crate::study::{CellSummary, Estimate, SeriesSummary, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of lines in a readable chart; as many as there are colours.
pub(super) const MOST_LINES: usize = 8;
/// Largest number of figures of a kind. A study of ten thousand cells would have as many, which nobody looks at, in a page
/// that no browser opens.
pub(super) const MOST_FIGURES: usize = 100;
/// Largest number of points of a line that are drawn; of longer lines every second, third, ... point is.
const MOST_POINTS: usize = 400;
pub(super) const METRICS: [Metric; 2] = [Metric::SimpleRegret, Metric::CumulativeRegret];

/// A named series of numbers, one line in each of a figure's charts.
pub(super) type Named<'a> = (String, &'a SeriesSummary);

/// Cells that go on one figure, with the values of the axes that they share: as few axes of
/// `fixable` as possible are held fixed, just enough for each figure to have few lines. At most [`MOST_FIGURES`] groups,
/// the first ones.
pub(super) fn grouped<'a>(
    summary: &'a Summary,
    fixable: &[usize],
    lines: impl Fn(&[&CellSummary]) -> usize,
) -> Vec<(String, Vec<&'a CellSummary>)> {
    let names = axes(summary);
    let by = |fixed: &[usize]| {
        let mut groups: Vec<(String, Vec<&'a CellSummary>)> = Vec::new();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for cell in &summary.cells {
            let place = place(&names, cell, fixed);
            let index = *known.entry(place).or_insert_with_key(|place| {
                groups.push((place.clone(), Vec::new()));
                groups.len() - 1
            });
            groups[index].1.push(cell);
        }
        groups
    };
    // With more axes than these, all are held fixed.
    let some = fixable.len().min(6);
    let fixed_by = |way: u32| {
        let fixed = fixable.iter().enumerate().filter(|(bit, _)| *bit >= some || way >> bit & 1 == 1);
        fixed.map(|(_, axis)| *axis).collect::<Vec<usize>>()
    };
    let mut ways: Vec<Vec<usize>> = (0..1_u32 << some).map(fixed_by).collect();
    ways.sort_by_key(Vec::len);
    let mut groups = ways.iter().map(|fixed| by(fixed));
    let fitting = groups.find(|groups| groups.iter().all(|(_, cells)| lines(cells) <= MOST_LINES));
    let mut groups = fitting.unwrap_or_else(|| by(fixable));
    groups.truncate(MOST_FIGURES);
    groups
}

/// The series of some cells with names that distinguish them; a series that does not depend on some axis appears once
/// for it.
pub(super) fn named<'a>(cells: &[&'a CellSummary], names: &[String]) -> Vec<Named<'a>> {
    let mut found: Vec<Named<'a>> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let Some(first) = cells.first() else { return found };
    for series in &first.series {
        let runs: Vec<(&CellSummary, &SeriesSummary)> = cells
            .iter()
            .filter_map(|cell| Some((*cell, cell.series.iter().find(|other| other.name == series.name)?)))
            .collect();
        let told = telling(&runs);
        for (cell, run) in runs {
            let place = place(names, cell, &told);
            let name =
                if place.is_empty() { series.name.clone() } else { format!("{}, {place}", series.name) };
            if known.insert(name.clone()) {
                found.push((name, run));
            }
        }
    }
    found
}

/// The axes on which the results of one series depend.
pub(super) fn telling(runs: &[(&CellSummary, &SeriesSummary)]) -> Vec<usize> {
    let results: Vec<(Vec<String>, Results)> =
        runs.iter().map(|(cell, run)| (point(cell), Results::of(run))).collect();
    let varies = |axis: usize| results.iter().any(|(point, _)| point[axis] != results[0].0[axis]);
    let depends = dependence(&results);
    (0..depends.len()).filter(|axis| depends[*axis] && varies(*axis)).collect()
}

/// The result of a series.
#[derive(PartialEq)]
struct Results(Vec<Option<Estimate>>, Vec<(u64, Estimate, Estimate)>);

impl Results {
    fn of(series: &SeriesSummary) -> Self {
        Self(
            METRICS.iter().map(|metric| of(*metric, series)).collect(),
            series.curve.iter().map(|step| (step.t, step.simple_regret, step.cumulative_regret)).collect(),
        )
    }
}

pub(super) fn place(names: &[String], cell: &CellSummary, of: &[usize]) -> String {
    let values = point(cell);
    let words = of.iter().filter_map(|axis| Some(format!("{} = {}", names.get(*axis)?, values.get(*axis)?)));
    words.collect::<Vec<_>>().join(", ")
}

pub(super) fn of(metric: Metric, series: &SeriesSummary) -> Option<Estimate> {
    match metric {
        Metric::SimpleRegret => series.metrics.simple_regret,
        Metric::CumulativeRegret => series.metrics.cumulative_regret,
    }
}

pub(super) fn made(x: f64, estimate: Estimate, at: String) -> Point {
    Point { x, y: estimate.mean, error: estimate.se, at, says: regret(estimate) }
}

/// Values and errors of all lines.
pub(super) fn numbers(lines: &[Line]) -> impl Iterator<Item = (f64, f64)> {
    lines.iter().flat_map(|line| &line.points).map(|point| (point.y, point.error))
}

pub(super) fn stride(points: usize) -> usize {
    points.div_ceil(MOST_POINTS).max(1)
}

/// Least and largest number of replications in words.
pub(super) fn count(n: (Option<u64>, Option<u64>)) -> String {
    match n {
        (Some(least), Some(most)) if least < most => format!("n = {least} to {most}"),
        (Some(n), _) => format!("n = {n}"),
        _ => "n = 0".to_owned(),
    }
}

pub(super) fn capital(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Lower-case letters, digits and hyphens.
pub(super) fn slug(words: &str) -> String {
    let mut slug = String::new();
    for letter in words.to_lowercase().chars() {
        match letter {
            'a'..='z' | '0'..='9' | '.' => slug.push(letter),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches(['-', '.']).to_owned()
}
