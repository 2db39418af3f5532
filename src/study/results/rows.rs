//! The table `results` for other programs, with a row per cell, replication and series: as CSV, as JSON lines and, with
//! the feature `parquet`, as Parquet.

use crate::protocols::GroupOutcome;
use crate::study::disk::error::FolderError;
use crate::study::disk::folder::RunFolder;
use crate::study::disk::record::ReplicationRecord;
use crate::study::plan::cells::{CellPlan, Plan};
use crate::study::results::columns::{Entry, integers, numbers, texts, truths};
use crate::study::results::points::Points;
use crate::study::results::table::Table;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The metrics that every row has, in the order of their columns. The columns before them are the cell, the axes
/// (`point.*`), the seed, the replication and the series; after them follow `ended_early`, the digest, and outcomes and
/// counts (`more.*`).
pub(in crate::study) const METRICS: [&str; 9] = [
    "simple_regret",
    "cumulative_regret",
    "questions",
    "regret_per_question",
    "virtual_seconds",
    "messages",
    "messages_lost",
    "messages_delivered",
    "bytes",
];

/// Number of leading metrics that only a series with an objective has.
pub(in crate::study) const OF_AN_OBJECTIVE: usize = 4;

/// One replication of one series.
#[derive(Clone, Debug)]
pub(in crate::study) struct Row {
    pub(in crate::study) cell: usize,
    pub(in crate::study) seed: u64,
    pub(in crate::study) replication: u64,
    pub(in crate::study) series: String,
    pub(in crate::study) ended_early: bool,
    pub(in crate::study) digest: String,
    /// The values in the order of [`METRICS`]; regrets and questions are absent if the protocol optimises nothing or the series
    /// ended early.
    pub(in crate::study) metrics: [Option<f64>; METRICS.len()],
    /// Outcomes and counts by name.
    pub(in crate::study) more: BTreeMap<String, f64>,
    /// Regrets by group of agents or cohort of users; none if the series ended early.
    pub(in crate::study) groups: Vec<GroupOutcome>,
}

impl Row {
    /// Every metric that has a value, by name: the common ones, outcomes and counts.
    pub(in crate::study) fn named(&self) -> Vec<(String, f64)> {
        let metrics = METRICS.iter().zip(self.metrics).filter_map(|(name, value)| Some((*name, value?)));
        let more = self.more.iter().map(|(name, value)| (name.clone(), *value));
        metrics.map(|(name, value)| (name.to_owned(), value)).chain(more).collect()
    }
}

/// The rows of the records of one cell.
pub(in crate::study) fn rows<'a>(
    cell: usize,
    planned: &CellPlan,
    records: impl IntoIterator<Item = &'a ReplicationRecord>,
) -> Vec<Row> {
    let seed = planned.seed();
    let of = |record: &ReplicationRecord| -> Vec<Row> {
        let row = |series: &crate::protocols::SeriesRecord| {
            let last = series.at_the_end();
            let asked = series.questions.filter(|asked| *asked > 0.0);
            let outcomes = series.outcomes.iter().filter(|outcome| !outcome.undefined);
            let outcomes = outcomes.map(|outcome| (outcome.name.clone(), outcome.value));
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
                    last.and(asked),
                    last.zip(asked).map(|(i, asked)| i.cumulative_regret / asked),
                    Some(series.virtual_seconds),
                    Some(series.messages as f64),
                    Some(series.messages_lost as f64),
                    Some(series.messages_delivered as f64),
                    Some(series.bytes as f64),
                ],
                more: counts.chain(outcomes).collect(),
                groups: last.map_or_else(Vec::new, |_| series.groups.clone()),
            }
        };
        record.series.iter().map(row).collect()
    };
    records.into_iter().flat_map(of).collect()
}

/// All rows of a study, kept in memory: a few hundred bytes each.
#[derive(Debug)]
pub(in crate::study) struct Results<'a> {
    plan: &'a Plan,
    rows: Vec<Row>,
}

impl<'a> Results<'a> {
    pub(in crate::study) fn new(plan: &'a Plan) -> Self {
        Self { plan, rows: Vec::new() }
    }

    pub(in crate::study) fn add<'r>(
        &mut self,
        cell: usize,
        records: impl IntoIterator<Item = &'r ReplicationRecord>,
    ) {
        self.rows.extend(rows(cell, &self.plan.cells[cell], records));
    }

    /// Writes the results in every format that this program was built with.
    pub(in crate::study) fn write(&self, folder: &RunFolder) -> Result<(), FolderError> {
        let points = Points::of_plan(self.plan);
        let more: BTreeSet<&String> = self.rows.iter().flat_map(|row| row.more.keys()).collect();
        let mut columns = vec![integers("cell")];
        columns.extend(points.columns());
        columns.extend([integers("seed"), integers("replication"), texts("series")]);
        columns.extend(METRICS.map(numbers));
        columns.extend([truths("ended_early"), texts("digest")]);
        columns.extend(more.iter().map(|name| numbers(&format!("more.{name}"))));
        let mut table = Table::new(folder, "results", columns)?;
        let mut lines = folder.stage_packing("results.jsonl")?;
        for row in &self.rows {
            let mut entries = vec![Entry::from(row.cell)];
            entries.extend(points.entries(row.cell));
            entries.extend([row.seed.into(), row.replication.into(), row.series.as_str().into()]);
            entries.extend(row.metrics.map(Entry::from));
            entries.extend([row.ended_early.into(), row.digest.as_str().into()]);
            entries.extend(more.iter().map(|name| row.more.get(*name).copied().into()));
            let named = table.names().map(str::to_owned).zip(entries.iter().map(Entry::json));
            let object: Map<String, Value> = named.collect();
            lines.write(format!("{}\n", Value::Object(object)).as_bytes())?;
            table.row(entries)?;
        }
        table.commit()?;
        Ok(lines.commit()?)
    }
}
