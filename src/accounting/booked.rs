//! The releases of a run as its record keeps them: equal ones in a row counted together.

use crate::vocab::PrivacyEvent;
use serde::{Deserialize, Serialize};

/// One release, or several in a row that differ only in round and time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BookedRelease {
    /// The first of them.
    pub event: PrivacyEvent,
    /// How many, at least 1.
    pub count: u64,
    /// Round of the last of them.
    pub last_round: u64,
    /// Virtual time of the first of them in seconds.
    #[serde(default)]
    pub first_seconds: f64,
    /// Virtual time of the last of them in seconds.
    #[serde(default)]
    pub last_seconds: f64,
}

/// Whether releases of different rounds are among them: later ones may have been chosen in knowledge of earlier ones.
#[must_use]
pub fn over_rounds(releases: &[BookedRelease]) -> bool {
    let first = releases.first().map(|booked| booked.event.round);
    releases.iter().any(|booked| Some(booked.event.round) != first || booked.last_round != booked.event.round)
}

/// Adds `event` to `booked`, counting it with the last entry if it differs from it only in round and time.
pub fn book(booked: &mut Vec<BookedRelease>, event: &PrivacyEvent) {
    if let Some(last) = booked.last_mut() {
        let alike = PrivacyEvent { round: event.round, at: event.at, ..last.event.clone() };
        if alike == *event {
            last.count += 1;
            last.last_round = event.round;
            last.last_seconds = event.at.seconds();
            return;
        }
    }
    let seconds = event.at.seconds();
    booked.push(BookedRelease {
        event: event.clone(),
        count: 1,
        last_round: event.round,
        first_seconds: seconds,
        last_seconds: seconds,
    });
}
