//! The numeric axes of a study.

use crate::report::cells::axes;
use crate::study::{CellSummary, Summary};

/// A cell's value of an axis, if it is a number.
pub(super) fn value(cell: &CellSummary, axis: &str) -> Option<f64> {
    cell.point.get(axis).and_then(serde_json::Value::as_f64)
}

/// Position and sorted values of every axis that has numbers only, two of them at least.
pub(super) fn numeric_axes(summary: &Summary) -> Vec<(usize, Vec<f64>)> {
    let mut found = Vec::new();
    for (index, axis) in axes(summary).iter().enumerate() {
        let values: Option<Vec<f64>> = summary.cells.iter().map(|cell| value(cell, axis)).collect();
        let Some(mut values) = values else { continue };
        values.sort_by(f64::total_cmp);
        values.dedup();
        if values.len() > 1 {
            found.push((index, values));
        }
    }
    found
}
