//! One row per cell, replication and series, for other programs: CSV, JSON lines and, on request, Parquet.

use super::folder::{FolderError, RunFolder};
use super::plan::Plan;
use super::record::ReplicationRecord;
use super::summary::point_of;
use super::tables::Table;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The columns that every row has; those of the axes come after the cell, those of outcomes and counts at the end.
pub(super) const METRICS: [&str; 7] = [
    "simple_regret",
    "cumulative_regret",
    "virtual_seconds",
    "messages",
    "messages_lost",
    "messages_delivered",
    "bytes",
];

/// One replication of one series.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) cell: usize,
    pub(super) seed: u64,
    pub(super) replication: u64,
    pub(super) series: String,
    pub(super) ended_early: bool,
    pub(super) digest: String,
    /// In the order of [`METRICS`]; regrets are absent where the protocol optimises nothing or ended early.
    pub(super) metrics: [Option<f64>; METRICS.len()],
    /// Outcomes and counts by name.
    pub(super) more: BTreeMap<String, f64>,
}

/// The rows of the records of one cell.
pub(super) fn rows(cell: usize, seed: u64, records: &BTreeMap<u64, ReplicationRecord>) -> Vec<Row> {
    let of = |record: &ReplicationRecord| -> Vec<Row> {
        let row = |series: &crate::protocols::SeriesRecord| {
            let last = series.at_the_end();
            let outcomes = series.outcomes.iter().map(|outcome| (outcome.name.clone(), outcome.value));
            let counts = series.counts.iter().map(|(name, count)| (name.clone(), *count as f64));
            Row {
                cell,
                seed,
                replication: record.replication,
                series: series.name.clone(),
                ended_early: series.ended_early.is_some(),
                digest: series.digest.clone(),
                metrics: [
                    last.map(|i| i.simple_regret),
                    last.map(|i| i.cumulative_regret),
                    Some(series.virtual_seconds),
                    Some(series.messages as f64),
                    Some(series.messages_lost as f64),
                    Some(series.messages_delivered as f64),
                    Some(series.bytes as f64),
                ],
                more: counts.chain(outcomes).collect(),
            }
        };
        record.series.iter().map(row).collect()
    };
    records.values().flat_map(of).collect()
}

/// All rows of a study. They are small: some hundred bytes each.
#[derive(Debug)]
pub(super) struct Results<'a> {
    plan: &'a Plan,
    rows: Vec<Row>,
}

impl<'a> Results<'a> {
    pub(super) fn new(plan: &'a Plan) -> Self {
        Self { plan, rows: Vec::new() }
    }

    pub(super) fn add(&mut self, cell: usize, records: &BTreeMap<u64, ReplicationRecord>) {
        let seed = self.plan.cells[cell].scenario.draft().seed;
        self.rows.extend(rows(cell, seed, records));
    }

    /// Writes the results in every format that this program was built with.
    pub(super) fn write(&self, folder: &RunFolder) -> Result<(), FolderError> {
        let frame = self.frame();
        let names: Vec<&str> = frame.iter().map(|column| column.name.as_str()).collect();
        let mut table = Table::new(folder.stage("results.csv")?, &names);
        let mut lines = folder.stage("results.jsonl")?;
        for row in 0..self.rows.len() {
            let cells: Vec<String> = frame.iter().map(|column| column.text(row)).collect();
            let cells: Vec<&dyn std::fmt::Display> = cells.iter().map(|cell| cell as _).collect();
            table.row(&cells);
            if row % 1000 == 0 {
                table.flush()?;
            }
            let object: Map<String, Value> =
                frame.iter().map(|column| (column.name.clone(), column.json(row))).collect();
            lines.write(format!("{}\n", Value::Object(object)).as_bytes())?;
        }
        table.commit()?;
        lines.commit()?;
        #[cfg(feature = "parquet")]
        super::parquet::write(folder.stage("results.parquet")?, &frame)?;
        Ok(())
    }

    fn frame(&self) -> Vec<Column> {
        let rows = &self.rows;
        let integers = |name: &str, of: &dyn Fn(&Row) -> u64| Column {
            name: name.to_owned(),
            values: Values::Integers(rows.iter().map(of).collect()),
        };
        let texts = |name: &str, of: &dyn Fn(&Row) -> Option<String>| Column {
            name: name.to_owned(),
            values: Values::Texts(rows.iter().map(of).collect()),
        };
        let numbers = |name: &str, of: &dyn Fn(&Row) -> Option<f64>| Column {
            name: name.to_owned(),
            values: Values::Numbers(rows.iter().map(of).collect()),
        };
        let mut frame = vec![integers("cell", &|row| row.cell as u64)];
        let points: Vec<Map<String, Value>> =
            self.plan.cells.iter().map(|cell| point_of(&cell.point)).collect();
        let axes: Vec<&String> = points.first().into_iter().flat_map(Map::keys).collect();
        for axis in axes {
            let value = |row: &Row| points[row.cell].get(axis).cloned().unwrap_or(Value::Null);
            // A column is of numbers if all of its values are.
            let number = points.iter().all(|point| point.get(axis).is_some_and(Value::is_number));
            let name = format!("point.{axis}");
            frame.push(if number {
                numbers(&name, &|row| value(row).as_f64())
            } else {
                texts(&name, &|row| {
                    Some(value(row).as_str().map_or_else(|| value(row).to_string(), str::to_owned))
                })
            });
        }
        frame.push(integers("seed", &|row| row.seed));
        frame.push(integers("replication", &|row| row.replication));
        frame.push(texts("series", &|row| Some(row.series.clone())));
        for (index, metric) in METRICS.iter().enumerate() {
            frame.push(numbers(metric, &|row| row.metrics[index]));
        }
        let truths = rows.iter().map(|row| row.ended_early).collect();
        frame.push(Column { name: "ended_early".to_owned(), values: Values::Truths(truths) });
        frame.push(texts("digest", &|row| Some(row.digest.clone())));
        let more: BTreeSet<&String> = rows.iter().flat_map(|row| row.more.keys()).collect();
        for name in more {
            frame.push(numbers(&format!("more.{name}"), &|row| row.more.get(name).copied()));
        }
        frame
    }
}

/// A column with its name.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) values: Values,
}

/// Values of one type.
#[derive(Debug)]
pub(super) enum Values {
    Integers(Vec<u64>),
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
    Truths(Vec<bool>),
}

impl Column {
    /// As text; empty where there is none.
    fn text(&self, row: usize) -> String {
        match &self.values {
            Values::Integers(values) => values[row].to_string(),
            Values::Numbers(values) => values[row].map_or_else(String::new, |value| value.to_string()),
            Values::Texts(values) => values[row].clone().unwrap_or_default(),
            Values::Truths(values) => values[row].to_string(),
        }
    }

    fn json(&self, row: usize) -> Value {
        match &self.values {
            Values::Integers(values) => values[row].into(),
            Values::Numbers(values) => values[row].into(),
            Values::Texts(values) => values[row].clone().into(),
            Values::Truths(values) => values[row].into(),
        }
    }
}
