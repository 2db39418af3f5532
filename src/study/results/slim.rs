//! The records of a cell with many replications, without what their summary does not need.

use crate::protocols::{QueriedInputs, SeriesRecord};
use crate::study::disk::record::ReplicationRecord;
use std::collections::BTreeMap;

/// Records of one cell, by number of the replication, without their releases. What the summary only adds up or collects is moved
/// to the first record, and what it does not need is dropped, so their summary is that of the whole records, once
/// [`SummaryBuilder::add_releases`](super::summary::SummaryBuilder::add_releases) has the releases.
#[derive(Debug, Default)]
pub(super) struct SlimRecords(BTreeMap<u64, ReplicationRecord>);

impl SlimRecords {
    /// Adds the record of the next replication, in order.
    pub(super) fn add(&mut self, mut record: ReplicationRecord) {
        let mut first = self.0.values_mut().next();
        for (index, series) in record.series.iter_mut().enumerate() {
            series.releases = Vec::new();
            series.inputs = QueriedInputs::default();
            series.checkpoints = Vec::new();
            series.programs = Vec::new();
            let first = first.as_mut().and_then(|first| first.series.get_mut(index));
            if let Some(first) = first.filter(|first| first.name == series.name) {
                join(first, series);
            }
            series.iterations.shrink_to_fit();
            series.bounds.iter_mut().for_each(|bound| bound.points.shrink_to_fit());
            series.by_round.iter_mut().for_each(|track| track.points.shrink_to_fit());
        }
        self.0.insert(record.replication, record);
    }

    pub(super) fn records(&self) -> &BTreeMap<u64, ReplicationRecord> {
        &self.0
    }
}

/// Moves to the first record of a series what the summary only adds up or collects: latencies and losses, and facts that are public.
fn join(first: &mut SeriesRecord, later: &mut SeriesRecord) {
    first.network.merge(&std::mem::take(&mut later.network));
    let known = &first.public;
    later.public.retain(|fact| !known.contains(fact));
    later.public.shrink_to_fit();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::LinkStatistics;
    use crate::protocols::Iteration;
    use crate::study::results::series::series_of;
    use crate::vocab::{Origin, PublicFact};

    fn record(replication: u64) -> ReplicationRecord {
        let mut link = LinkStatistics::default();
        (0..20 * (replication + 1)).for_each(|k| link.took(1_000_000 * (k + replication)));
        link.lost();
        let fact = |what: &str| PublicFact::new(what, Origin::Stated).about("users");
        let mut series = SeriesRecord::empty("A");
        series.network.links = vec![("a".to_owned(), "b".to_owned(), link)];
        series.public = vec![fact("always"), fact(if replication == 3 { "once" } else { "else" })];
        series.inputs.names = vec!["x".to_owned()];
        series.iterations = (1..4)
            .map(|t| Iteration {
                t,
                arm: t,
                outcome: 0.5,
                value: 0.25,
                simple_regret: (replication * 10 + t) as f64,
                cumulative_regret: t as f64,
                seconds: t as f64,
            })
            .collect();
        ReplicationRecord { identity: String::new(), replication, series: vec![series] }
    }

    #[test]
    fn the_summary_is_that_of_whole_records() {
        let whole: Vec<ReplicationRecord> = (0..6).map(record).collect();
        let mut slim = SlimRecords::default();
        whole.iter().for_each(|record| slim.add(record.clone()));
        let kept: Vec<&ReplicationRecord> = slim.records().values().collect();
        let of = |records: &[&ReplicationRecord]| serde_json::to_value(series_of(records)).unwrap();
        let expected = of(&whole.iter().collect::<Vec<_>>());
        assert_eq!(of(&kept), expected);
        assert_eq!(expected[0]["public"].as_array().unwrap().len(), 3);
        let bytes = |record: &ReplicationRecord| serde_json::to_string(record).unwrap().len();
        assert!(2 * bytes(kept[5]) < bytes(&whole[5]), "the latencies are kept once");
    }
}
