//! The releases of all runs of one series, or of several series, that add up: to one observer, about one kind of unit of one
//! party, for one neighbouring relation.

use super::units::keep_undominated;
use super::{Composition, GroupKey};
use crate::vocab::{PrivacyEvent, Time};
use std::collections::BTreeMap;

/// The releases of one series to one observer about one kind of unit of one party, for one neighbouring relation.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) series: String,
    pub(super) about: GroupKey,
    pub(super) releases: u64,
    /// Number of runs with each set of random numbers. The key of the map is the seed and the number of the replication.
    pub(super) runs: BTreeMap<(u64, u64), u64>,
    /// Different releases with their counts, by unit number; `None` for releases without a unit number. Round and time
    /// are set to 0.
    pub(super) events: BTreeMap<Option<u64>, Vec<(PrivacyEvent, u64)>>,
}

impl Group {
    pub(super) fn of(series: &str, event: &PrivacyEvent) -> Self {
        Self {
            series: series.to_owned(),
            about: GroupKey::of(event),
            releases: 0,
            runs: BTreeMap::new(),
            events: BTreeMap::new(),
        }
    }

    /// Adds `count` releases to `events`; the field `releases` does not change.
    pub(super) fn count(&mut self, event: &PrivacyEvent, count: u64) {
        let event = PrivacyEvent { round: 0, at: Time::ZERO, ..event.clone() };
        let events = self.events.entry(event.unit_index).or_default();
        match events.iter_mut().find(|(other, _)| *other == event) {
            Some((_, known)) => *known += count,
            None => events.push((event, count)),
        }
    }

    /// Adds the group of another series that has the same party, unit, observer and neighbouring relation.
    pub(super) fn add_releases(&mut self, other: &Self) {
        self.releases += other.releases;
        for (run, count) in &other.runs {
            *self.runs.entry(*run).or_default() += count;
        }
        for (event, count) in other.events.values().flatten() {
            self.count(event, *count);
        }
    }

    /// Whether a run of this group has the same random numbers as a run of another series, which has the group `other`.
    pub(super) fn shares_random_numbers_with(&self, other: &Self) -> bool {
        self.series != other.series && self.runs.keys().any(|run| other.runs.contains_key(run))
    }

    /// The histories of the units that may have the largest loss: those that are not contained in another history.
    pub(super) fn histories(&self) -> Vec<Composition> {
        let common = self.events.get(&None).map_or(&[][..], Vec::as_slice);
        let numbered = || self.events.iter().filter(|(unit, _)| unit.is_some());
        let mut histories: Vec<Composition> = Vec::new();
        let mut keep = |own: &[(PrivacyEvent, u64)]| {
            let events = own.iter().chain(common).map(|(event, count)| (event, *count));
            let composition = Composition::of_counted(events);
            keep_undominated(&mut histories, composition, Composition::contains);
        };
        if numbered().next().is_none() {
            keep(&[]);
        }
        numbered().for_each(|(_, own)| keep(own));
        histories
    }
}

/// Number of runs in which these groups have releases: the sum, over all series, of the largest number of runs that any of
/// the series' groups has.
pub(super) fn runs(parts: &[&Group]) -> u64 {
    let mut of_series: BTreeMap<&str, u64> = BTreeMap::new();
    for part in parts {
        let most = of_series.entry(&part.series).or_default();
        *most = (*most).max(part.runs.values().sum());
    }
    of_series.values().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::counted::example::event;
    use crate::vocab::ProtectedUnit;

    /// Only histories that may have the largest loss are priced. If 400 users have releases of one kind only, one
    /// history is priced. If one of these users also has a release of another kind, two histories are priced.
    #[test]
    fn a_history_within_another_is_not_priced() {
        let mut group = Group::of("s", &event(ProtectedUnit::User, Some(0), 1.0));
        for user in 0..400 {
            group.count(&event(ProtectedUnit::User, Some(user), 1.0), 1 + user % 97);
        }
        let histories = group.histories();
        assert_eq!((histories.len(), histories[0].count()), (1, 97));
        group.count(&event(ProtectedUnit::User, Some(3), 2.0), 1);
        let counts: Vec<u64> = group.histories().iter().map(Composition::count).collect();
        assert_eq!(counts, [5, 97], "user 3 has 4 releases of epsilon 1 and one of epsilon 2");
    }
}
