//! Hours of a local day, and time zones.

use crate::vocab::{Finite, NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nanoseconds of an hour.
pub(super) const HOUR: u64 = 3_600_000_000_000;
/// Nanoseconds of a day.
pub(super) const DAY: u64 = 24 * HOUR;

/// A time zone, and how frequent it is among parties.
///
/// Example: `Zone(utc: 5.5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// Hours by which local time is ahead of UTC, from -14 to 14.
    pub utc: Finite,
    /// Relative frequency, above 0: the zone's probability is its share divided by the sum of all shares. Default: 1.
    #[serde(default = "one")]
    pub share: Positive,
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

impl Zone {
    /// UTC.
    pub(super) fn utc() -> Self {
        Self { utc: Finite::new(0.0).expect("0 is finite"), share: one() }
    }

    /// The hours by which a random zone of the list is ahead of UTC; `u` in [0, 1) is the uniform draw that selects the
    /// zone.
    pub(super) fn drawn(zones: &[Self], u: f64) -> f64 {
        let all: f64 = zones.iter().map(|zone| zone.share.get()).sum();
        let mut left = u * all;
        for zone in zones {
            if left < zone.share.get() {
                return zone.utc.get();
            }
            left -= zone.share.get();
        }
        zones.last().map_or(0.0, |zone| zone.utc.get())
    }

    /// What is wrong with a list of zones.
    pub(super) fn problems(zones: &[Self]) -> Vec<Problem> {
        if zones.is_empty() {
            return vec![Problem::wrong(
                "zones",
                "at least one time zone",
                "none",
                "write zones: [Zone(utc: 0)]",
            )];
        }
        let far = zones.iter().position(|zone| zone.utc.get().abs() > 14.0);
        let far = far.map(|index| {
            let found = zones[index].utc.to_string();
            Problem::wrong(
                format!("zones[{index}].utc"),
                "hours from -14 to 14",
                found,
                "write 5.5 for UTC+5:30",
            )
        });
        far.into_iter().collect()
    }
}

/// The interval from one hour of the local day to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Hours {
    pub(super) from: NonNegative,
    pub(super) until: NonNegative,
}

impl Hours {
    /// Beginning and end in nanoseconds since midnight; the end is after the beginning, possibly on the next day.
    pub(super) fn nanos(self) -> (u64, u64) {
        let nanos = |hour: NonNegative| (hour.get() * HOUR as f64) as u64;
        let (from, until) = (nanos(self.from), nanos(self.until));
        (from, if until > from { until } else { until + DAY })
    }

    /// Whether a time, in nanoseconds since a local midnight, lies in these hours.
    pub(super) fn contain(self, nanos: u64) -> bool {
        let (from, until) = self.nanos();
        let at = nanos % DAY;
        (from <= at && at < until) || at + DAY < until
    }

    /// What is wrong with these hours.
    pub(super) fn problems(self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.from.get() >= 24.0 {
            problems.push(Problem::wrong(
                "from",
                "an hour below 24",
                self.from.to_string(),
                "write 0 for midnight",
            ));
        }
        if self.until.get() > 24.0 {
            problems.push(Problem::wrong(
                "until",
                "an hour up to 24",
                self.until.to_string(),
                "write 7 for seven in the morning",
            ));
        }
        if self.from == self.until {
            let cure = "let the two hours differ, or leave the hours out";
            problems.push(Problem::wrong("until", "an hour other than `from`", self.until.to_string(), cure));
        }
        problems
    }
}
