//! Numbers that runs record in each round: their means over replications, and the differences of two series in the same
//! replications.

use super::statistics::Estimate;
use crate::protocols::{RoundTrack, SeriesRecord};
use crate::study::disk::record::ReplicationRecord;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A number by round: its mean over all replications that did not end early.
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

/// Differences of a series from another one, taken replication by replication.
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

/// The names of the regrets, which are compared like the protocol's own numbers by round.
const SIMPLE: &str = "simple regret";
const CUMULATIVE: &str = "cumulative regret";

/// The mean of each number that is recorded in each round, over the replications in which the series did not end early.
/// The numbers are in the order in which their names first occur.
pub(in crate::study) fn tracks(runs: &[&SeriesRecord]) -> Vec<TrackRow> {
    let mut names: Vec<&str> = Vec::new();
    let whole = || runs.iter().filter(|run| run.ended_early.is_none());
    for track in whole().flat_map(|run| &run.by_round) {
        if !names.contains(&track.name.as_str()) {
            names.push(&track.name);
        }
    }
    let row = |name: &str| {
        let mut found: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
        for track in whole().flat_map(|run| &run.by_round).filter(|track| track.name == name) {
            track.points.iter().for_each(|(t, value)| found.entry(*t).or_default().push(*value));
        }
        TrackRow { name: name.to_owned(), points: means(found) }
    };
    names.into_iter().map(row).collect()
}

fn means(found: BTreeMap<u64, Vec<f64>>) -> Vec<TrackPoint> {
    let point = |(t, values): (u64, Vec<f64>)| Some(TrackPoint { t, value: Estimate::of(&values)? });
    found.into_iter().filter_map(point).collect()
}

/// The regrets and the protocol's own numbers of one run, each by round.
fn quantities(run: &SeriesRecord) -> Vec<RoundTrack> {
    let (mut simple, mut cumulative) = (BTreeMap::new(), BTreeMap::new());
    for iteration in &run.iterations {
        // All initial points have round 0; the value after the last of them is used.
        simple.insert(iteration.t, iteration.simple_regret);
        cumulative.insert(iteration.t, iteration.cumulative_regret);
    }
    let track = |name: &str, points: BTreeMap<u64, f64>| RoundTrack {
        name: name.to_owned(),
        points: points.into_iter().collect(),
    };
    let regrets = [track(SIMPLE, simple), track(CUMULATIVE, cumulative)];
    regrets.into_iter().chain(run.by_round.iter().cloned()).collect()
}

/// The differences of every series from each of the references, by quantity and round, over the replications in which
/// neither of the two ended early.
pub(in crate::study) fn differences(
    records: &[&ReplicationRecord],
    references: &[String],
) -> Vec<DifferenceRow> {
    let Some(first) = records.first().filter(|_| !references.is_empty()) else { return Vec::new() };
    // For each replication, the series that did not end early, with their quantities.
    let runs: Vec<Vec<(&str, Vec<RoundTrack>)>> = records
        .iter()
        .map(|record| {
            let whole = record.series.iter().filter(|series| series.ended_early.is_none());
            whole.map(|series| (series.name.as_str(), quantities(series))).collect()
        })
        .collect();
    let mut rows: Vec<DifferenceRow> = Vec::new();
    for reference in references {
        for series in first.series.iter().map(|series| &series.name).filter(|name| *name != reference) {
            let mut found: Vec<(String, BTreeMap<u64, Vec<f64>>)> = Vec::new();
            for run in &runs {
                let of = |name: &str| run.iter().find(|(known, _)| *known == name).map(|(_, tracks)| tracks);
                let (Some(ours), Some(theirs)) = (of(series), of(reference)) else { continue };
                for track in ours {
                    let Some(other) = theirs.iter().find(|other| other.name == track.name) else { continue };
                    let other: BTreeMap<u64, f64> = other.points.iter().copied().collect();
                    let place = found.iter().position(|(name, _)| *name == track.name).unwrap_or_else(|| {
                        found.push((track.name.clone(), BTreeMap::new()));
                        found.len() - 1
                    });
                    for (t, value) in &track.points {
                        if let Some(other) = other.get(t) {
                            found[place].1.entry(*t).or_default().push(value - other);
                        }
                    }
                }
            }
            rows.extend(found.into_iter().map(|(quantity, values)| DifferenceRow {
                quantity,
                series: series.clone(),
                reference: reference.clone(),
                points: means(values),
            }));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, values: [f64; 2]) -> SeriesRecord {
        let points = values.iter().enumerate().map(|(t, value)| (t as u64, *value)).collect();
        let track = RoundTrack { name: "share".to_owned(), points };
        SeriesRecord { by_round: vec![track], ..SeriesRecord::empty(name) }
    }

    /// Two series vary much between runs, but differ from each other by a constant: means have an error, differences have
    /// none.
    #[test]
    fn differences_are_taken_run_by_run() {
        let record = |replication: u64, level: f64| ReplicationRecord {
            identity: String::new(),
            replication,
            series: vec![run("A", [level, 2.0 * level]), run("B", [level + 1.0, 2.0 * level + 3.0])],
        };
        let records = [record(0, 1.0), record(1, 5.0), record(2, -2.0)];
        let records: Vec<&ReplicationRecord> = records.iter().collect();
        let rows = differences(&records, &["A".to_owned()]);
        let shares: Vec<&DifferenceRow> = rows.iter().filter(|row| row.quantity == "share").collect();
        let [row] = shares.as_slice() else { panic!("{rows:?}") };
        assert_eq!((row.series.as_str(), row.reference.as_str()), ("B", "A"));
        let found: Vec<(u64, f64, f64)> =
            row.points.iter().map(|point| (point.t, point.value.mean, point.value.se)).collect();
        assert_eq!(found, [(0, 1.0, 0.0), (1, 3.0, 0.0)]);
        let runs: Vec<&SeriesRecord> = records.iter().map(|record| &record.series[0]).collect();
        assert!(tracks(&runs)[0].points[0].value.se > 1.0);
        assert!(differences(&records, &[]).is_empty());
    }

    /// A run in which one of the two series ended early gives no pair.
    #[test]
    fn runs_that_ended_early_are_left_out() {
        let mut early = run("B", [9.0, 9.0]);
        early.ended_early = Some("no reason".to_owned());
        let record = |series| ReplicationRecord { identity: String::new(), replication: 0, series };
        let records = [
            record(vec![run("A", [1.0, 1.0]), run("B", [2.0, 2.0])]),
            record(vec![run("A", [1.0, 1.0]), early]),
        ];
        let records: Vec<&ReplicationRecord> = records.iter().collect();
        let rows = differences(&records, &["A".to_owned()]);
        let share = rows.iter().find(|row| row.quantity == "share").unwrap();
        assert_eq!((share.points[0].value.mean, share.points[0].value.n), (1.0, 1));
    }
}
