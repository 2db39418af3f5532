//! What a whole study costs where all of its runs are on the same data: tuning again is charged again.

use super::privacy_report::{basis_of, infinite};
use super::record::ReplicationRecord;
use crate::privacy::accountants::{Accountant, Basic, Composition, Rdp};
use crate::vocab::{Delta, PrivacyEvent, Time};
use serde::{Deserialize, Serialize};

/// All runs of one series, over all cells and replications, published together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyPrivacy {
    /// Name of the series.
    pub series: String,
    /// Runs of it.
    pub runs: u64,
    /// Releases in all of them.
    pub releases: u64,
    /// Epsilon by basic composition; "inf" where no finite one holds.
    #[serde(with = "infinite")]
    pub epsilon_basic: f64,
    /// Epsilon by Renyi composition, at `delta`.
    #[serde(with = "infinite")]
    pub epsilon_rdp: f64,
    /// Delta that both are stated at.
    pub delta: f64,
    /// The weakest basis of the releases.
    pub basis: String,
}

/// What has been seen so far of the series whose runs share their data and release something of it.
#[derive(Debug, Default)]
pub(super) struct WholeStudy {
    series: Vec<Shared>,
}

#[derive(Debug)]
struct Shared {
    name: String,
    runs: u64,
    /// Unlike events with their numbers; where and when they happened is left out.
    events: Vec<(PrivacyEvent, u64)>,
    releases: bool,
}

impl WholeStudy {
    /// Takes in one replication of one cell.
    pub(super) fn add(&mut self, record: &ReplicationRecord) {
        for series in record.series.iter().filter(|series| series.same_data) {
            let known = self.series.iter().position(|shared| shared.name == series.name);
            let index = known.unwrap_or_else(|| {
                let (name, events) = (series.name.clone(), Vec::new());
                self.series.push(Shared { name, runs: 0, events, releases: false });
                self.series.len() - 1
            });
            let shared = &mut self.series[index];
            shared.runs += 1;
            shared.releases |= !series.releases.is_empty();
            for booked in &series.releases {
                let event =
                    PrivacyEvent { round: 0, at: Time::ZERO, unit_index: None, ..booked.event.clone() };
                match shared.events.iter_mut().find(|(other, _)| *other == event) {
                    Some((_, count)) => *count += booked.count,
                    None => shared.events.push((event, booked.count)),
                }
            }
        }
    }

    /// One row for each series.
    pub(super) fn rows(&self, delta: Delta) -> Vec<StudyPrivacy> {
        let row = |shared: &Shared| {
            let events: Vec<(&PrivacyEvent, u64)> =
                shared.events.iter().map(|(event, count)| (event, *count)).collect();
            let mut composition = Composition::new();
            for (event, count) in &events {
                composition.add(&event.cost, *count);
            }
            StudyPrivacy {
                series: shared.name.clone(),
                runs: shared.runs,
                releases: events.iter().map(|(_, count)| count).sum(),
                epsilon_basic: Basic.price(&composition, delta).epsilon,
                epsilon_rdp: Rdp.price(&composition, delta).epsilon,
                delta: delta.get(),
                basis: basis_of(&events).to_owned(),
            }
        };
        self.series.iter().filter(|shared| shared.releases).map(row).collect()
    }
}
