//! The metrics of one series in one replication. They make up one row of the table `results`.

use crate::protocols::GroupOutcome;
use crate::study::disk::record::ReplicationRecord;
use crate::study::plan::cells::CellPlan;
use std::collections::BTreeMap;

/// The metrics for which the table always has a column, in the order of their columns. The columns before them are the cell,
/// the axes (`point.*`), the seed, the replication and the series. The columns after them are `ended_early`, the digest, and
/// outcomes and counts (`more.*`).
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

/// Number of entries at the beginning of [`METRICS`] that only a series with an objective has.
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
    /// The values in the order of [`METRICS`]; regrets and questions are absent if the protocol optimises nothing or the
    /// series ended early. `questions` and `regret_per_question` are also absent if no question was asked.
    pub(in crate::study) metrics: [Option<f64>; METRICS.len()],
    /// Outcomes and counts by name.
    pub(in crate::study) more: BTreeMap<String, f64>,
    /// Regrets by group of agents or cohort of users; empty if the series ended early.
    pub(in crate::study) groups: Vec<GroupOutcome>,
}

impl Row {
    /// Every metric that has a value, by name: those of [`METRICS`], then outcomes and counts.
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
