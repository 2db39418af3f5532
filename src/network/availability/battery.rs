//! A party whose battery decides whether it takes part.

use super::{Availability, AvailabilityProcess};
use crate::network::hours::{DAY, HOUR, Hours, Zone};
use crate::rng::Stream;
use crate::vocab::{NonNegative, Probability, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A device with a battery: it takes part while it is charged, or while its level is high enough.
///
/// The level begins at a random value, falls at a constant rate, falls further for the time that the party computes,
/// and rises between two hours of the local day. A message that reaches the party while the level is below `least` is
/// not received, except in the charging hours if `while_charging`; a job that has begun is completed and answered. For
/// the kernel, the party is always connected. The energy of a job is subtracted when the job begins; the level stays
/// between 0 and 1.
///
/// Example: `Battery(charges: ChargingHours(from: 23, until: 6), least: 0.4, idle: "30h", busy: "4h", full: "2h")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// When the device is charged.
    pub charges: ChargingHours,
    /// Least level, as a share of the full battery, at which a device that is not being charged takes part.
    pub least: Probability,
    /// Time in which an idle device uses a full battery, above 0.
    pub idle: Span,
    /// Time of computing on messages that uses a full battery, in addition to the idle use; above 0.
    pub busy: Span,
    /// Time in which charging fills an empty battery if nothing is used meanwhile, above 0. The
    /// idle use goes on during charging.
    pub full: Span,
    /// Whether a device that is charged takes part at any level. Default: true.
    #[serde(default = "yes")]
    pub while_charging: bool,
    /// Least level at the start; each party's is drawn uniformly between this level and 1. Default: 0.
    #[serde(default = "zero")]
    pub begins: Probability,
    /// Time zones; each party draws one. Default: one, UTC.
    #[serde(default = "utc")]
    pub zones: Vec<Zone>,
    /// The hour in UTC at which the run begins, from 0 to below 24. Default: 0.
    #[serde(default = "midnight")]
    pub starts: NonNegative,
}

/// The local hours between which a device is charged.
///
/// Example: `ChargingHours(from: 23, until: 6)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChargingHours {
    /// Local hour at which charging begins, from 0 to below 24.
    pub from: NonNegative,
    /// Local hour at which charging ends, from 0 to 24; an hour below `from` is on the next day.
    pub until: NonNegative,
}

fn yes() -> bool {
    true
}

fn zero() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

fn utc() -> Vec<Zone> {
    vec![Zone::utc()]
}

fn midnight() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not negative")
}

impl ChargingHours {
    fn hours(self) -> Hours {
        Hours { from: self.from, until: self.until }
    }
}

impl Battery {
    fn lengths(&self) -> [(&'static str, Span); 3] {
        [("idle", self.idle), ("busy", self.busy), ("full", self.full)]
    }
}

#[derive(Clone, Debug)]
struct Process {
    recipe: Battery,
    /// Nanoseconds of the local day that have passed at time zero.
    passed: u64,
    /// The level at the time `at`.
    level: f64,
    at: Time,
}

impl Process {
    /// Whether the device is charged at a time, and when that changes next.
    fn charging(&self, at: Time) -> (bool, Time) {
        let hours = self.recipe.charges.hours();
        let local = at.nanos().saturating_add(self.passed);
        let (from, until) = hours.nanos();
        let charged = hours.contain(local);
        let mark = if charged { until % DAY } else { from };
        let wait = (mark + DAY - local % DAY - 1) % DAY + 1;
        (charged, at + Span::from_nanos(wait))
    }

    /// Advances the level to the time `to`, which never decreases between calls.
    fn advance(&mut self, to: Time) {
        let use_up = 1.0 / self.recipe.idle.seconds();
        let charge = 1.0 / self.recipe.full.seconds();
        while self.at < to {
            let (charged, next) = self.charging(self.at);
            let until = next.min(to);
            let rate = if charged { charge - use_up } else { -use_up };
            self.level = (self.level + rate * (until - self.at).seconds()).clamp(0.0, 1.0);
            self.at = until;
        }
    }
}

impl Availability for Battery {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let zone = Zone::drawn(&self.zones, stream.uniform());
        let level = stream.uniform_between(self.begins.get(), 1.0);
        let local = (self.starts.get() + zone) * HOUR as f64;
        let passed = (local + 2.0 * DAY as f64).max(0.0) as u64 % DAY;
        Box::new(Process { recipe: self.clone(), passed, level, at: Time::ZERO })
    }

    fn ever_available(&self) -> bool {
        true
    }

    fn problems(&self) -> Vec<Problem> {
        let below = self.charges.hours().problems().into_iter().map(|problem| problem.below("charges"));
        let mut problems: Vec<Problem> = below.chain(Zone::problems(&self.zones)).collect();
        let empty = self.lengths().into_iter().filter(|(_, length)| *length == Span::ZERO);
        problems.extend(
            empty.map(|(field, _)| Problem::wrong(field, "a duration above 0", "0s", "write \"24h\"")),
        );
        if self.starts.get() >= 24.0 {
            let found = self.starts.to_string();
            problems.push(Problem::wrong(
                "starts",
                "an hour below 24",
                found,
                "write 13.5 for half past one",
            ));
        }
        problems
    }
}

impl AvailabilityProcess for Process {
    fn receives_at(&mut self, now: Time) -> bool {
        self.advance(now);
        let (charged, _) = self.charging(now);
        (charged && self.recipe.while_charging) || self.level >= self.recipe.least.get()
    }

    fn works(&mut self, now: Time, for_time: Span) {
        self.advance(now);
        self.level = (self.level - for_time.seconds() / self.recipe.busy.seconds()).max(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn hours(hours: f64) -> Time {
        Time::ZERO + Span::from_seconds(3600.0 * hours)
    }

    /// A battery that is full when the run begins, at 6 o'clock local time. It lasts for 20 h if
    /// the device is idle, and is charged from 23 to 6 o'clock.
    fn process(least: &str) -> Box<dyn AvailabilityProcess> {
        let text = format!(
            "Battery(charges: ChargingHours(from: 23, until: 6), least: {least}, idle: \"20h\", busy: \"4h\", full: \"2h\", begins: 1, \
             starts: 6)"
        );
        let model: super::super::AvailabilityModel = crate::scenario::part(&text).unwrap();
        assert_eq!(model.as_dyn().problems(), []);
        model.as_dyn().start(Key::root(1).stream())
    }

    #[test]
    fn an_idle_battery_falls_until_it_is_charged() {
        // 6 o'clock and full: half is left after 10 h, 23 o'clock comes after 17 h.
        let mut device = process("0.5");
        let heard: Vec<bool> = [9.9, 10.1, 16.9, 17.1, 24.0].map(|h| device.receives_at(hours(h))).to_vec();
        assert_eq!(heard, [true, false, false, true, true]);
    }

    #[test]
    fn work_uses_the_battery() {
        // One hour of work uses a quarter of the battery, so half is left after 5 h instead of 10 h.
        let mut device = process("0.5");
        device.works(hours(1.0), Span::from_seconds(3600.0));
        assert_eq!([4.9, 5.1].map(|h| device.receives_at(hours(h))), [true, false]);
        let mut copy = device.clone();
        assert_eq!(device.receives_at(hours(100.0)), copy.receives_at(hours(100.0)));
    }

    #[test]
    fn long_waits_end_where_short_steps_do() {
        for least in ["0.2", "0.35", "0.6", "0.9"] {
            let (mut once, mut often) = (process(least), process(least));
            for hour in 1..4000 {
                often.receives_at(hours(f64::from(hour) / 10.0));
            }
            assert_eq!(once.receives_at(hours(400.0)), often.receives_at(hours(400.0)), "{least}");
        }
    }
}
