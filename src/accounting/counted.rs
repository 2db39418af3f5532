//! Releases as the record of a run stores them: releases that differ only in round and time share one entry with a count.

use crate::vocab::PrivacyEvent;
use serde::{Deserialize, Serialize};

/// One release, or several releases that differ only in round and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountedRelease {
    /// The release that was recorded first, but its round is replaced by the smallest round of all releases of this
    /// entry.
    pub event: PrivacyEvent,
    /// Number of releases of this entry, at least 1.
    pub count: u64,
    /// The largest round of the releases.
    pub last_round: u64,
    /// Virtual time, in seconds, of the release that was recorded first.
    #[serde(default)]
    pub first_seconds: f64,
    /// Virtual time, in seconds, of the release that was recorded last.
    #[serde(default)]
    pub last_seconds: f64,
    /// False if, in the order in which the releases were recorded, the round increases by the same number (possibly 0)
    /// from each release to the next. The releases are then evenly spaced in rounds. If true, only the smallest and the
    /// largest round are known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_uneven: bool,
}

impl CountedRelease {
    /// The entry for one release.
    #[must_use]
    pub fn of(event: &PrivacyEvent) -> Self {
        let seconds = event.at.seconds();
        Self {
            event: event.clone(),
            count: 1,
            last_round: event.round,
            first_seconds: seconds,
            last_seconds: seconds,
            is_uneven: false,
        }
    }

    /// Whether the releases of this entry differ from those of a later entry only in round and time.
    #[must_use]
    pub fn is_like(&self, later: &Self) -> bool {
        let event = &later.event;
        PrivacyEvent { round: event.round, at: event.at, ..self.event.clone() } == *event
    }

    /// Adds a later entry, whose releases differ from those of this entry only in round and time. The rounds of the
    /// later entry may be smaller: a user who arrived in an earlier round may report after a user who arrived in a later
    /// round.
    pub fn join(&mut self, later: &Self) {
        self.is_uneven = !self.is_continued_evenly_by(later);
        self.count += later.count;
        self.event.round = self.event.round.min(later.event.round);
        self.last_round = self.last_round.max(later.last_round);
        self.last_seconds = later.last_seconds;
    }
}

impl CountedRelease {
    /// The round of each release, a list `[count]` in ascending order; `None` if the releases are not evenly spaced in
    /// rounds, since their rounds are then unknown.
    #[must_use]
    pub fn rounds(&self) -> Option<Vec<u64>> {
        if self.count == 1 {
            return Some(vec![self.event.round]);
        }
        let spacing = self.spacing()?;
        Some((0..self.count).map(|k| self.event.round + k * spacing).collect())
    }

    /// Number of rounds from one release to the next; `None` if it is not always the same, or if there is only one release.
    fn spacing(&self) -> Option<u64> {
        let (rounds, gaps) = (self.last_round.checked_sub(self.event.round)?, self.count - 1);
        (!self.is_uneven && gaps > 0 && rounds % gaps == 0).then(|| rounds / gaps)
    }

    /// Whether the releases of this entry and those of a later entry, taken together, are evenly spaced in rounds.
    fn is_continued_evenly_by(&self, later: &Self) -> bool {
        let Some(gap) = later.event.round.checked_sub(self.last_round) else { return false };
        [self, later].iter().all(|entry| entry.count == 1 || entry.spacing() == Some(gap))
    }

    /// The largest number of these releases that may have been made up to and including a round. It is exact if the releases
    /// are evenly spaced in rounds.
    #[must_use]
    pub fn until(&self, round: u64) -> u64 {
        let begin = self.event.round;
        if round < begin {
            return 0;
        }
        if round >= self.last_round {
            return self.count;
        }
        match self.spacing() {
            Some(gap) if gap > 0 => 1 + (round - begin) / gap,
            // At least one of the releases is from the last round, which is after `round`.
            _ => self.count - 1,
        }
    }
}

/// Whether the releases are from different rounds, so that later ones may have been chosen adaptively.
#[must_use]
pub fn over_rounds(releases: &[CountedRelease]) -> bool {
    let first = releases.first().map(|entry| entry.event.round);
    releases.iter().any(|entry| Some(entry.event.round) != first || entry.last_round != entry.event.round)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocab::ProtectedUnit;

    fn joined(rounds: &[u64]) -> CountedRelease {
        let one = |round: u64| {
            CountedRelease::of(&PrivacyEvent { round, ..example::event(ProtectedUnit::Agent, None, 0.5) })
        };
        let mut entry = one(rounds[0]);
        rounds[1..].iter().for_each(|&round| entry.join(&one(round)));
        entry
    }

    /// An entry does not store the round of each release. So the counts that [`CountedRelease::until`] returns are compared
    /// with the rounds of the releases from which the entry was made.
    #[test]
    fn releases_so_far_are_counted_exactly_or_from_above() {
        for (rounds, even) in [
            (vec![4], true),
            (vec![4, 9], true),
            (vec![3, 5, 7, 9], true),
            ((0..100).collect(), true),
            (vec![2, 2, 2], true),
            ((0..20).map(|k| k / 2).collect(), false),
            (vec![0, 1, 2, 3, 4, 9], false),
            (vec![0, 5, 5], false),
            (vec![0, 3, 6, 8], false),
            // Users report in another order than the one in which they arrived.
            (vec![7, 4], false),
            (vec![4, 9, 2], false),
            (vec![5, 5, 3, 8, 1], false),
        ] {
            let entry = joined(&rounds);
            assert_eq!(entry.is_uneven, !even, "{rounds:?}");
            assert_eq!(entry.rounds(), even.then(|| rounds.clone()));
            for round in 0..=11 {
                let made = rounds.iter().filter(|&&at| at <= round).count() as u64;
                let found = entry.until(round);
                assert!(if even { found == made } else { found >= made }, "{rounds:?} by {round}: {found}");
                assert!(found <= entry.count);
            }
        }
        let (mut halves, rest) = (joined(&[0, 2, 4]), joined(&[6, 8]));
        halves.join(&rest);
        assert!(!halves.is_uneven);
        halves.join(&joined(&[11, 13]));
        assert!(halves.is_uneven);
    }
}

#[cfg(test)]
pub(crate) mod example {
    use super::{CountedRelease, PrivacyEvent};
    use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Observer, ProtectedUnit, Sampler, Time};

    /// An entry for `count` releases like `event`, the last of them in round 90.
    pub(in crate::accounting) fn booked_until_90(event: PrivacyEvent, count: u64) -> CountedRelease {
        CountedRelease { count, last_round: 90, ..CountedRelease::of(&event) }
    }

    /// A release of randomised response about a unit of "users", to "service", in round 3.
    pub(crate) fn event(unit: ProtectedUnit, unit_index: Option<u64>, epsilon: f64) -> PrivacyEvent {
        PrivacyEvent {
            released: "y".into(),
            mechanism: "randomised response".into(),
            protected: "users".into(),
            unit,
            unit_index,
            neighbours: Neighbours::AnyValue,
            observer: Observer("service".into()),
            sampler: Sampler::Full,
            sensitivity: None,
            cost: Cost::RandomizedResponse { epsilon },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Exact,
            round: 3,
            at: Time::ZERO,
        }
    }
}
