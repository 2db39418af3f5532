//! The cells of a study, ordered and grouped for the reader.

use crate::report::document::Block;
use crate::study::{CellSummary, PersonLoss, PrivacyRow, SeriesSummary, Summary};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// Number of cells up to which some of them are named by the values that set them apart; it takes a comparison with all.
const MOST_CELLS: usize = 400;

/// The names of the study's axes, in order.
pub(super) fn axes(summary: &Summary) -> Vec<String> {
    summary.cells.first().map(|cell| cell.point.keys().cloned().collect()).unwrap_or_default()
}

pub(super) fn point(cell: &CellSummary) -> Vec<String> {
    let show = |value: &serde_json::Value| match value {
        serde_json::Value::String(text) => text.clone(),
        serde_json::Value::Number(number) => {
            number.as_f64().filter(|v| v.fract() != 0.0).map_or_else(|| number.to_string(), short)
        }
        other => other.to_string(),
    };
    cell.point.values().map(show).collect()
}

/// A number as written, cut to five significant digits.
fn short(value: f64) -> String {
    let digits = format!("{value}");
    if digits.len() <= 7 { digits } else { format!("{value:.4}") }
}

/// Cells of the study with one of their series, series by series, so that a column follows the axes.
pub(super) fn by_series(summary: &Summary) -> Vec<Vec<(&CellSummary, &SeriesSummary)>> {
    let mut groups: Vec<Vec<(&CellSummary, &SeriesSummary)>> = Vec::new();
    for cell in &summary.cells {
        for series in &cell.series {
            match groups.iter_mut().find(|group| group[0].1.name == series.name) {
                Some(group) => group.push((cell, series)),
                None => groups.push(vec![(cell, series)]),
            }
        }
    }
    groups
}

/// Rows of a table.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The axes that stand in the rows, after the series.
    pub(super) axes: Vec<String>,
    /// Series, point, numbers.
    pub(super) rows: Vec<Vec<String>>,
    /// The axes that are left out.
    pub(super) same: Vec<String>,
}

/// The value of an axis in a row that holds for all of them.
pub(super) const ALL: &str = "all";

impl Rows {
    /// What is said of axes on which nothing depends; nothing without such axes. Equal values of as many replications are
    /// all that is known: that a parameter never matters is not said.
    pub(super) fn remark(&self) -> Option<Block> {
        let mut told = Vec::new();
        if !self.same.is_empty() {
            told.push(format!("same in all cells, whatever the value of {}", self.same.join(", ")));
        }
        let heads = 1..=self.axes.len();
        if self.rows.iter().any(|row| row[heads.clone()].contains(&ALL.to_owned())) {
            told.push("all: same in all cells that differ in this parameter alone".to_owned());
        }
        (!told.is_empty()).then(|| Block::remark(told.join("; ")))
    }
}

/// A table's axes and its rows: series, point, numbers. If all of a series' numbers are exactly the same for every value of
/// an axis, in all replications' means and errors and not only in the digits shown, its value is "all", and the rows that
/// differ only in that axis are merged; an axis that is "all" in all rows is left out, and named in the remark. `numbers`
/// gives the exact values and their words.
pub(super) fn rows<K: PartialEq>(
    summary: &Summary,
    numbers: impl Fn(&CellSummary, &SeriesSummary) -> (K, Vec<String>),
) -> Rows {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    let mut axes = axes(summary);
    for group in by_series(summary) {
        let mut found = Vec::new();
        let mut words = Vec::new();
        for (cell, series) in &group {
            let (exact, shown) = numbers(cell, series);
            found.push((point(cell), exact));
            words.push(shown);
        }
        let depends = dependence(&found);
        for ((mut point, _), numbers) in found.into_iter().zip(words) {
            for (value, depends) in point.iter_mut().zip(&depends) {
                if !depends {
                    ALL.clone_into(value);
                }
            }
            let row = [vec![group[0].1.name.clone()], point, numbers].concat();
            if seen.insert(row.clone()) {
                rows.push(row);
            }
        }
    }
    let mut same = Vec::new();
    for axis in (0..axes.len()).rev() {
        let column = axis + 1;
        if rows.iter().all(|row| row[column] == ALL) {
            same.insert(0, axes.remove(axis));
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    Rows { axes, rows, same }
}

/// The axes on which results depend, given the result at each point: an axis is left out if there are points that differ
/// in nothing else, and all such points have the same result. An axis with a single value is included.
pub(super) fn dependence<T: PartialEq>(results: &[(Vec<String>, T)]) -> Vec<bool> {
    let axes = results.first().map_or(0, |(point, _)| point.len());
    let mut depends = vec![true; axes];
    for axis in 0..axes {
        if results.iter().all(|(point, _)| point[axis] == results[0].0[axis]) {
            continue;
        }
        depends[axis] = false;
        // One pass with a tree, since a study may have ten thousand points.
        let mut known: BTreeMap<Vec<&str>, &T> = BTreeMap::new();
        let told = results.iter().all(|(point, found)| {
            let place = point.iter().zip(&depends).filter(|(_, depends)| **depends);
            let place = place.map(|(value, _)| value.as_str()).collect();
            match known.entry(place) {
                Entry::Occupied(first) => *first.get() == found,
                Entry::Vacant(place) => {
                    place.insert(found);
                    true
                }
            }
        });
        let mut values: BTreeMap<Vec<&str>, &str> = BTreeMap::new();
        let compared = results.iter().any(|(point, _)| {
            let others = (0..axes).filter(|other| *other != axis).map(|other| point[other].as_str());
            *values.entry(others.collect()).or_insert(&point[axis]) != point[axis]
        });
        depends[axis] = !told || !compared;
    }
    depends
}

/// Rows of all cells, equal ones merged, with the points where they hold; grouped by series.
pub(super) fn merged(summary: &Summary) -> Vec<(&PrivacyRow, Vec<String>)> {
    once(summary, |cell| &cell.privacy, |entry| &entry.series)
}

/// Losses about persons of all cells, equal ones merged, with the points where they hold.
pub(super) fn merged_persons(summary: &Summary) -> Vec<(&PersonLoss, Vec<String>)> {
    once(summary, |cell| &cell.persons, |entry| &entry.series)
}

/// Points in words, as few as tell them from the study's others: "epsilon = 1.0 or 3.0, loss = 0.1"; empty if they are all
/// points of the study. `places` has the values of a point joined by ", ".
pub(super) fn place(summary: &Summary, places: &[String]) -> String {
    if places.len() == summary.cells.len() {
        return String::new();
    }
    if summary.cells.len() > MOST_CELLS {
        return format!("{} = {}", axes(summary).join(", "), places.join("; "));
    }
    let all: Vec<Vec<String>> = summary.cells.iter().map(point).collect();
    let here: Vec<&Vec<String>> = all.iter().filter(|point| places.contains(&point.join(", "))).collect();
    among(&axes(summary), &all, &here)
}

/// Some of all points in words: the values of each axis if the points are all those with these values, else each of them.
fn among(names: &[String], all: &[Vec<String>], here: &[&Vec<String>]) -> String {
    let values = |points: &mut dyn Iterator<Item = &Vec<String>>, axis: usize| {
        let mut values: Vec<String> = Vec::new();
        for point in points {
            if !values.contains(&point[axis]) {
                values.push(point[axis].clone());
            }
        }
        values
    };
    let of_axis: Vec<Vec<String>> =
        (0..names.len()).map(|axis| values(&mut here.iter().copied(), axis)).collect();
    let within =
        |point: &&Vec<String>| point.iter().zip(&of_axis).all(|(value, known)| known.contains(value));
    if all.iter().filter(within).count() == here.len() {
        let told =
            (0..names.len()).filter(|axis| of_axis[*axis].len() < values(&mut all.iter(), *axis).len());
        let told: Vec<String> =
            told.map(|axis| format!("{} = {}", names[axis], of_axis[axis].join(" or "))).collect();
        return told.join(", ");
    }
    // An axis with one value in all of them, or in the whole study, is told once or not at all.
    let fixed: Vec<usize> = (0..names.len()).filter(|axis| of_axis[*axis].len() == 1).collect();
    let changes = |axis: &usize| values(&mut all.iter(), *axis).len() > 1;
    let told = |point: &[String], of: &[usize]| {
        let one = |axis: &usize| format!("{} = {}", names[*axis], point[*axis]);
        of.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let free: Vec<usize> = (0..names.len()).filter(|axis| !fixed.contains(axis)).collect();
    let shared: Vec<usize> = fixed.into_iter().filter(changes).collect();
    let each = here.iter().map(|point| told(point, &free)).collect::<Vec<_>>().join("; ");
    match here.first().filter(|_| !shared.is_empty()) {
        Some(first) => format!("{}: {each}", told(first, &shared)),
        None => each,
    }
}

/// Entries of all cells, equal ones merged, with the points where they hold; grouped by series.
fn once<T: PartialEq>(
    summary: &Summary,
    of: impl Fn(&CellSummary) -> &Vec<T>,
    series: impl Fn(&T) -> &String,
) -> Vec<(&T, Vec<String>)> {
    let mut merged: Vec<(&T, Vec<String>)> = Vec::new();
    for cell in &summary.cells {
        let place = point(cell).join(", ");
        for entry in of(cell) {
            match merged.iter_mut().find(|(known, _)| *known == entry) {
                Some((_, places)) => places.push(place.clone()),
                None => merged.push((entry, vec![place.clone()])),
            }
        }
    }
    let mut names: Vec<&String> = Vec::new();
    for (entry, _) in &merged {
        if !names.contains(&series(entry)) {
            names.push(series(entry));
        }
    }
    let place = |entry: &T| names.iter().position(|name| *name == series(entry));
    let mut order: Vec<usize> = (0..merged.len()).collect();
    order.sort_by_key(|&index| place(merged[index].0));
    order.into_iter().map(|index| merged[index].clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_told_by_the_fewest_values() {
        let names = ["epsilon", "loss"].map(str::to_owned);
        let point = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()];
        let all = [
            point("1", "0"),
            point("1", "0.2"),
            point("3", "0"),
            point("3", "0.2"),
            point("9", "0"),
            point("9", "0.2"),
        ];
        let told = |of: &[usize]| among(&names, &all, &of.iter().map(|at| &all[*at]).collect::<Vec<_>>());
        assert_eq!(told(&[0, 1]), "epsilon = 1");
        assert_eq!(told(&[0, 2, 4]), "loss = 0");
        assert_eq!(told(&[1, 3]), "epsilon = 1 or 3, loss = 0.2");
        assert_eq!(told(&[0, 3]), "epsilon = 1, loss = 0; epsilon = 3, loss = 0.2");
        assert_eq!(told(&[0]), "epsilon = 1, loss = 0");
    }

    #[test]
    fn an_axis_that_the_others_make_needless_does_not_count() {
        let at = |a: &str, b: &str, result: u32| (vec![a.to_owned(), b.to_owned()], result);
        let only_a = [at("1", "x", 7), at("1", "y", 7), at("2", "x", 8), at("2", "y", 8)];
        assert_eq!(dependence(&only_a), [true, false]);
        let neither = [at("1", "x", 7), at("1", "y", 7), at("2", "x", 7)];
        assert_eq!(dependence(&neither), [false, false]);
        let both = [at("1", "x", 7), at("1", "y", 8), at("2", "x", 8), at("2", "y", 7)];
        assert_eq!(dependence(&both), [true, true]);
        assert_eq!(dependence(&[at("1", "x", 7), at("1", "y", 7)]), [true, false]);
        // Axes that change together are compared with nothing: neither is said to have no effect.
        assert_eq!(dependence(&[at("1", "x", 7), at("2", "y", 7)]), [true, true]);
        assert_eq!(dependence::<u32>(&[]), Vec::<bool>::new());
    }
}
