//! Common parts of the charts of a study's series: the cells in one figure, the lines and their names, points and ids.

use super::cells::dependence;
use super::points::Axes;
use crate::report::number::regret;
use crate::report::plots::{Line, Point};
use crate::scenario::Metric;
use crate::study::{CellSummary, Estimate, SeriesSummary, Summary};
use std::collections::{BTreeMap, BTreeSet};

/// Largest number of lines in a readable chart: the number of colours.
pub(super) const MAX_LINES: usize = 8;
/// Largest number of groups of cells, each with figures of its own, that are drawn along one axis or by round. Readers
/// look at fewer figures, and this many fit into a page of 5 MB.
pub(super) const MAX_FIGURES: usize = 40;
/// If a line has more points than this, only every k-th point is drawn, where k is the smallest number that leaves at most
/// this many points. Charts of regret by round also draw the first points and the last point of such a line.
const MAX_POINTS: usize = 400;
pub(super) const METRICS: [Metric; 2] = [Metric::SimpleRegret, Metric::CumulativeRegret];

/// The name of a line in each chart of a figure, and the series of a cell that the line shows.
pub(super) type Named<'a> = (String, &'a SeriesSummary);

/// Divides the cells of a study into groups, one for each figure. Returns each group with the values of the fixed axes in
/// words; the cells of a group have equal values on these axes.
///
/// The fixed axes are chosen among `fixable`: as few as possible (those after the sixth are always fixed), but so many that
/// each group has at most [`MAX_LINES`] lines, as `lines` counts them. If no choice achieves this, all of `fixable` are
/// fixed. If there are more than [`MAX_FIGURES`] groups, only [`MAX_FIGURES`] of them are kept: the first, the last, and
/// evenly spaced groups between them.
pub(super) fn grouped<'a>(
    summary: &'a Summary,
    fixable: &[usize],
    lines: impl Fn(&[&CellSummary]) -> usize,
) -> Vec<(String, Vec<&'a CellSummary>)> {
    let names = Axes::of(summary);
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
    // All subsets of the first six axes of `fixable` are tried; its further axes are always fixed.
    let some = fixable.len().min(6);
    let fixed_by = |way: u32| {
        let fixed = fixable.iter().enumerate().filter(|(bit, _)| *bit >= some || way >> bit & 1 == 1);
        fixed.map(|(_, axis)| *axis).collect::<Vec<usize>>()
    };
    let mut ways: Vec<Vec<usize>> = (0..1_u32 << some).map(fixed_by).collect();
    ways.sort_by_key(Vec::len);
    let mut groups = ways.iter().map(|fixed| by(fixed));
    let fitting = groups.find(|groups| groups.iter().all(|(_, cells)| lines(cells) <= MAX_LINES));
    let mut groups = fitting.unwrap_or_else(|| by(fixable));
    spread(&mut groups);
    groups
}

/// Keeps at most [`MAX_FIGURES`] of the groups, evenly spaced.
fn spread<T>(groups: &mut Vec<T>) {
    let all = groups.len();
    if all > MAX_FIGURES {
        let kept: BTreeSet<usize> = (0..MAX_FIGURES).map(|k| k * (all - 1) / (MAX_FIGURES - 1)).collect();
        let mut place = 0..;
        groups.retain(|_| place.next().is_some_and(|place| kept.contains(&place)));
    }
}

/// The series of `cells`, with names that distinguish them. A series appears only once for all values of an axis on
/// which its results do not depend.
pub(super) fn named<'a>(cells: &[&'a CellSummary], names: &Axes) -> Vec<Named<'a>> {
    let mut found: Vec<Named<'a>> = Vec::new();
    let mut known: BTreeSet<String> = BTreeSet::new();
    let Some(first) = cells.first() else { return found };
    for series in &first.series {
        let runs = runs_of(cells, &series.name);
        let told = dependent_axes(names, &runs);
        for (cell, run) in runs {
            let place = place(names, cell, &told);
            let name = named_at(&series.name, &place);
            if known.insert(name.clone()) {
                found.push((name, run));
            }
        }
    }
    found
}

/// The series called `name` in each of `cells` that has such a series.
pub(super) fn runs_of<'a>(
    cells: &[&'a CellSummary],
    name: &str,
) -> Vec<(&'a CellSummary, &'a SeriesSummary)> {
    let of = |cell: &&'a CellSummary| Some((*cell, cell.series.iter().find(|series| series.name == name)?));
    cells.iter().filter_map(of).collect()
}

/// The axes on which results depend, given the result at each point, without the axes that have the same value at all
/// points.
pub(super) fn axes_of<T: PartialEq>(results: &[(Vec<String>, T)]) -> Vec<usize> {
    let varies = |axis: usize| results.iter().any(|(point, _)| point[axis] != results[0].0[axis]);
    let depends = dependence(results);
    (0..depends.len()).filter(|axis| depends[*axis] && varies(*axis)).collect()
}

/// The axes on which the regrets of one series depend.
pub(super) fn dependent_axes(names: &Axes, runs: &[(&CellSummary, &SeriesSummary)]) -> Vec<usize> {
    let results: Vec<(Vec<String>, Results)> =
        runs.iter().map(|(cell, run)| (names.point(cell), Results::of(run))).collect();
    axes_of(&results)
}

/// The name of a series with the values of some axes in words: "private, epsilon = 1.0".
pub(super) fn named_at(series: &str, place: &str) -> String {
    if place.is_empty() { series.to_owned() } else { format!("{series}, {place}") }
}

/// The results of a series that are compared: its final regrets and its regrets by round.
#[derive(PartialEq)]
struct Results(Vec<Option<Estimate>>, Vec<(u64, Estimate, Estimate)>);

impl Results {
    fn of(series: &SeriesSummary) -> Self {
        Self(
            METRICS.iter().map(|metric| series.metrics.regret(*metric)).collect(),
            series.curve.iter().map(|step| (step.t, step.simple_regret, step.cumulative_regret)).collect(),
        )
    }
}

pub(super) fn place(names: &Axes, cell: &CellSummary, of: &[usize]) -> String {
    let told = names.axis_values(cell);
    of.iter().filter_map(|axis| told.get(*axis).cloned()).collect::<Vec<_>>().join(", ")
}

pub(super) fn made(x: f64, estimate: Estimate, at: String) -> Point {
    Point { x, y: estimate.mean, error: estimate.se, at, says: regret(estimate) }
}

/// The value and the error of every point of all lines.
pub(super) fn numbers(lines: &[Line]) -> impl Iterator<Item = (f64, f64)> {
    lines.iter().flat_map(|line| &line.points).map(|point| (point.y, point.error))
}

pub(super) fn stride(points: usize) -> usize {
    points.div_ceil(MAX_POINTS).max(1)
}

/// The least and the largest number of replications, in words.
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

/// The words as an id of lower-case ASCII letters, digits, dots and hyphens; the sign of a negative number becomes "minus",
/// other characters become hyphens.
pub(super) fn slug(words: &str) -> String {
    let mut slug = String::new();
    let lower = words.to_lowercase();
    let mut before = ' ';
    let mut rest = lower.chars().peekable();
    while let Some(letter) = rest.next() {
        let sign =
            letter == '-' && !before.is_alphanumeric() && rest.peek().is_some_and(char::is_ascii_digit);
        before = letter;
        match letter {
            _ if sign => {
                slug.push_str(if slug.ends_with('-') || slug.is_empty() { "minus-" } else { "-minus-" })
            }
            'a'..='z' | '0'..='9' | '.' => slug.push(letter),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
    }
    slug.trim_end_matches(['-', '.']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::{MAX_FIGURES, slug, spread};

    #[test]
    fn groups_that_are_kept_are_spread_evenly() {
        for all in [1, MAX_FIGURES, MAX_FIGURES + 1, 100, 9_999] {
            let mut groups: Vec<usize> = (0..all).collect();
            spread(&mut groups);
            assert_eq!(
                (groups.len(), groups[0], groups[groups.len() - 1]),
                (all.min(MAX_FIGURES), 0, all - 1)
            );
            let gap = (all - 1) / (MAX_FIGURES - 1) + 1;
            assert!(groups.windows(2).all(|pair| pair[1] - pair[0] <= gap), "{groups:?}");
        }
    }

    #[test]
    fn ids_keep_the_sign_of_a_number() {
        assert_eq!(slug("simple regret x = -1"), "simple-regret-x-minus-1");
        assert_eq!(slug("simple regret x = 1"), "simple-regret-x-1");
        assert_eq!(slug("PO-GP-UCB: epsilon = 1e-5"), "po-gp-ucb-epsilon-1e-5");
        assert_eq!(slug("a-2"), "a-2");
    }
}
