//! A party that is online and offline at the times recorded for a device.

use super::scheduled::is_ever_online;
use super::{Always, Availability, AvailabilityProcess};
use crate::kernel::Switch;
use crate::network::data_file::{self, Loaded};
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The party is connected as recorded in a file. Each line describes one device: its state at the start (1 connected, 0
/// not), then the times in seconds at which the state changes, ascending: `1, [0.8, 1.1, 2.25]`. Brackets are
/// optional.
///
/// Example: `Trace(file: "availability.csv", repeat: "3s")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Trace {
    /// The file; relative to the scenario's folder or to the folder of `--data`. Lines that begin with # are comments.
    pub file: PathBuf,
    /// Number of the device, from 0. Default: drawn for each party, every device with the same probability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<u64>,
    /// Period with which the recording is repeated, longer than the time of the last change of any device in the file.
    /// Default: no repetition, the last state stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<Span>,
    #[serde(skip)]
    devices: Loaded<Vec<Device>>,
}

/// One line of the file.
#[derive(Clone, Debug, PartialEq)]
struct Device {
    online: bool,
    switches: Vec<Span>,
}

impl Device {
    /// The share of the time from 0 to `all` for which the device is connected. If `all` is 0, the result is 1 for a device
    /// that is connected at the start, else 0.
    fn share_online(&self, all: Span) -> f64 {
        if all == Span::ZERO {
            return f64::from(u8::from(self.online));
        }
        let (mut online, mut begun, mut connected) = (self.online, 0.0, 0.0);
        for at in self.switches.iter().copied().chain([all]) {
            let at = at.seconds().min(all.seconds());
            connected += if online { at - begun } else { 0.0 };
            (online, begun) = (!online, at);
        }
        connected / all.seconds()
    }
}

impl Trace {
    /// A recipe whose file has not been read.
    #[must_use]
    pub fn new(file: PathBuf, device: Option<u64>, repeat: Option<Span>) -> Self {
        Self { file, device, repeat, devices: None }
    }

    fn devices(&self) -> &[Device] {
        self.devices.as_ref().map_or(&[], |devices| devices.as_slice())
    }

    /// The share of time for which each device is connected, with the device's number, in ascending order of the shares.
    /// The shares refer to one repetition or, without repetition, to the time until the last change in the file.
    fn by_share(&self) -> Vec<(f64, usize)> {
        let last = self.devices().iter().filter_map(|device| device.switches.last()).max();
        let all = self.repeat.or(last.copied()).unwrap_or(Span::ZERO);
        let mut shares: Vec<(f64, usize)> =
            self.devices().iter().enumerate().map(|(n, device)| (device.share_online(all), n)).collect();
        shares.sort_by(|a, b| a.0.total_cmp(&b.0));
        shares
    }

    fn process(&self, device: Option<usize>) -> Box<dyn AvailabilityProcess> {
        let followed = self.devices.as_ref().zip(device).filter(|(devices, device)| *device < devices.len());
        let Some((devices, device)) = followed else { return Box::new(Always {}) };
        Box::new(TraceProcess {
            online: devices[device].online,
            devices: Arc::clone(devices),
            device,
            repeat: self.repeat,
            begun: Time::ZERO,
            next: 0,
        })
    }

    /// The device whose number the recipe states. `None` if the recipe states no number, if the file has no device with this
    /// number, or if the file has not been read.
    fn chosen(&self) -> Option<&Device> {
        self.devices().get(usize::try_from(self.device?).ok()?)
    }
}

impl Availability for Trace {
    /// If the file has not been read, or does not have the stated device, the party is always online.
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let devices = self.devices();
        let drawn = (stream.uniform() * devices.len() as f64) as usize;
        self.process(self.device.map_or(Some(drawn), |device| usize::try_from(device).ok()))
    }

    /// Whether no device is stated and the recorded devices are connected for different shares of the time. Also true if
    /// the file has not been read.
    fn differs(&self) -> bool {
        let ordered = self.by_share();
        let ends = ordered.first().zip(ordered.last());
        self.devices.is_none() || self.device.is_none() && ends.is_some_and(|(least, most)| least.0 < most.0)
    }

    /// The availability of the device at the quantile `level`, in (0, 1), of all devices; the devices are in ascending order
    /// of the share of time for which they are connected.
    fn start_at(&self, level: f64, _: Stream) -> Box<dyn AvailabilityProcess> {
        let ordered = self.by_share();
        let place = (level * ordered.len() as f64) as usize;
        self.process(ordered.get(place).map(|(_, device)| *device))
    }

    /// Whether a device that a party may follow is connected for a time longer than 0. Also true if the file has not been
    /// read (reported by `load`) or does not have the stated device (reported by `problems`).
    fn ever_available(&self) -> bool {
        let receives = |device: &Device| is_ever_online(device.online, &device.switches);
        match self.device {
            None => self.devices.is_none() || self.devices().iter().any(receives),
            Some(_) => self.chosen().is_none_or(receives),
        }
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let read =
            data_file::read(base, &self.file, "a CSV file").and_then(|text| devices(&self.file, &text));
        match read {
            Ok(devices) => {
                self.devices = Some(Arc::new(devices));
                Vec::new()
            }
            Err(problem) => vec![problem],
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.devices.is_none() {
            // `load` has reported why the file could not be read.
            return problems;
        }
        if let Some(device) = self.device
            && self.chosen().is_none()
        {
            let expected = format!("a device below {}", self.devices().len());
            problems.push(Problem::wrong(
                "device",
                expected,
                device.to_string(),
                "devices are numbered from 0",
            ));
        }
        let last = self.devices().iter().filter_map(|device| device.switches.last()).max();
        if let (Some(repeat), Some(last)) = (self.repeat, last)
            && repeat <= *last
        {
            problems.push(Problem::wrong(
                "repeat",
                format!("a duration above {last}, the time of the last change in the file"),
                repeat.to_string(),
                "raise `repeat`, or shorten the recording",
            ));
        }
        problems
    }
}

fn devices(file: &Path, text: &str) -> Result<Vec<Device>, Problem> {
    let mut devices = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let wrong_with = |expected: String, found: &str, why: &str| {
            let found = format!("\"{found}\" at {}:{}{why}", file.display(), number + 1);
            Problem::wrong("file", expected, found, "correct the file")
        };
        let wrong = |expected: String, found: &str| wrong_with(expected, found, "");
        let plain = line.replace(['[', ']', '"'], "");
        let mut cells = plain.split(',').map(str::trim);
        let state = cells.next().unwrap_or_default();
        let online = match state {
            "1" => true,
            "0" => false,
            _ => return Err(wrong("the state at the start, 1 (connected) or 0 (not)".to_owned(), state)),
        };
        let mut switches: Vec<Span> = Vec::new();
        for cell in cells.filter(|cell| !cell.is_empty()) {
            let seconds = cell.parse::<f64>().ok().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
            let seconds = seconds.ok_or_else(|| wrong("a time in seconds, 0 or above".to_owned(), cell))?;
            let at = Span::from_seconds(seconds);
            if let Some(last) = switches.last().filter(|last| at <= **last) {
                let why = ", which is not later than the time before";
                return Err(wrong_with(format!("a time after {last}"), cell, why));
            }
            switches.push(at);
        }
        devices.push(Device { online, switches });
    }
    if devices.is_empty() {
        let found = format!("none in {}", file.display());
        return Err(Problem::wrong(
            "file",
            "at least one device",
            found,
            "write a line such as 1, [12.5, 30]",
        ));
    }
    Ok(devices)
}

#[derive(Clone, Debug)]
struct TraceProcess {
    /// The devices of the file, which all parties share.
    devices: Arc<Vec<Device>>,
    device: usize,
    repeat: Option<Span>,
    online: bool,
    begun: Time,
    /// Index, among the device's `switches`, of the next change in the present repetition, which began at `begun`. After the
    /// last change, the next change is the beginning of the next repetition; without `repeat`, no change follows. A device
    /// without changes has no next change, even with `repeat`.
    next: usize,
}

impl AvailabilityProcess for TraceProcess {
    fn starts_online(&mut self) -> bool {
        self.devices[self.device].online
    }

    fn next_switch(&mut self) -> Option<Switch> {
        let device = &self.devices[self.device];
        if device.switches.is_empty() {
            return None;
        }
        if let Some(&after) = device.switches.get(self.next) {
            self.next += 1;
            self.online = !self.online;
            return Some(Switch::connection(self.begun + after, self.online));
        }
        self.begun = self.begun + self.repeat?;
        // If the recording has a change at time 0, this change and the beginning of the repetition are one change.
        let at_once = device.switches[0] == Span::ZERO;
        self.next = usize::from(at_once);
        self.online = device.online != at_once;
        (self.begun < Time::NEVER).then_some(Switch::connection(self.begun, self.online))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn loaded(text: &str, device: Option<u64>, repeat: Option<Span>) -> (Trace, Vec<Problem>) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("trace.csv"), text).unwrap();
        let mut recipe = Trace::new("trace.csv".into(), device, repeat);
        let mut problems = recipe.load(&folder.path().into());
        problems.extend(recipe.problems());
        (recipe, problems)
    }

    #[test]
    fn a_recording_is_played_and_repeated() {
        let (recipe, problems) =
            loaded("# state, changes\n0\n1, [2, 3.5]\n", Some(1), Some(Span::from_millis(10_000)));
        assert_eq!(problems, []);
        let mut process = recipe.start(Key::root(1).stream());
        assert!(process.starts_online());
        let changes: Vec<(f64, bool)> = (0..6)
            .map(|_| process.next_switch().unwrap())
            .map(|switch| (switch.at.seconds(), switch.online))
            .collect();
        let expected = [(2.0, false), (3.5, true), (10.0, true), (12.0, false), (13.5, true), (20.0, true)];
        assert_eq!(changes, expected);
    }

    /// Every change is later than the change before it, even if a recording begins with a change at time 0.
    #[test]
    fn a_repetition_begins_with_one_change() {
        let (recipe, problems) = loaded("1, [0, 2]\n", Some(0), Some(Span::from_millis(5000)));
        assert_eq!(problems, []);
        let mut process = recipe.start(Key::root(1).stream());
        let changes: Vec<(f64, bool)> = (0..5)
            .map(|_| process.next_switch().unwrap())
            .map(|switch| (switch.at.seconds(), switch.online))
            .collect();
        assert_eq!(changes, [(0.0, false), (2.0, true), (5.0, false), (7.0, true), (10.0, false)]);
    }

    #[test]
    fn every_device_is_drawn_for_some_party() {
        let (recipe, _) = loaded("1, 1\n1, 2\n1, 3\n", None, None);
        let mut seen: Vec<u64> = (0..60)
            .map(|party| recipe.start(Key::root(5).index(party).stream()).next_switch().unwrap().at.nanos())
            .collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [1_000_000_000, 2_000_000_000, 3_000_000_000]);
    }

    #[test]
    fn levels_order_devices_by_the_share_of_time_connected() {
        // The three devices are connected for 3, 10 and 1 of 10 seconds.
        let text = "1, 3\n1\n0, 9\n";
        let (recipe, problems) = loaded(text, None, Some(Span::from_millis(10_000)));
        assert_eq!(problems, []);
        assert!(recipe.differs());
        let first = |level: f64| {
            let mut process = recipe.start_at(level, Key::root(1).stream());
            process.next_switch().map(|switch| switch.at.seconds())
        };
        assert_eq!([0.1, 0.5, 0.9].map(first), [Some(9.0), Some(3.0), None]);
        assert!(
            !loaded("1, 3\n0, 3, 6\n", None, Some(Span::from_millis(6000))).0.differs(),
            "3 of 6 seconds each"
        );
        assert!(!loaded(text, Some(1), None).0.differs());
    }

    #[test]
    fn errors_in_a_recording_name_the_line() {
        let told = |text: &str| format!("{:?}", loaded(text, None, None).1);
        assert!(told("1, 5, 4\n").contains("trace.csv:1, which is not later than the time before"));
        assert!(told("1, 5\n\n2, 7\n").contains("trace.csv:3"));
        assert!(told("1, -5\n").contains("0 or above"));
        assert!(told("# nothing\n").contains("at least one device"));
        let (_, problems) = loaded("1\n", Some(1), None);
        assert_eq!(problems[0].path, "device");
        let (_, problems) = loaded("1, 10\n", None, Some(Span::from_millis(10_000)));
        assert_eq!(problems[0].path, "repeat");
    }
}
