//! Numbers that runs record in each round: their means over replications, and the differences of two series in the same
//! replications.

use super::estimator::{Estimator, Pass};
use super::statistics::Estimate;
use crate::protocols::{Iteration, SeriesRecord};
use crate::study::disk::record::ReplicationRecord;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A number that a series records in each round: its mean over all replications in which the series did not end early.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackRow {
    /// Its name.
    pub name: String,
    /// Its mean at each round.
    pub points: Vec<TrackPoint>,
}

/// A mean at a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrackPoint {
    /// The round, from 0 for the initial points.
    pub t: u64,
    /// The mean.
    pub value: Estimate,
}

/// Differences of one series from another series, taken replication by replication.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DifferenceRow {
    /// The quantity that is compared, such as "simple regret".
    pub quantity: String,
    /// The series.
    pub series: String,
    /// The series that is subtracted.
    pub reference: String,
    /// The mean difference and its standard error at each round.
    pub points: Vec<TrackPoint>,
}

/// The names of the regrets. Differences of regrets are computed in the same way as differences of the numbers that a
/// protocol records by round.
const SIMPLE: &str = "simple regret";
const CUMULATIVE: &str = "cumulative regret";

/// The sums of the numbers that a series records in each round, in the order in which their names first occur.
#[derive(Debug, Default)]
pub(in crate::study) struct TrackSums(Vec<(String, RoundSums)>);

/// The sums of one number by round.
type RoundSums = BTreeMap<u64, Estimator>;

impl TrackSums {
    /// Adds a replication in which the series did not end early.
    pub(in crate::study) fn add(&mut self, pass: Pass, run: &SeriesRecord) {
        for track in &run.by_round {
            let sums = named(&mut self.0, &track.name);
            track.points.iter().for_each(|(t, value)| sums.entry(*t).or_default().add(pass, *value));
        }
    }

    /// The means, once both passes over the records (for means, and for standard errors) have ended.
    pub(in crate::study) fn finish(self) -> Vec<TrackRow> {
        self.0.into_iter().map(|(name, sums)| TrackRow { name, points: means(sums) }).collect()
    }
}

/// The sums of the quantity with this name; if `found` has none, empty ones are added to it.
fn named<'a>(found: &'a mut Vec<(String, RoundSums)>, name: &str) -> &'a mut RoundSums {
    let place = found.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
        found.push((name.to_owned(), RoundSums::new()));
        found.len() - 1
    });
    &mut found[place].1
}

fn means(sums: RoundSums) -> Vec<TrackPoint> {
    let point = |(t, sums): (u64, Estimator)| Some(TrackPoint { t, value: sums.estimate()? });
    sums.into_iter().filter_map(point).collect()
}

/// The last evaluation of each round, by round: all initial points have round 0, and the regret after the last of them is
/// used.
pub(super) fn last_of_rounds(iterations: &[Iteration]) -> Vec<&Iteration> {
    let mut last: Vec<&Iteration> = iterations.iter().collect();
    last.sort_by_key(|iteration| iteration.t);
    last.dedup_by(|later, kept| {
        let same = later.t == kept.t;
        if same {
            *kept = *later;
        }
        same
    });
    last
}

/// Numbers by round.
type Points = [(u64, f64)];

/// The regrets and the protocol's own numbers of one series in one replication, each by round.
fn quantities(run: &SeriesRecord) -> Vec<(&str, Cow<'_, Points>)> {
    let last = last_of_rounds(&run.iterations);
    let simple = last.iter().map(|iteration| (iteration.t, iteration.simple_regret)).collect();
    let cumulative = last.iter().map(|iteration| (iteration.t, iteration.cumulative_regret)).collect();
    let own = run.by_round.iter().map(|track| (track.name.as_str(), Cow::Borrowed(track.points.as_slice())));
    [(SIMPLE, Cow::Owned(simple)), (CUMULATIVE, Cow::Owned(cumulative))].into_iter().chain(own).collect()
}

/// The sums of the differences of every series from each reference series, by quantity and round, over the replications in
/// which neither of the two series ended early.
#[derive(Debug, Default)]
pub(in crate::study) struct DifferenceSums(Vec<Pair>);

/// A series, the reference that is subtracted from it, and the sums of their differences by quantity.
#[derive(Debug)]
struct Pair {
    series: String,
    reference: String,
    found: Vec<(String, RoundSums)>,
}

impl DifferenceSums {
    /// Sums without any replication. There is a pair for each series in `references` and each other series of `first`, the
    /// first replication.
    pub(in crate::study) fn of(first: &ReplicationRecord, references: &[String]) -> Self {
        let of = |reference: &String| {
            let others = first.series.iter().map(|series| series.name.clone());
            let pair = |series: String| Pair { series, reference: reference.clone(), found: Vec::new() };
            others.filter(|name| name != reference).map(pair).collect::<Vec<Pair>>()
        };
        Self(references.iter().flat_map(of).collect())
    }

    /// Adds a replication.
    pub(in crate::study) fn add(&mut self, pass: Pass, record: &ReplicationRecord) {
        if self.0.is_empty() {
            return;
        }
        let whole = record.series.iter().filter(|series| series.ended_early.is_none());
        let run: Vec<_> = whole.map(|series| (series.name.as_str(), quantities(series))).collect();
        let of = |name: &str| run.iter().find(|(known, _)| *known == name).map(|(_, quantities)| quantities);
        for pair in &mut self.0 {
            let (Some(ours), Some(theirs)) = (of(&pair.series), of(&pair.reference)) else { continue };
            for (name, points) in ours {
                let Some((_, other)) = theirs.iter().find(|(known, _)| known == name) else { continue };
                let other: BTreeMap<u64, f64> = other.iter().copied().collect();
                let sums = named(&mut pair.found, name);
                for (t, value) in points.iter() {
                    if let Some(other) = other.get(t) {
                        sums.entry(*t).or_default().add(pass, value - other);
                    }
                }
            }
        }
    }

    /// The mean differences, once both passes over the records have ended.
    pub(in crate::study) fn finish(self) -> Vec<DifferenceRow> {
        let rows = |Pair { series, reference, found }: Pair| {
            let row = move |(quantity, sums)| {
                let (series, reference) = (series.clone(), reference.clone());
                DifferenceRow { quantity, series, reference, points: means(sums) }
            };
            found.into_iter().map(row)
        };
        self.0.into_iter().flat_map(rows).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::RoundTrack;

    fn run(name: &str, values: [f64; 2]) -> SeriesRecord {
        let points = values.iter().enumerate().map(|(t, value)| (t as u64, *value)).collect();
        let track = RoundTrack { name: "share".to_owned(), points };
        SeriesRecord { by_round: vec![track], ..SeriesRecord::empty(name) }
    }

    fn differences(records: &[ReplicationRecord], references: &[String]) -> Vec<DifferenceRow> {
        let mut sums = DifferenceSums::of(&records[0], references);
        for pass in [Pass::Means, Pass::Errors] {
            records.iter().for_each(|record| sums.add(pass, record));
        }
        sums.finish()
    }

    /// Two series vary much between replications, but their difference is the same in every replication. The mean of a
    /// series has a standard error above 1, and the mean difference has a standard error of 0.
    #[test]
    fn differences_are_taken_run_by_run() {
        let record = |replication: u64, level: f64| ReplicationRecord {
            identity: String::new(),
            replication,
            series: vec![run("A", [level, 2.0 * level]), run("B", [level + 1.0, 2.0 * level + 3.0])],
        };
        let records = [record(0, 1.0), record(1, 5.0), record(2, -2.0)];
        let rows = differences(&records, &["A".to_owned()]);
        let shares: Vec<&DifferenceRow> = rows.iter().filter(|row| row.quantity == "share").collect();
        let [row] = shares.as_slice() else { panic!("{rows:?}") };
        assert_eq!((row.series.as_str(), row.reference.as_str()), ("B", "A"));
        let found: Vec<(u64, f64, f64)> =
            row.points.iter().map(|point| (point.t, point.value.mean, point.value.se)).collect();
        assert_eq!(found, [(0, 1.0, 0.0), (1, 3.0, 0.0)]);
        let mut tracks = TrackSums::default();
        for pass in [Pass::Means, Pass::Errors] {
            records.iter().for_each(|record| tracks.add(pass, &record.series[0]));
        }
        assert!(tracks.finish()[0].points[0].value.se > 1.0);
        assert!(differences(&records, &[]).is_empty());
    }

    /// A replication in which one of the two series ended early is not counted in their mean difference.
    #[test]
    fn runs_that_ended_early_are_left_out() {
        let mut early = run("B", [9.0, 9.0]);
        early.ended_early = Some("no reason".to_owned());
        let record = |series| ReplicationRecord { identity: String::new(), replication: 0, series };
        let records = [
            record(vec![run("A", [1.0, 1.0]), run("B", [2.0, 2.0])]),
            record(vec![run("A", [1.0, 1.0]), early]),
        ];
        let rows = differences(&records, &["A".to_owned()]);
        let share = rows.iter().find(|row| row.quantity == "share").unwrap();
        assert_eq!((share.points[0].value.mean, share.points[0].value.n), (1.0, 1));
    }
}
