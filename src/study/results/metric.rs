//! The values of one metric, by series and replication.

use crate::study::disk::error::FolderError;
use crate::study::disk::store::StoredRecords;
use crate::study::plan::cells::Plan;
use crate::study::results::group_metric::value_called;
use crate::study::results::rows::{METRICS, rows};
use std::collections::BTreeMap;

/// One metric of one cell.
#[derive(Clone, Debug, Default)]
pub(in crate::study) struct MetricValues {
    /// The values by series and replication. A series without any value is listed too.
    pub(in crate::study) by_series: BTreeMap<String, BTreeMap<u64, f64>>,
    /// Whether there is a replication in which some series ended early and lacks the value.
    pub(in crate::study) short: bool,
}

impl MetricValues {
    /// The values of a metric in the replications of a cell. `metric` is the name of a column of `results.csv`, without the
    /// prefix "more."; or a name that [`metric_of_group`](crate::study::metric_of_group) makes.
    ///
    /// # Errors
    /// [`FolderError`] if a record cannot be read.
    pub(in crate::study) fn of(
        cell: usize,
        plan: &Plan,
        stored: &StoredRecords,
        metric: &str,
    ) -> Result<Self, FolderError> {
        let place = METRICS.iter().position(|known| *known == metric);
        let mut found = Self::default();
        for record in stored.in_order(cell, plan.replications) {
            for row in rows(cell, &plan.cells[cell], [&record?]) {
                let value = match place {
                    Some(place) => row.metrics[place],
                    None => row.more.get(metric).copied().or_else(|| value_called(&row.groups, metric)),
                };
                found.short |= value.is_none() && row.ended_early;
                let values = found.by_series.entry(row.series).or_default();
                values.extend(value.map(|value| (row.replication, value)));
            }
        }
        Ok(found)
    }

    /// The values of one series minus those of another, in the replications in which both series have a value, by
    /// replication.
    pub(in crate::study) fn differences(&self, series: &str, from: &str) -> BTreeMap<u64, f64> {
        let (Some(ours), Some(theirs)) = (self.by_series.get(series), self.by_series.get(from)) else {
            return BTreeMap::new();
        };
        ours.iter().filter_map(|(k, value)| Some((*k, value - theirs.get(k)?))).collect()
    }
}
