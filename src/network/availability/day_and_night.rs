//! A party that is available at certain hours of its local day.

use super::{Availability, AvailabilityProcess};
use crate::kernel::Switch;
use crate::network::hours::{DAY, HOUR, Hours, Zone};
use crate::rng::{Key, Stream};
use crate::vocab::{NonNegative, Probability, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The party is connected between two hours of the local day, like a phone that is charged at night.
///
/// Each party draws its time zone once per replication. With probability 1 - `joins`, the party does not connect on a given
/// day. Otherwise it connects and disconnects at the stated hours plus or minus at most `spread`; both differences are drawn
/// for each day, uniformly.
///
/// Example: `DayAndNight(from: 22, until: 7, zones: [Zone(utc: 8), Zone(utc: -5, share: 2)])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DayAndNight {
    /// Local hour at which the party connects, from 0 to below 24: 22.5 is half past ten in the evening.
    pub from: NonNegative,
    /// Local hour at which the party disconnects, from 0 to 24; an hour below `from` is on the next day.
    pub until: NonNegative,
    /// Time zones. Default: one, UTC.
    #[serde(default = "utc")]
    pub zones: Vec<Zone>,
    /// The hour in UTC at which the run begins, from 0 to below 24. Default: 0.
    #[serde(default = "zero")]
    pub starts: NonNegative,
    /// Probability that the party connects on a given day. Default: 1.
    #[serde(default = "one")]
    pub joins: Probability,
    /// Largest difference between a stated hour and the hour that is drawn. It must be less than half of the time from
    /// `from` to `until`, and less than half of the time from `until` to the next `from`. Default: 0s.
    #[serde(default)]
    pub spread: Span,
}

fn utc() -> Vec<Zone> {
    vec![Zone::utc()]
}

fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not negative")
}

fn one() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

impl DayAndNight {
    fn hours(&self) -> Hours {
        Hours { from: self.from, until: self.until }
    }
}

/// The process of one party. The draws of day k come from a stream of that day, so they do not depend on earlier days.
#[derive(Clone, Debug)]
struct Process {
    recipe: DayAndNight,
    /// Nanoseconds of the local day that have passed at time zero, plus one day, so that the first interval may begin
    /// before time zero.
    passed: u64,
    key: Key,
    /// The day to whose interval the next change belongs. `ending` states whether that change is the end of the interval,
    /// and `started` whether `next_switch` was called.
    day: u64,
    ending: bool,
    started: bool,
}

impl Process {
    /// The interval in which the party is connected and which begins on `day`: its beginning and its end, in nanoseconds of
    /// local time since the beginning of day 0. `None` if the party does not connect on this day.
    fn interval(&self, day: u64) -> Option<(u64, u64)> {
        let mut stream = self.key.index(day).stream();
        let joins = stream.bernoulli(self.recipe.joins.get());
        let spread = self.recipe.spread.nanos() as f64;
        let mut moved = |at: u64| {
            let by = stream.uniform_between(-spread, spread).round();
            if by < 0.0 { at.saturating_sub((-by) as u64) } else { at.saturating_add(by as u64) }
        };
        let (from, until) = self.recipe.hours().nanos();
        // Day 0 is the day before the run's first day.
        let begin = day.saturating_mul(DAY);
        let (from, until) = (moved(begin.saturating_add(from)), moved(begin.saturating_add(until)));
        joins.then_some((from, until))
    }

    fn online_at_start(&self) -> bool {
        (0..3).any(|day| {
            self.interval(day).is_some_and(|(from, until)| from <= self.passed && self.passed < until)
        })
    }
}

impl Availability for DayAndNight {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let zone = Zone::drawn(&self.zones, stream.uniform());
        let key = Key::root(stream.word());
        // Two days are added so that local time is positive in zones west of UTC. One day is added to the remainder, because
        // day 0 is the day before the run's first day.
        let local = (self.starts.get() + zone) * HOUR as f64;
        let passed = (local + 2.0 * DAY as f64).max(0.0) as u64 % DAY + DAY;
        let day = 0;
        Box::new(Process { recipe: self.clone(), passed, key, day, ending: false, started: false })
    }

    fn ever_available(&self) -> bool {
        self.joins.get() > 0.0
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = self.hours().problems();
        problems.extend(Zone::problems(&self.zones));
        if self.starts.get() >= 24.0 {
            let found = self.starts.to_string();
            problems.push(Problem::wrong(
                "starts",
                "an hour below 24",
                found,
                "write 13.5 for half past one in the afternoon",
            ));
        }
        let (from, until) = self.hours().nanos();
        if problems.is_empty() && until.saturating_sub(from) >= DAY {
            let cure = "write Always() for a party that is connected all day";
            problems.push(Problem::wrong(
                "until",
                "less than a day after `from`",
                self.until.to_string(),
                cure,
            ));
        }
        let shortest = until.saturating_sub(from).min(DAY.saturating_sub(until.saturating_sub(from)));
        if problems.is_empty() && shortest > 0 && self.spread.nanos().saturating_mul(2) >= shortest {
            let expected = format!("less than {}", Span::from_nanos(shortest / 2));
            let cure =
                "lower it, so that a day's interval ends after it begins and before the next day's begins";
            problems.push(Problem::wrong("spread", expected, self.spread.to_string(), cure));
        }
        problems
    }
}

impl AvailabilityProcess for Process {
    fn starts_online(&mut self) -> bool {
        self.online_at_start()
    }

    fn next_switch(&mut self) -> Option<Switch> {
        if !self.started {
            self.started = true;
            // If the party is in the middle of an interval at time zero, the first change is the end of this interval.
            let now = self.passed;
            let inside = (0..3)
                .find(|&day| self.interval(day).is_some_and(|(from, until)| from <= now && now < until));
            self.ending = inside.is_some();
            self.day = inside.unwrap_or(0);
        }
        // After this number of days without a connection, the party counts as disconnected until the end of the run.
        for _ in 0..100_000 {
            let Some((from, until)) = self.interval(self.day) else {
                self.day += 1;
                continue;
            };
            let (at, online) = if self.ending { (until, false) } else { (from, true) };
            if self.ending {
                self.day += 1;
            }
            if !self.ending && at <= self.passed {
                // The interval is over before the run begins.
                self.day += 1;
                continue;
            }
            self.ending = !self.ending;
            let at = Time::from_nanos(at - self.passed);
            return (at < Time::NEVER).then_some(Switch::connection(at, online));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> DayAndNight {
        crate::scenario::part::<super::super::AvailabilityModel>(text)
            .unwrap()
            .get::<DayAndNight>()
            .unwrap()
            .clone()
    }

    fn changes(recipe: &DayAndNight, count: usize) -> (bool, Vec<(f64, bool)>) {
        let mut process = recipe.start(Key::root(1).stream());
        let start = process.starts_online();
        let found = std::iter::from_fn(|| process.next_switch()).take(count);
        (start, found.map(|switch| (switch.at.seconds() / 3600.0, switch.online)).collect())
    }

    #[test]
    fn local_hours_are_those_of_the_zone() {
        // 22 to 7 at UTC+8 is 14 to 23 in UTC.
        let east = read("DayAndNight(from: 22, until: 7, zones: [Zone(utc: 8)])");
        assert_eq!(
            changes(&east, 4),
            (false, vec![(14.0, true), (23.0, false), (38.0, true), (47.0, false)])
        );
        // 22 to 7 at UTC-5 is 3 to 12 in UTC; the run begins at 5.
        let west = read("DayAndNight(from: 22, until: 7, zones: [Zone(utc: -5)], starts: 5)");
        assert_eq!(changes(&west, 3), (true, vec![(7.0, false), (22.0, true), (31.0, false)]));
        let day = read("DayAndNight(from: 9, until: 17, starts: 17)");
        assert_eq!(changes(&day, 2), (false, vec![(16.0, true), (24.0, false)]));
    }

    /// 40 parties over 200 days: each of these 8,000 days has a connection with probability 0.7, so the share of days with
    /// a connection has a standard error of 0.0051; six standard errors are 0.031. Each of 400 parties is in the second zone
    /// with probability 3/4, so the share of parties in the second zone has a standard error of 0.0217; six standard errors
    /// are 0.13.
    #[test]
    fn days_are_missed_and_zones_drawn_at_their_rates() {
        let recipe = read(
            "DayAndNight(from: 8, until: 18, joins: 0.7, spread: \"2h\", zones: [Zone(utc: 0), Zone(utc: 3, share: 3)])",
        );
        let mut days = 0;
        for party in 0..40 {
            let mut process = recipe.start(Key::root(9).index(party).stream());
            let mut last = Time::ZERO;
            loop {
                let switch = process.next_switch().unwrap();
                assert!(switch.at > last);
                last = switch.at;
                if last.seconds() > 200.0 * 86_400.0 {
                    break;
                }
                days += u32::from(switch.online);
            }
        }
        assert!((f64::from(days) / 8000.0 - 0.7).abs() < 0.031, "{days}");
        let plain = DayAndNight { joins: one(), spread: Span::ZERO, ..recipe };
        let first =
            |party| plain.start(Key::root(4).index(party).stream()).next_switch().unwrap().at.seconds();
        let east = (0..400).filter(|party| first(*party) < 6.0 * 3600.0).count();
        assert!((east as f64 / 400.0 - 0.75).abs() < 0.13, "{east}");
    }
}
