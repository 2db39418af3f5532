//! Releases as the record of a run stores them: equal releases share one entry with a count.

use crate::vocab::PrivacyEvent;
use serde::{Deserialize, Serialize};

/// One release, or several releases that differ only in round and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CountedRelease {
    /// The first of these releases.
    pub event: PrivacyEvent,
    /// Number of these releases, at least 1.
    pub count: u64,
    /// Round of the last release.
    pub last_round: u64,
    /// Virtual time of the first release in seconds.
    #[serde(default)]
    pub first_seconds: f64,
    /// Virtual time of the last release in seconds.
    #[serde(default)]
    pub last_seconds: f64,
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
        }
    }

    /// Whether its releases differ from those of a later entry only in round and time.
    #[must_use]
    pub fn is_like(&self, later: &Self) -> bool {
        let event = &later.event;
        PrivacyEvent { round: event.round, at: event.at, ..self.event.clone() } == *event
    }

    /// Adds a later entry whose releases differ only in round and time.
    pub fn join(&mut self, later: &Self) {
        self.count += later.count;
        self.last_round = later.last_round;
        self.last_seconds = later.last_seconds;
    }
}

/// Whether the releases are from different rounds, so that later ones may have been chosen adaptively.
#[must_use]
pub fn over_rounds(releases: &[CountedRelease]) -> bool {
    let first = releases.first().map(|booked| booked.event.round);
    releases.iter().any(|booked| Some(booked.event.round) != first || booked.last_round != booked.event.round)
}

#[cfg(test)]
pub(super) mod example {
    use super::PrivacyEvent;
    use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Observer, ProtectedUnit, Sampler, Time};

    /// A release of randomised response about a unit of "users", to "service", in round 3.
    pub(in crate::accounting) fn event(
        unit: ProtectedUnit,
        unit_index: Option<u64>,
        epsilon: f64,
    ) -> PrivacyEvent {
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
