//! The privacy losses of a cell by owner of the data, unit of protection, observer, neighbouring relation and accountant.

use crate::accounting::{EpsilonAt, GroupKey, Loss, OverRuns, grouped};
use crate::protocols::SeriesRecord;
use crate::study::disk::record::ReplicationRecord;
use crate::vocab::{Delta, Neighbours, ProtectedUnit};
use serde::{Deserialize, Serialize};

/// The releases to one observer about one kind of unit of one owner in one series, under one neighbouring relation, and the
/// losses of these releases.
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
    /// Number of releases in one run; the largest number of all replications.
    pub releases: u64,
    /// Number of releases about one unit, if releases are about different units; the largest number of all units and runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub releases_per_unit: Option<u64>,
    /// The losses by accountant: for each accountant, the largest loss of all units and runs.
    pub losses: Vec<Loss>,
    /// Whether losses may differ between runs: a run after the first has releases about a unit that differ from those of
    /// all earlier runs. They differ in costs, claims, bases, arithmetics or counts, or in whether they are from several
    /// rounds. False if all losses are infinite.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub runs_differ: bool,
}

/// The rows of one cell, gathered replication by replication. Every replication is a separate run, and its losses may
/// differ from those of other replications. For example, if each agent adds a part of the noise, the noise depends on
/// which answers arrived. Every number is therefore the largest of all runs.
#[derive(Debug)]
pub(in crate::study) struct PrivacyRows {
    delta: Option<Delta>,
    /// The series of the first replication.
    series: Option<Vec<SeriesReleases>>,
}

/// The releases of one series over all runs.
#[derive(Debug)]
struct SeriesReleases {
    /// Name of the series.
    name: String,
    /// The releases by owner of the data, unit of protection, observer and neighbouring relation.
    groups: Vec<(GroupKey, OverRuns)>,
}

impl PrivacyRows {
    /// Begins without rows. `delta` is the delta that the scenario requests, if any.
    pub(in crate::study) fn new(delta: Option<Delta>) -> Self {
        Self { delta, series: None }
    }

    /// Adds the releases of one replication.
    pub(in crate::study) fn add(&mut self, record: &ReplicationRecord) {
        let series = self.series.get_or_insert_with(|| {
            let none =
                |series: &SeriesRecord| SeriesReleases { name: series.name.clone(), groups: Vec::new() };
            record.series.iter().map(none).collect()
        });
        for (SeriesReleases { groups, .. }, series) in series.iter_mut().zip(&record.series) {
            for (about, group) in grouped(&series.releases) {
                let place = groups.iter().position(|(known, _)| *known == about).unwrap_or_else(|| {
                    groups.push((about, OverRuns::new(self.delta)));
                    groups.len() - 1
                });
                groups[place].1.add_releases(&group);
            }
        }
    }

    /// The rows in the order of the series, each with its epsilon by round.
    pub(in crate::study) fn finish(self) -> Vec<(PrivacyRow, Vec<EpsilonAt>)> {
        let rows_of = |SeriesReleases { name, groups }: SeriesReleases| {
            groups.into_iter().map(|(about, runs)| row(&name, about, runs)).collect::<Vec<_>>()
        };
        self.series.unwrap_or_default().into_iter().flat_map(rows_of).collect()
    }
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
