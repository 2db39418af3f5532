//! The ledger entries of a series; equal releases share an entry with a count.

use crate::accounting::CountedRelease;
use crate::vocab::PrivacyEvent;
use std::collections::BTreeMap;

/// Releases of one series as they are recorded; equal ones share an entry with a count.
#[derive(Debug)]
pub enum Releases {
    /// In order of time: only consecutive releases are counted together.
    InOrder(Vec<CountedRelease>),
    /// By the unit that they are about, for protocols whose units alternate. If the releases about each unit differ
    /// only in round and time, the number of entries grows with the units and not with the rounds.
    ByUnit {
        /// Releases about no numbered unit.
        others: Vec<CountedRelease>,
        /// Releases about numbered units.
        of_units: BTreeMap<u64, Vec<CountedRelease>>,
    },
}

impl Releases {
    /// No releases yet, to be stored in order.
    #[must_use]
    pub fn in_order() -> Self {
        Self::InOrder(Vec::new())
    }

    /// No releases yet, to be stored by unit.
    #[must_use]
    pub fn by_unit() -> Self {
        Self::ByUnit { others: Vec::new(), of_units: BTreeMap::new() }
    }

    /// Adds a release.
    pub fn enter(&mut self, event: &PrivacyEvent) {
        match self {
            Self::InOrder(entries) => count(entries, CountedRelease::of(event)),
            Self::ByUnit { others, of_units } => count_beside(
                match event.unit_index {
                    None => others,
                    Some(unit) => of_units.entry(unit).or_default(),
                },
                CountedRelease::of(event),
            ),
        }
    }

    /// All entries: in order of time, or those of no numbered unit first and then unit by unit.
    #[must_use]
    pub fn into_entries(self) -> Vec<CountedRelease> {
        match self {
            Self::InOrder(entries) => entries,
            Self::ByUnit { mut others, of_units } => {
                others.extend(of_units.into_values().flatten());
                others
            }
        }
    }
}

/// Adds an entry, or counts it together with the last one if they differ only in round and time.
pub fn count(entries: &mut Vec<CountedRelease>, entry: CountedRelease) {
    match entries.last_mut() {
        Some(last) if last.is_like(&entry) => last.join(&entry),
        _ => entries.push(entry),
    }
}

/// Looks for the first entry with the same observer and the same name of the release. Counts `entry` together with it if
/// the two differ only in round and time, and inserts `entry` after it if they differ in more. Without such an entry,
/// `entry` is added at the end.
fn count_beside(entries: &mut Vec<CountedRelease>, entry: CountedRelease) {
    let same = |known: &CountedRelease| {
        known.event.released == entry.event.released && known.event.observer == entry.event.observer
    };
    match entries.iter().position(same) {
        Some(place) if entries[place].is_like(&entry) => entries[place].join(&entry),
        Some(place) => entries.insert(place + 1, entry),
        None => count(entries, entry),
    }
}
