//! The ledger entries of a series. Releases that differ only in round and time may share an entry with a count.

use crate::accounting::CountedRelease;
use crate::vocab::PrivacyEvent;
use std::collections::BTreeMap;

/// Releases of one series as they are recorded. Releases that differ only in round and time may share an entry with a
/// count; the variants say which of them do.
#[derive(Debug)]
pub enum Releases {
    /// In order of time: only consecutive releases share an entry.
    InOrder(Vec<CountedRelease>),
    /// By the unit that the releases are about, for protocols in which releases about different units alternate. If the
    /// releases about each unit differ only in round and time, the number of entries grows with the number of units and not
    /// with the number of rounds.
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

    /// All entries, in order of time; or, by unit, first the entries about no numbered unit and then those about each unit.
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

/// Looks for the first known entry that has the observer and the released name of `entry`. If the two entries differ only in
/// round and time, `entry` is counted together with the known entry. If they differ in more, `entry` is inserted after the
/// known entry. Without such a known entry, `entry` is added at the end.
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
