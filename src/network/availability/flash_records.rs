//! Reads the state records of devices in the format of FLASH.

use super::recording::Recording;
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A state of a recorded device. Every state is false at the start. Each state has one kind of record that makes the state
/// true, and one or more kinds of record that make it false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum FlashState {
    /// The device is being charged: from `battery_charged_on` to `battery_charged_off`.
    Charging,
    /// The device is connected by WLAN: from `wifi` to a record of another kind of connection (`2g` to `5g`, `unknown`).
    Wifi,
    /// The device's screen is locked: from `screen_lock` to `screen_unlock`.
    Locked,
    /// The device's screen is off: from `screen_off` to `screen_on`.
    ScreenOff,
}

/// The condition under which a device is available.
pub(super) struct Condition<'a> {
    /// The states that must all be true.
    pub(super) states: &'a [FlashState],
    /// The least level of the battery, in percent. The level is 0 before the first record of a level.
    pub(super) battery: f64,
}

/// The recordings of all devices of a file, in the order of the file. `file` is the file's name, for error messages.
pub(super) fn recordings(
    file: &str,
    text: &str,
    condition: &Condition<'_>,
) -> Result<Vec<Recording>, Problem> {
    let wrong = |expected: &str, found: String, cure: &str| Problem::wrong("file", expected, found, cure);
    let shape = "a JSON object of devices, each with its `messages`";
    let devices: Map<String, Value> = serde_json::from_str(text)
        .map_err(|error| wrong(shape, format!("{file}:{}: {error}", error.line()), "correct the file"))?;
    let mut read = Vec::new();
    for (name, device) in &devices {
        let Some(messages) = device.get("messages").and_then(Value::as_str) else {
            let found = format!("none in device \"{name}\" of {file}");
            return Err(wrong("a text `messages` of state records", found, "leave the device out"));
        };
        read.push(records(messages).map_err(|(record, expected, found)| {
            let found = format!("\"{found}\" in record {record} of device \"{name}\" of {file}");
            wrong(expected, found, "correct the record, or leave the device out")
        })?);
    }
    let first = read.iter().filter_map(|records| Some(records.first()?.0)).min().unwrap_or(0);
    let mut found = Vec::new();
    for (records, name) in read.iter().zip(devices.keys()) {
        let ends = records.first().zip(records.last());
        let Some((begins, ends)) = ends.map(|(a, b)| (a.0, b.0)).filter(|(begins, ends)| begins < ends)
        else {
            let found = format!("{} in device \"{name}\" of {file}", records.len());
            return Err(wrong("records of at least two different times", found, "leave the device out"));
        };
        found.push(recording(records, condition, [first, begins, ends]));
    }
    if found.is_empty() {
        return Err(wrong("at least one device", format!("none in {file}"), "name the file of state traces"));
    }
    Ok(found)
}

/// One change of a device's state.
#[derive(Clone, Copy)]
enum Change {
    State(FlashState, bool),
    Battery(f64),
    /// A record that affects no condition.
    Other,
}

/// A record that cannot be read: the number of its line, from 1, then what was expected, then what was found.
type BadRecord = (usize, &'static str, String);

/// Records as pairs of a time in seconds and a change, in order of time.
fn records(messages: &str) -> Result<Vec<(i64, Change)>, BadRecord> {
    let mut records = Vec::new();
    let lines = messages.lines().enumerate().map(|(index, line)| (index + 1, line));
    for (number, line) in lines {
        let line = line.trim_matches(|letter: char| letter.is_whitespace() || letter == '\0');
        if line.is_empty() {
            continue;
        }
        let Some((time, state)) = line.split_once('\t') else {
            return Err((number, "a time, a tab and a state", line.to_owned()));
        };
        let time = time.trim();
        let Some(at) = seconds(time) else {
            return Err((number, "a time such as 2020-01-29 01:57:36", time.to_owned()));
        };
        let state = state.trim();
        let Some(change) = change(&state.to_ascii_lowercase()) else {
            let expected = "a state: battery_charged_on, battery_charged_off, wifi, 2g to 5g, unknown, screen_on, screen_off, screen_lock, \
                            screen_unlock, battery_low, battery_okay, phone_on, phone_off, or a level such as 80%";
            return Err((number, expected, state.to_owned()));
        };
        records.push((at, change));
    }
    // Records with the same time stay in the order of the file.
    records.sort_by_key(|(at, _)| *at);
    Ok(records)
}

fn change(state: &str) -> Option<Change> {
    use FlashState::{Charging, Locked, ScreenOff, Wifi};
    Some(match state {
        "battery_charged_on" => Change::State(Charging, true),
        "battery_charged_off" => Change::State(Charging, false),
        "wifi" => Change::State(Wifi, true),
        "unknown" | "2g" | "3g" | "4g" | "5g" => Change::State(Wifi, false),
        "screen_lock" => Change::State(Locked, true),
        "screen_unlock" => Change::State(Locked, false),
        "screen_off" => Change::State(ScreenOff, true),
        "screen_on" => Change::State(ScreenOff, false),
        "battery_low" | "battery_okay" | "phone_on" | "phone_off" => Change::Other,
        level => {
            let level: f64 = level.strip_suffix('%')?.trim().parse().ok()?;
            (0.0..=100.0).contains(&level).then_some(Change::Battery(level))?
        }
    })
}

/// The recording of a device from its first to its last record; `times` are the times of the earliest record of the
/// file, and of the first and last record of the device.
fn recording(records: &[(i64, Change)], condition: &Condition<'_>, times: [i64; 3]) -> Recording {
    let [first, begins, ends] = times;
    let span = |from: i64, to: i64| Span::from_millis(u64::try_from(to - from).unwrap_or(0) * 1000);
    let (mut states, mut battery): (Vec<FlashState>, f64) = (Vec::new(), 0.0);
    let (mut since, mut intervals) = (None, Vec::new());
    for (at, change) in records {
        match change {
            Change::State(state, true) if !states.contains(state) => states.push(*state),
            Change::State(state, false) => states.retain(|known| known != state),
            Change::Battery(level) => battery = *level,
            Change::State(..) | Change::Other => {}
        }
        let fits =
            condition.states.iter().all(|state| states.contains(state)) && battery >= condition.battery;
        match (fits, since) {
            (true, None) => since = Some(*at),
            (false, Some(from)) => {
                intervals.push((span(begins, from), span(begins, *at)));
                since = None;
            }
            _ => {}
        }
    }
    intervals.extend(since.map(|from| (span(begins, from), span(begins, ends))));
    Recording::of_intervals(span(first, begins), span(begins, ends), intervals)
}

/// Seconds of a calendar time `2020-01-29 01:57:36`, counted from the beginning of 1970 without leap seconds and time zones.
fn seconds(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(' ')?;
    let three = |text: &str, mark: char| -> Option<[i64; 3]> {
        let numbers: Vec<i64> = text.split(mark).map(|part| part.parse().ok()).collect::<Option<_>>()?;
        numbers.try_into().ok()
    };
    let ([year, month, day], [hour, minute, second]) = (three(date, '-')?, three(time.trim(), ':')?);
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = [31, 28 + i64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month = usize::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    let fits = (1970..10_000).contains(&year)
        && (1..=days[month - 1]).contains(&day)
        && (0..24).contains(&hour)
        && (0..60).contains(&minute)
        && (0..60).contains(&second);
    let before = (year - 1) * 365 + (year - 1) / 4 - (year - 1) / 100 + (year - 1) / 400;
    // From the first day of the year 1 to the first day of 1970 there are 719,162 days.
    let day = before - 719_162 + days[..month - 1].iter().sum::<i64>() + day - 1;
    fits.then_some(((day * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calendar_times_are_seconds_since_1970() {
        assert_eq!(seconds("1970-01-01 00:00:00"), Some(0));
        // `date -u -d '2020-02-29 23:59:59' +%s`.
        assert_eq!(seconds("2020-02-29 23:59:59"), Some(1_583_020_799));
        assert_eq!(seconds("2020-03-01 00:00:00"), Some(1_583_020_800));
        for wrong in ["2021-02-29 00:00:00", "2020-13-01 00:00:00", "2020-01-01", "2020-01-01 24:00:00"] {
            assert_eq!(seconds(wrong), None, "{wrong}");
        }
    }
}
