//! The points of the cells of a study as columns of a table, one column for each axis (`Each`) of the scenario.

use crate::study::plan::cells::Plan;
use crate::study::results::columns::{Column, Entry, numbers, texts};
use crate::study::results::summary::{Summary, point_of};
use serde_json::{Map, Value};

/// The points of all cells.
#[derive(Debug)]
pub(in crate::study) struct Points {
    /// The name of each axis, and whether all values of the axis are numbers.
    axes: Vec<(String, bool)>,
    cells: Vec<Map<String, Value>>,
}

impl Points {
    /// The points of the cells of a plan.
    pub(in crate::study) fn of_plan(plan: &Plan) -> Self {
        Self::new(plan.cells.iter().map(|cell| point_of(&cell.point)).collect())
    }

    /// The points of the cells of a summary.
    pub(in crate::study) fn of_summary(summary: &Summary) -> Self {
        Self::new(summary.cells.iter().map(|cell| cell.point.clone()).collect())
    }

    fn new(cells: Vec<Map<String, Value>>) -> Self {
        let names = cells.first().into_iter().flat_map(Map::keys);
        let number = |axis: &String| cells.iter().all(|cell| cell.get(axis).is_some_and(Value::is_number));
        let axes = names.map(|axis| (axis.clone(), number(axis))).collect();
        Self { axes, cells }
    }

    /// Columns named `point.NAME`: columns of numbers if all values of the axis are numbers, else of texts.
    pub(in crate::study) fn columns(&self) -> Vec<Column> {
        let column = |(axis, number): &(String, bool)| {
            let name = format!("point.{axis}");
            if *number { numbers(&name) } else { texts(&name) }
        };
        self.axes.iter().map(column).collect()
    }

    /// The values of a cell, in the order of the columns.
    pub(in crate::study) fn entries(&self, cell: usize) -> Vec<Entry> {
        let entry = |(axis, number): &(String, bool)| {
            let Some(value) = self.cells.get(cell).and_then(|cell| cell.get(axis)) else {
                return Entry::None;
            };
            match value {
                Value::Number(value) if *number => value.as_f64().into(),
                Value::String(text) => text.as_str().into(),
                other => other.to_string().as_str().into(),
            }
        };
        self.axes.iter().map(entry).collect()
    }
}
