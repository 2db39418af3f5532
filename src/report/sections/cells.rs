//! The cells of a study, ordered and grouped for the reader.

use super::points::Axes;
use crate::report::document::{Block, Table};
use crate::study::{CellSummary, PersonLoss, PrivacyRow, SeriesSummary, Summary};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

/// If a study has at most this number of cells, a group of its cells is described by the values that distinguish the group
/// from the other cells. Finding these values requires a comparison with all cells.
const MAX_CELLS: usize = 400;

/// Every series of every cell, grouped by series, so that rows of one series follow the order of the cells.
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

/// The rows of a table with a row per series and cell.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// The axes whose values stand in the rows, after the name of the series.
    pub(super) axes: Vec<String>,
    /// In each row: the series, the values of the axes, the numbers.
    pub(super) rows: Vec<Vec<String>>,
    /// The axes that are left out, because no number depends on them.
    pub(super) same: Vec<String>,
}

/// The entry for an axis in a row that holds for all values of the axis.
pub(super) const ALL: &str = "all";

impl Rows {
    /// How many columns identify a row: the series and the axes.
    pub(super) fn heads(&self) -> usize {
        1 + self.axes.len()
    }

    /// The table's rows without those that have no number.
    pub(super) fn filled(mut self) -> Self {
        let heads = self.heads();
        self.rows.retain(|row| row[heads..].iter().any(|cell| !cell.is_empty()));
        self
    }

    /// The table with a header: the series, the axes, and `columns`.
    pub(super) fn table<N: Into<String>>(
        self,
        title: impl Into<String>,
        columns: impl IntoIterator<Item = N>,
    ) -> Table {
        let heads = self.heads();
        let first = std::iter::once("series".to_owned()).chain(self.axes);
        Table::new(title, first.chain(columns.into_iter().map(Into::into)).collect(), self.rows, heads)
    }

    /// A remark on the axes that change no number: the axes that are left out, and the rows with the entry [`ALL`]. `None`
    /// if there are neither.
    pub(super) fn remark(&self) -> Option<Block> {
        self.said().map(Block::remark)
    }

    /// The words of [`Rows::remark`]. They state only that the results are equal, since finitely many replications cannot
    /// show that a parameter never has an effect.
    pub(super) fn said(&self) -> Option<String> {
        let mut told = Vec::new();
        if !self.same.is_empty() {
            told.push(format!("same in all cells, whatever the value of {}", self.same.join(", ")));
        }
        let heads = 1..=self.axes.len();
        if self.rows.iter().any(|row| row[heads.clone()].contains(&ALL.to_owned())) {
            told.push("all: same in all cells that differ in this parameter alone".to_owned());
        }
        (!told.is_empty()).then(|| told.join("; "))
    }
}

/// The rows of a table with a row per series and cell, as [`merge`] merges them. `numbers` returns the exact values and the
/// words of a row.
pub(super) fn rows<K: PartialEq>(
    summary: &Summary,
    numbers: impl Fn(&CellSummary, &SeriesSummary) -> (K, Vec<String>),
) -> Rows {
    let known = Axes::of(summary);
    let of_group = |group: Vec<(&CellSummary, &SeriesSummary)>| {
        let line = |(cell, series): &(&CellSummary, &SeriesSummary)| {
            let (exact, shown) = numbers(cell, series);
            (known.point(cell), exact, shown)
        };
        (group[0].1.name.clone(), group.iter().map(line).collect())
    };
    merge(known.names.clone(), by_series(summary).into_iter().map(of_group).collect())
}

/// The values of the axes at a point, the exact values by which points are compared, and the words of a row.
pub(super) type Line<K> = (Vec<String>, K, Vec<String>);

/// The rows of some series at the points of a study. If all exact values of a series are the same for every value of an
/// axis, the entry for that axis is "all", and the rows that differ only in it are merged. An axis that is "all" in all rows
/// is left out, and named in [`Rows::remark`].
pub(super) fn merge<K: PartialEq>(mut axes: Vec<String>, series: Vec<(String, Vec<Line<K>>)>) -> Rows {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut seen: BTreeSet<Vec<String>> = BTreeSet::new();
    for (name, lines) in series {
        let mut found = Vec::new();
        let mut words = Vec::new();
        for (point, exact, shown) in lines {
            found.push((point, exact));
            words.push(shown);
        }
        let depends = dependence(&found);
        for ((mut point, _), numbers) in found.into_iter().zip(words) {
            for (value, depends) in point.iter_mut().zip(&depends) {
                if !depends {
                    ALL.clone_into(value);
                }
            }
            let row = [vec![name.clone()], point, numbers].concat();
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

/// For each axis, whether the results depend on it, given the result at each point. The results do not depend on an axis if
/// two conditions are met: some points differ only in this axis, and all points that agree in the other axes have the same
/// result. The second condition ignores earlier axes on which the results do not depend. An axis with a single value counts
/// as one on which the results depend.
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

/// Privacy rows of all cells, grouped by series, equal rows merged, each with the points where it holds.
pub(super) fn merged(summary: &Summary) -> Vec<(&PrivacyRow, Vec<String>)> {
    once(summary, |cell| &cell.privacy, |entry| &entry.series)
}

/// Losses about persons in all cells, grouped by series, equal ones merged, each with the points where it holds.
pub(super) fn merged_persons(summary: &Summary) -> Vec<(&PersonLoss, Vec<String>)> {
    once(summary, |cell| &cell.persons, |entry| &entry.series)
}

/// The points of a study, for describing some of them in words.
pub(super) struct Places {
    cells: usize,
    names: Vec<String>,
    /// The values of each point; empty for a study of more than [`MAX_CELLS`] cells.
    all: Vec<Vec<String>>,
}

impl Places {
    /// The points of a study.
    pub(super) fn of(summary: &Summary) -> Self {
        let (axes, cells) = (Axes::of(summary), summary.cells.len());
        let told = if cells > MAX_CELLS { &[] } else { summary.cells.as_slice() };
        let all = told.iter().map(|cell| axes.point(cell)).collect();
        Self { cells, names: axes.names, all }
    }

    /// Some points of the study in words, as [`among`] writes them: "epsilon = 1.0 or 3.0, loss = 0.1".
    ///
    /// Each element of `places` is one point, written as its values joined by ", ". The text is empty if `places` has all
    /// points of the study. In a study of more than [`MAX_CELLS`] cells, each point is written with all its values.
    pub(super) fn words(&self, places: &[String]) -> String {
        if places.len() == self.cells {
            return String::new();
        }
        if self.cells > MAX_CELLS {
            return format!("{} = {}", self.names.join(", "), places.join("; "));
        }
        let here: Vec<&Vec<String>> =
            self.all.iter().filter(|point| places.contains(&point.join(", "))).collect();
        among(&self.names, &self.all, &here)
    }
}

/// Some points of the study of `summary` in words, as [`Places::words`] writes them; use [`Places`]
/// for several descriptions of points of the same study.
pub(super) fn place(summary: &Summary, places: &[String]) -> String {
    Places::of(summary).words(places)
}

/// Some points of a study (`here`) in words; `all` are all its points, and `names` the names of their axes.
///
/// On each axis, some of the study's values occur in `here`. If every point of the study that has only such values is in
/// `here`, these values are written axis by axis, without the axes on which all values of the study occur in `here`.
/// Otherwise the points are written one by one.
pub(super) fn among(names: &[String], all: &[Vec<String>], here: &[&Vec<String>]) -> String {
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
    // An axis with the same value in all these points is stated once, and not at all if the whole study has this value.
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

/// Entries of all cells, grouped by series, equal ones merged, each with the points where it holds.
fn once<T: PartialEq>(
    summary: &Summary,
    of: impl Fn(&CellSummary) -> &Vec<T>,
    series: impl Fn(&T) -> &String,
) -> Vec<(&T, Vec<String>)> {
    let mut merged: Vec<(&T, Vec<String>)> = Vec::new();
    let axes = Axes::of(summary);
    for cell in &summary.cells {
        let place = axes.point(cell).join(", ");
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
    fn points_are_described_by_the_fewest_values() {
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
    fn results_depend_only_on_axes_that_change_them() {
        let at = |a: &str, b: &str, result: u32| (vec![a.to_owned(), b.to_owned()], result);
        let only_a = [at("1", "x", 7), at("1", "y", 7), at("2", "x", 8), at("2", "y", 8)];
        assert_eq!(dependence(&only_a), [true, false]);
        let neither = [at("1", "x", 7), at("1", "y", 7), at("2", "x", 7)];
        assert_eq!(dependence(&neither), [false, false]);
        let both = [at("1", "x", 7), at("1", "y", 8), at("2", "x", 8), at("2", "y", 7)];
        assert_eq!(dependence(&both), [true, true]);
        assert_eq!(dependence(&[at("1", "x", 7), at("1", "y", 7)]), [true, false]);
        // The two axes change together: no two points differ in only one of them. So neither axis is said to have no effect.
        assert_eq!(dependence(&[at("1", "x", 7), at("2", "y", 7)]), [true, true]);
        assert_eq!(dependence::<u32>(&[]), Vec::<bool>::new());
    }
}
