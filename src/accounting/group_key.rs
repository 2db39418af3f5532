//! Groups of releases whose privacy losses are computed together: the releases about one kind of unit of one party, to
//! one observer, with one neighbouring relation.

use super::CountedRelease;
use crate::vocab::{Neighbours, Observer, PrivacyEvent, ProtectedUnit};

/// What a group of releases has in common: observer, protected party, kind of unit, and neighbouring relation.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupKey {
    /// Name of the party whose data are protected.
    pub protected: String,
    /// Unit of protection.
    pub unit: ProtectedUnit,
    /// Who sees the releases.
    pub observer: Observer,
    /// Neighbouring relation.
    pub neighbours: Neighbours,
}

impl GroupKey {
    /// The group of an event.
    #[must_use]
    pub fn of(event: &PrivacyEvent) -> Self {
        Self {
            protected: event.protected.clone(),
            unit: event.unit,
            observer: event.observer.clone(),
            neighbours: event.neighbours.clone(),
        }
    }

    /// Whether an event belongs to this group.
    #[must_use]
    pub fn holds(&self, event: &PrivacyEvent) -> bool {
        (&self.protected, self.unit, &self.observer, &self.neighbours)
            == (&event.protected, event.unit, &event.observer, &event.neighbours)
    }

    /// Whether this group and another have the same party, unit and observer, but another neighbouring relation.
    #[must_use]
    pub fn differs_in_neighbours_only(&self, other: &Self) -> bool {
        (&self.protected, self.unit, &self.observer) == (&other.protected, other.unit, &other.observer)
            && self.neighbours != other.neighbours
    }
}

/// The releases of one run, grouped by [`GroupKey`]. Groups are in the order of their first releases.
#[must_use]
pub fn grouped(releases: &[CountedRelease]) -> Vec<(GroupKey, Vec<&CountedRelease>)> {
    let mut groups: Vec<(GroupKey, Vec<&CountedRelease>)> = Vec::new();
    for entry in releases {
        match groups.iter_mut().find(|(about, _)| about.holds(&entry.event)) {
            Some((_, group)) => group.push(entry),
            None => groups.push((GroupKey::of(&entry.event), vec![entry])),
        }
    }
    groups
}
