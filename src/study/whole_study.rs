//! What a whole study costs where all of its runs are on the same data: tuning again is charged again.

use super::privacy_report::{basis_of, infinite};
use super::record::ReplicationRecord;
use crate::privacy::accountants::{Accountant, Basic, Composition, Rdp};
use crate::vocab::{Delta, PrivacyEvent};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// One row for each series whose runs share their data and release something of it.
pub(super) fn study_rows(records: &[BTreeMap<u64, ReplicationRecord>], delta: Delta) -> Vec<StudyPrivacy> {
    let mut names: Vec<&str> = Vec::new();
    let all = || records.iter().flat_map(BTreeMap::values).flat_map(|record| &record.series);
    for series in all().filter(|series| series.same_data && !series.releases.is_empty()) {
        if !names.contains(&series.name.as_str()) {
            names.push(&series.name);
        }
    }
    let row = |name: &str| {
        let of = || all().filter(|series| series.same_data && series.name == name);
        let events: Vec<(&PrivacyEvent, u64)> =
            of().flat_map(|series| &series.releases).map(|booked| (&booked.event, booked.count)).collect();
        let each = events.iter().flat_map(|&(event, count)| std::iter::repeat_n(event, count as usize));
        let composition = Composition::of_events(each);
        StudyPrivacy {
            series: name.to_owned(),
            runs: of().count() as u64,
            releases: events.iter().map(|(_, count)| count).sum(),
            epsilon_basic: Basic.price(&composition, delta).epsilon,
            epsilon_rdp: Rdp.price(&composition, delta).epsilon,
            delta: delta.get(),
            basis: basis_of(&events).to_owned(),
        }
    };
    names.into_iter().map(row).collect()
}
