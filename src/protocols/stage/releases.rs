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
    /// By the unit that the releases are about, for protocols in which releases about different units alternate. All
    /// releases about one unit that differ only in round and time share an entry, so the number of entries grows with the
    /// number of units and not with the number of rounds.
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

    /// All entries. With `InOrder`, they are in order of time. With `ByUnit`, the entries about no numbered unit come first,
    /// and then the entries about each numbered unit.
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

/// Adds `entry` at the end, or counts it together with the last entry if the two differ only in round and time.
pub fn count(entries: &mut Vec<CountedRelease>, entry: CountedRelease) {
    match entries.last_mut() {
        Some(last) if last.is_like(&entry) => last.join(&entry),
        _ => entries.push(entry),
    }
}

/// If `entries` has an entry that differs from `entry` only in round and time, counts `entry` together with that entry.
/// Otherwise inserts `entry` after the first entry with the same observer and the same name of the release. If there is no
/// such entry either, adds `entry` at the end.
fn count_beside(entries: &mut Vec<CountedRelease>, entry: CountedRelease) {
    let same = |known: &CountedRelease| {
        known.event.released == entry.event.released && known.event.observer == entry.event.observer
    };
    let Some(first) = entries.iter().position(same) else { return count(entries, entry) };
    match entries[first..].iter_mut().find(|known| same(known) && known.is_like(&entry)) {
        Some(known) => known.join(&entry),
        None => entries.insert(first + 1, entry),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::example;
    use crate::vocab::ProtectedUnit;

    fn entry(round: u64, epsilon: f64) -> CountedRelease {
        CountedRelease::of(&PrivacyEvent { round, ..example::event(ProtectedUnit::User, Some(7), epsilon) })
    }

    #[test]
    fn releases_of_two_costs_take_two_entries_in_any_order() {
        let mut entries = Vec::new();
        for (round, epsilon) in [(0, 1.0), (1, 2.0), (2, 2.0), (3, 1.0), (4, 2.0)] {
            count_beside(&mut entries, entry(round, epsilon));
        }
        let counts: Vec<(u64, u64)> = entries.iter().map(|entry| (entry.count, entry.last_round)).collect();
        assert_eq!(counts, [(2, 3), (3, 4)]);
    }
}
