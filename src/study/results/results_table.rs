//! The table `results` for other programs, with a row per cell, replication and series: as CSV, as JSON lines and, with
//! the feature `parquet`, as Parquet.

use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::ReplicationRecord;
use crate::study::plan::cells::Plan;
use crate::study::results::columns::{Entry, integers, numbers, texts, truths};
use crate::study::results::points::Points;
use crate::study::results::rows::{METRICS, Row, rows};
use crate::study::results::table::Table;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// All rows of a study. They are kept in memory, about 200 bytes per row, until the names of all columns are known.
#[derive(Debug)]
pub(in crate::study) struct Results<'a> {
    plan: &'a Plan,
    /// The distinct shapes; a row has the index of its shape in this list.
    shapes: Vec<Shape>,
    numbers: BTreeMap<Shape, u32>,
    rows: Vec<KeptRow>,
}

/// The part of a row that many rows have in common: its series, whether the series ended early, and which values it has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Shape {
    series: String,
    ended_early: bool,
    metrics: [bool; METRICS.len()],
    /// The names of the row's outcomes and counts, in ascending order.
    more: Vec<String>,
}

/// A row without the parts that its shape has.
#[derive(Debug)]
struct KeptRow {
    replication: u64,
    cell: u32,
    shape: u32,
    digest: Hexadecimal,
    /// The values of the metrics that the row has, then the values of its outcomes and counts.
    values: Box<[f64]>,
}

/// The digest of a series: 32 bytes if its text is 64 lower-case hexadecimal digits, otherwise the text.
#[derive(Debug)]
enum Hexadecimal {
    Bytes([u8; 32]),
    Text(Box<str>),
}

impl Hexadecimal {
    fn of(text: &str) -> Self {
        match blake3::Hash::from_hex(text) {
            Ok(hash) if hash.to_hex().as_str() == text => Self::Bytes(*hash.as_bytes()),
            _ => Self::Text(text.into()),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Bytes(bytes) => blake3::Hash::from_bytes(*bytes).to_hex().to_string(),
            Self::Text(text) => text.to_string(),
        }
    }
}

impl<'a> Results<'a> {
    pub(in crate::study) fn new(plan: &'a Plan) -> Self {
        Self { plan, shapes: Vec::new(), numbers: BTreeMap::new(), rows: Vec::new() }
    }

    /// Adds the rows of a replication.
    pub(in crate::study) fn add(&mut self, cell: usize, record: &ReplicationRecord) {
        for row in rows(cell, &self.plan.cells[cell], [record]) {
            let kept = self.kept(row);
            self.rows.push(kept);
        }
    }

    fn kept(&mut self, row: Row) -> KeptRow {
        let metrics = row.metrics.into_iter().flatten();
        let values = metrics.chain(row.more.values().copied()).collect();
        let shape = Shape {
            series: row.series,
            ended_early: row.ended_early,
            metrics: row.metrics.map(|value| value.is_some()),
            more: row.more.into_keys().collect(),
        };
        let digest = Hexadecimal::of(&row.digest);
        let number = self.numbers.get(&shape).copied().unwrap_or_else(|| {
            let number = self.shapes.len() as u32;
            self.shapes.push(shape.clone());
            self.numbers.insert(shape, number);
            number
        });
        KeptRow { replication: row.replication, cell: row.cell as u32, shape: number, digest, values }
    }

    /// Writes the results in every format that this program was built with.
    pub(in crate::study) fn write(&self, folder: &RunFolder) -> Result<(), FolderError> {
        let points = Points::of_plan(self.plan);
        let more: BTreeSet<&String> = self.shapes.iter().flat_map(|shape| &shape.more).collect();
        let mut columns = vec![integers("cell")];
        columns.extend(points.columns());
        columns.extend([integers("seed"), integers("replication"), texts("series")]);
        columns.extend(METRICS.map(numbers));
        columns.extend([truths("ended_early"), texts("digest")]);
        columns.extend(more.iter().map(|name| numbers(&format!("more.{name}"))));
        let mut table = Table::new(folder, "results", columns)?;
        let mut lines = folder.stage_packing("results.jsonl")?;
        for row in &self.rows {
            let (shape, cell) = (&self.shapes[row.shape as usize], row.cell as usize);
            let mut entries = vec![Entry::from(cell)];
            entries.extend(points.entries(cell));
            let seed = self.plan.cells[cell].seed();
            entries.extend([seed.into(), row.replication.into(), shape.series.as_str().into()]);
            let mut values = row.values.iter().copied();
            let mut value = |there: bool| Entry::from(if there { values.next() } else { None });
            entries.extend(shape.metrics.map(&mut value));
            entries.extend([shape.ended_early.into(), row.digest.text().as_str().into()]);
            entries.extend(more.iter().map(|name| value(shape.more.binary_search(name).is_ok())));
            let named = table.names().map(str::to_owned).zip(entries.iter().map(Entry::json));
            let object: Map<String, Value> = named.collect();
            lines.write(format!("{}\n", Value::Object(object)).as_bytes())?;
            table.row(entries)?;
        }
        table.commit()?;
        Ok(lines.commit()?)
    }
}
