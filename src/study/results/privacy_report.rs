//! The privacy losses of a cell by observer, owner of the data, unit of protection and accountant.

use crate::accounting::{EpsilonAt, GroupKey, Loss, OverRuns, grouped};
use crate::study::disk::record::ReplicationRecord;
use crate::vocab::{Delta, Neighbours, ProtectedUnit};
use serde::{Deserialize, Serialize};

/// The releases to one observer about one kind of unit of one owner in one series, and their losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PrivacyRow {
    /// Name of the series.
    pub series: String,
    /// The owner of the data.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// The observer.
    pub observer: String,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
    /// The names of what was released, each once.
    pub released: Vec<String>,
    /// Number of releases in one run; the largest over the replications.
    pub releases: u64,
    /// Number of releases about one unit, if releases are about different units; the largest over the units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub releases_per_unit: Option<u64>,
    /// The losses by accountant: for each, the largest over runs, of the unit with the largest loss.
    pub losses: Vec<Loss>,
    /// Whether losses differ between runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runs_differ: bool,
}

/// The rows of one cell, each with its epsilon by round. Every replication is a separate run, and its losses may differ from
/// those of other replications (for example because noise is shared by the agents whose answers arrived): every number is the
/// largest over all runs.
pub(in crate::study) fn privacy_rows(
    records: &[&ReplicationRecord],
    delta: Option<Delta>,
) -> Vec<(PrivacyRow, Vec<EpsilonAt>)> {
    let Some(first) = records.first() else { return Vec::new() };
    let mut rows = Vec::new();
    for index in 0..first.series.len() {
        let mut gathered: Vec<(GroupKey, OverRuns)> = Vec::new();
        for series in records.iter().filter_map(|record| record.series.get(index)) {
            for (about, group) in grouped(&series.releases) {
                let place = gathered.iter().position(|(known, _)| *known == about).unwrap_or_else(|| {
                    gathered.push((about, OverRuns::new(delta)));
                    gathered.len() - 1
                });
                gathered[place].1.add_releases(&group);
            }
        }
        rows.extend(gathered.into_iter().map(|(about, runs)| row(&first.series[index].name, about, runs)));
    }
    rows
}

fn row(series: &str, about: GroupKey, runs: OverRuns) -> (PrivacyRow, Vec<EpsilonAt>) {
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
