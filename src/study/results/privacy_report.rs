//! The privacy losses of a cell: to which observer, about which unit of whose data, by each accountant.

use crate::accounting::{About, EpsilonAt, Loss, OverRuns, grouped};
use crate::study::disk::record::ReplicationRecord;
use crate::vocab::{Delta, Neighbours, ProtectedUnit};
use serde::{Deserialize, Serialize};

/// The releases to one observer about one kind of unit of one party, in one series, and their losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrivacyRow {
    /// Name of the series.
    pub series: String,
    /// Whose data.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// The observer.
    pub observer: String,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
    /// What was released, each kind once.
    pub released: Vec<String>,
    /// Releases in one run; the largest number over the replications.
    pub releases: u64,
    /// Releases about one and the same unit, where they are about different ones; the largest number over the units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub releases_per_unit: Option<u64>,
    /// The losses for the unit with the largest loss in the run where that is largest, by accountant.
    pub losses: Vec<Loss>,
    /// Whether losses differ between runs, so that each loss is that of the run where it is largest.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runs_differ: bool,
}

/// The rows of one cell. Each replication is a run of its own on the same data, and losses may differ between
/// replications (because noise is shared by the agents whose answers arrived): every number is the largest of all runs.
/// Each row is returned with its epsilon by round.
pub(in crate::study) fn privacy_rows(
    records: &[&ReplicationRecord],
    delta: Option<Delta>,
) -> Vec<(PrivacyRow, Vec<EpsilonAt>)> {
    let Some(first) = records.first() else { return Vec::new() };
    let mut rows = Vec::new();
    for index in 0..first.series.len() {
        let mut gathered: Vec<(About, OverRuns)> = Vec::new();
        for series in records.iter().filter_map(|record| record.series.get(index)) {
            for (about, group) in grouped(&series.releases) {
                let place = gathered.iter().position(|(known, _)| *known == about).unwrap_or_else(|| {
                    gathered.push((about, OverRuns::new(delta)));
                    gathered.len() - 1
                });
                gathered[place].1.take_in(&group);
            }
        }
        rows.extend(gathered.into_iter().map(|(about, runs)| row(&first.series[index].name, about, runs)));
    }
    rows
}

fn row(series: &str, about: About, runs: OverRuns) -> (PrivacyRow, Vec<EpsilonAt>) {
    let learned = runs.finish();
    let row = PrivacyRow {
        series: series.to_owned(),
        protected: about.protected,
        unit: about.unit,
        observer: about.observer.0,
        neighbours: about.neighbours,
        released: learned.released,
        releases: learned.releases,
        releases_per_unit: learned.releases_per_unit,
        losses: learned.losses,
        runs_differ: learned.runs_differ,
    };
    (row, learned.by_round)
}
