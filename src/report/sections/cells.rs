//! The cells of a study, ordered and grouped for the reader.

use crate::study::{CellSummary, PersonLoss, PrivacyRow, SeriesSummary, Summary};

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

/// A table's axes and its rows: series, point, numbers. If none of a series' numbers depend on an axis, its value is
/// "any", and the rows that differ only in that axis are merged; an axis that is "any" in all rows is left out.
pub(super) fn rows(
    summary: &Summary,
    numbers: impl Fn(&CellSummary, &SeriesSummary) -> Vec<String>,
) -> (Vec<String>, Vec<Vec<String>>) {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut axes = axes(summary);
    for group in by_series(summary) {
        let found: Vec<(Vec<String>, Vec<String>)> =
            group.iter().map(|(cell, series)| (point(cell), numbers(cell, series))).collect();
        let depends = dependence(&found);
        for (mut point, numbers) in found {
            for (value, depends) in point.iter_mut().zip(&depends) {
                if !depends {
                    "any".clone_into(value);
                }
            }
            let row = [vec![group[0].1.name.clone()], point, numbers].concat();
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
    }
    for axis in (0..axes.len()).rev() {
        let column = axis + 1;
        if rows.iter().all(|row| row[column] == "any") {
            axes.remove(axis);
            rows.iter_mut().for_each(|row| drop(row.remove(column)));
        }
    }
    (axes, rows)
}

/// The axes on which results depend, given the result at each point: an axis is left out if the others determine it. An
/// axis with a single value is included.
pub(super) fn dependence<T: PartialEq>(results: &[(Vec<String>, T)]) -> Vec<bool> {
    let axes = results.first().map_or(0, |(point, _)| point.len());
    let mut depends = vec![true; axes];
    for axis in 0..axes {
        if results.iter().all(|(point, _)| point[axis] == results[0].0[axis]) {
            continue;
        }
        depends[axis] = false;
        let same_place = |a: &[String], b: &[String]| {
            depends.iter().zip(a.iter().zip(b)).all(|(depends, (a, b))| !depends || a == b)
        };
        let told = results.iter().enumerate().all(|(index, (a, first))| {
            results[..index].iter().all(|(b, second)| !same_place(a, b) || first == second)
        });
        depends[axis] = !told;
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

/// Points in words: "noise = 1.0; 2.0"; empty if they are all points of the study.
pub(super) fn place(summary: &Summary, places: &[String]) -> String {
    if places.len() == summary.cells.len() {
        String::new()
    } else {
        format!("{} = {}", axes(summary).join(", "), places.join("; "))
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
    fn an_axis_that_the_others_make_needless_does_not_count() {
        let at = |a: &str, b: &str, result: u32| (vec![a.to_owned(), b.to_owned()], result);
        let only_a = [at("1", "x", 7), at("1", "y", 7), at("2", "x", 8), at("2", "y", 8)];
        assert_eq!(dependence(&only_a), [true, false]);
        let neither = [at("1", "x", 7), at("1", "y", 7), at("2", "x", 7)];
        assert_eq!(dependence(&neither), [false, false]);
        let both = [at("1", "x", 7), at("1", "y", 8), at("2", "x", 8), at("2", "y", 7)];
        assert_eq!(dependence(&both), [true, true]);
        assert_eq!(dependence(&[at("1", "x", 7), at("1", "y", 7)]), [true, false]);
        assert_eq!(dependence::<u32>(&[]), Vec::<bool>::new());
    }
}
