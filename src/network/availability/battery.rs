//! A party whose battery decides whether it takes part.

use super::{Availability, AvailabilityProcess};
use crate::kernel::Switch;
use crate::network::hours::{DAY, HOUR, Hours, Zone};
use crate::rng::Stream;
use crate::vocab::{NonNegative, Probability, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A device with a battery. It takes part while the battery's level is high enough, or (unless stated otherwise) while the
/// battery is being charged.
///
/// The level is between 0 and 1. It begins at a random value. It falls at a constant rate, and faster while the party
/// computes. In the charging hours, which lie between two hours of the local day, it rises if charging is faster than use.
/// While the level is below `least`, the party is disconnected, except in the charging hours if `while_charging` is true. As
/// with every other availability model, a disconnected party neither sends nor receives, and is informed of the
/// disconnection. Its jobs continue and use the battery; if the party is disconnected when a job ends, the answer is lost.
///
/// Example: `Battery(charges: ChargingHours(from: 23, until: 6), least: 0.4, idle: "30h", busy: "4h", full: "2h")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Battery {
    /// When the device is charged.
    pub charges: ChargingHours,
    /// Least level, as a share of the full battery, at which the device takes part without being charged.
    pub least: Probability,
    /// Time in which an idle device uses up a full battery, above 0.
    pub idle: Span,
    /// Time in which one job would use up a full battery, if the idle use is not counted; above 0. If the device works on
    /// several jobs at the same time (compute time `Servers(..)`), each of them uses the battery as fast as a job alone.
    pub busy: Span,
    /// Time in which charging would fill an empty battery if the device used nothing, above 0. The idle use and the use by
    /// jobs go on during charging.
    pub full: Span,
    /// Whether a device that is being charged takes part at any level. Default: true.
    #[serde(default = "yes")]
    pub while_charging: bool,
    /// Least level at the start: each party's level at the start is drawn uniformly between this number and 1. Default: 0.
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

/// The battery at one time.
#[derive(Clone, Debug)]
struct State {
    at: Time,
    level: f64,
    /// Whether the device takes part, because of its level or because it is being charged.
    online: bool,
    /// The beginning and the end of each job that has not ended, in ascending order of the beginnings.
    jobs: Vec<(Time, Time)>,
}

#[derive(Clone, Debug)]
struct Process {
    recipe: Battery,
    /// Nanoseconds of the local day that have passed at time zero.
    passed: u64,
    /// The state at the time of the last call of `works`, or at time zero.
    known: State,
    /// The state at the time up to which `next_switch` has announced the changes: the time of the change that `next_switch`
    /// returned last, or the time of `known` if it has returned no change since the last call of `works`. The state takes
    /// account of the jobs of all calls of `works`.
    ahead: State,
    /// Whether the next call of `next_switch` must announce a change at the time of `ahead`. It must if the connection
    /// changed exactly at the time of the last call of `works`, because each call of `works` discards the earlier
    /// announcements.
    unannounced: bool,
}

/// After this time without a connection, a party counts as disconnected until the end of the run.
const GONE: Span = Span::from_nanos(400 * DAY);
/// While the party is connected, `next_switch` looks for the next change within a time of this length. If the connection
/// does not change within this time, `next_switch` announces, at the end of the time, a change to the same state. The next
/// call goes on from there.
const PLANNED: Span = Span::from_nanos(2 * DAY);

impl Process {
    /// Whether the device is being charged at the time `at`, and when charging begins or ends next.
    fn charging(&self, at: Time) -> (bool, Time) {
        let hours = self.recipe.charges.hours();
        let local = at.nanos().saturating_add(self.passed);
        let (from, until) = hours.nanos();
        let charged = hours.contain(local);
        let mark = if charged { until % DAY } else { from };
        let wait = (mark + DAY - local % DAY - 1) % DAY + 1;
        (charged, at + Span::from_nanos(wait))
    }

    fn is_online(&self, charged: bool, level: f64) -> bool {
        (charged && self.recipe.while_charging) || level >= self.recipe.least.get()
    }

    /// Advances the state to the next change of the connection and returns true. If there is no change up to `limit`,
    /// advances the state to `limit` and returns false.
    fn advance(&self, state: &mut State, limit: Time) -> bool {
        let least = self.recipe.least.get();
        while state.at < limit {
            let (charged, boundary) = self.charging(state.at);
            state.jobs.retain(|(_, end)| *end > state.at);
            let running = state.jobs.iter().filter(|(begin, _)| *begin <= state.at).count();
            let ends = state.jobs.iter().map(|(begin, end)| if *begin > state.at { *begin } else { *end });
            let until = ends.fold(boundary.min(limit), Time::min);
            let used = 1.0 / self.recipe.idle.seconds() + running as f64 / self.recipe.busy.seconds();
            let rate = if charged { 1.0 / self.recipe.full.seconds() - used } else { -used };
            // While the device is being charged and `while_charging` is true, it is connected at any level; else the
            // level decides.
            let decides = !(charged && self.recipe.while_charging);
            let crosses = decides && (if state.online { rate < 0.0 } else { rate > 0.0 });
            if crosses {
                // The number of nanoseconds is rounded up, so that the change is not before the level has reached `least`.
                let wait = ((least - state.level) / rate * 1e9).max(0.0).ceil();
                let reachable = least > 0.0 && wait < (until - state.at).nanos() as f64;
                if reachable {
                    state.at = state.at + Span::from_nanos((wait as u64).max(1));
                    state.level = least;
                    state.online = !state.online;
                    return true;
                }
            }
            state.level = (state.level + rate * (until - state.at).seconds()).clamp(0.0, 1.0);
            state.at = until;
            if until == boundary {
                let online = self.is_online(self.charging(until).0, state.level);
                if online != state.online {
                    state.online = online;
                    return true;
                }
            }
        }
        false
    }
}

impl Availability for Battery {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let zone = Zone::drawn(&self.zones, stream.uniform());
        let level = stream.uniform_between(self.begins.get(), 1.0);
        let local = (self.starts.get() + zone) * HOUR as f64;
        let passed = (local + 2.0 * DAY as f64).max(0.0) as u64 % DAY;
        let known = State { at: Time::ZERO, level, online: true, jobs: Vec::new() };
        let ahead = known.clone();
        let mut process = Process { recipe: self.clone(), passed, known, ahead, unannounced: false };
        let (charged, _) = process.charging(Time::ZERO);
        process.known.online = process.is_online(charged, level);
        process.ahead.online = process.known.online;
        Box::new(process)
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
                "write 13.5 for half past one in the afternoon",
            ));
        }
        problems
    }
}

impl AvailabilityProcess for Process {
    fn starts_online(&mut self) -> bool {
        self.known.online
    }

    fn next_switch(&mut self) -> Option<Switch> {
        let mut ahead = self.ahead.clone();
        if !std::mem::take(&mut self.unannounced) {
            let length = if ahead.online { PLANNED } else { GONE };
            let limit = ahead.at + length;
            if !self.advance(&mut ahead, limit) && !ahead.online {
                return None;
            }
        }
        let switch = Switch::connection(ahead.at, ahead.online);
        self.ahead = ahead;
        (switch.at < Time::NEVER).then_some(switch)
    }

    fn works(&mut self, now: Time, begins: Time, for_time: Span) -> bool {
        let mut known = self.known.clone();
        // A change at `now` is announced again, because the kernel may not have processed it yet.
        let mut last = None;
        while self.advance(&mut known, now) {
            last = Some(known.at);
        }
        self.unannounced = last == Some(now);
        known.jobs.push((begins, begins + for_time));
        self.ahead = known.clone();
        self.known = known;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn hours(hours: f64) -> Time {
        Time::ZERO + Span::from_seconds(3600.0 * hours)
    }

    /// A battery that is full at the start, 6 o'clock. The idle use empties a full battery in 20 h. Work uses up a full
    /// battery in 4 h, in addition to the idle use. Charging, from 23 to 6 o'clock, would fill an empty battery in 2 h
    /// without any use.
    fn process(least: &str, more: &str) -> Box<dyn AvailabilityProcess> {
        let text = format!(
            "Battery(charges: ChargingHours(from: 23, until: 6), least: {least}, idle: \"20h\", busy: \"4h\", full: \"2h\", begins: 1, \
             starts: 6{more})"
        );
        let model: super::super::AvailabilityModel = crate::scenario::part(&text).unwrap();
        assert_eq!(model.as_dyn().problems(), []);
        model.as_dyn().start(Key::root(1).stream())
    }

    /// The next changes of the connection: their times in thousandths of an hour, and whether the party is then connected.
    fn changes(process: &mut dyn AvailabilityProcess, count: usize) -> Vec<(i64, bool)> {
        let mut online = true;
        let mut found = Vec::new();
        while found.len() < count {
            let switch = process.next_switch().unwrap();
            // A change to the same state only means that the time of length `PLANNED` ends here.
            if switch.online != online {
                online = switch.online;
                found.push(((switch.at.seconds() / 3.6).round() as i64, online));
            }
        }
        found
    }

    #[test]
    fn an_idle_battery_falls_until_it_is_charged() {
        // At 6 o'clock the battery is full. Half of it is left after 10 h; charging begins after 17 h, at 23 o'clock, and
        // ends after 24 h with a full battery.
        let mut device = process("0.5", "");
        assert!(device.starts_online());
        let found = changes(&mut *device, 4);
        assert_eq!(found, [(10_000, false), (17_000, true), (34_000, false), (41_000, true)]);
    }

    #[test]
    fn without_while_charging_the_level_decides() {
        // 0.15 is left at 23 o'clock; in an hour of charging the level rises by 1/2 - 1/20.
        let mut device = process("0.5", ", while_charging: false");
        let up = 17_000 + (350.0_f64 / 0.45).round() as i64;
        assert_eq!(changes(&mut *device, 2), [(10_000, false), (up, true)]);
        // Charging that is slower than the idle use never connects the device again.
        let text = "Battery(charges: ChargingHours(from: 23, until: 6), least: 0.5, idle: \"20h\", busy: \"4h\", full: \"21h\", begins: 1, \
                    starts: 6, while_charging: false)";
        let model: super::super::AvailabilityModel = crate::scenario::part(text).unwrap();
        let mut device = model.as_dyn().start(Key::root(1).stream());
        assert_eq!(changes(&mut *device, 1), [(10_000, false)]);
        assert_eq!(device.next_switch(), None);
        // A device whose battery never falls to `least` is never disconnected: all announced changes leave it connected.
        let mut device = process("0.1", "");
        assert!((0..500).all(|_| device.next_switch().unwrap().online));
    }

    #[test]
    fn work_changes_the_announced_times() {
        // One hour of work, beginning at 1 h, uses a quarter of the battery in addition: half is left after 5 h instead of
        // 10 h.
        let mut device = process("0.5", "");
        let announced = device.next_switch().unwrap();
        assert_eq!(announced, Switch::connection(hours(10.0), false));
        assert!(device.works(hours(1.0), hours(1.0), Span::from_seconds(3600.0)));
        let mut copy = device.clone();
        assert_eq!(changes(&mut *device, 2), [(5_000, false), (17_000, true)]);
        // A second job waits for the first, so jobs run from 1 h to 3 h. The level is 0.95 at 1 h and then falls by 0.3 per
        // hour; it is 0.5 at 2.5 h.
        assert!(copy.works(hours(1.5), hours(2.0), Span::from_seconds(3600.0)));
        assert_eq!(changes(&mut *copy, 1), [(2_500, false)]);
    }

    #[test]
    fn a_change_at_the_time_of_a_job_is_not_lost() {
        let mut device = process("0.5", "");
        assert!(device.works(hours(10.0), hours(10.0), Span::from_seconds(60.0)));
        // The level falls to `least` exactly at the time of the job. The connection then changes a nanosecond later.
        let late = hours(10.0) + Span::from_nanos(1);
        assert_eq!(device.next_switch(), Some(Switch::connection(late, false)));
        assert_eq!(device.next_switch(), Some(Switch::connection(hours(17.0), true)));
    }
}
