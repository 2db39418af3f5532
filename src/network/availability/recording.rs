//! Recordings of when devices were available, and the availability of parties that follow them.

use super::{Always, AvailabilityProcess};
use crate::kernel::Switch;
use crate::network::data_file::Loaded;
use crate::rng::Stream;
use crate::vocab::{Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Which device of a file a party follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RecordedDevice {
    /// A device that is drawn for each party, once per replication; every device has the same probability.
    #[default]
    Drawn,
    /// Party k of an entry with a `count` follows device k, both counted from 0; after the last device comes the first
    /// again.
    InTurn,
    /// The device with this number, from 0, in the order of the file.
    ///
    /// Example: `Number(0)`.
    Number(u64),
}

/// The time of a recording at which the run begins. A party follows the recording of a device; with `ThroughputTrace`, a
/// line follows the recording of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RecordingOffset {
    /// For every party or line, the run begins this long after the beginning of the earliest recording of the file.
    ///
    /// Example: `At("26h")`.
    At(Span),
    /// A time that is drawn for each party or line, once per replication, uniformly over the recording that the party or
    /// line follows. The devices then no longer agree about the time of day.
    Drawn,
}

impl Default for RecordingOffset {
    fn default() -> Self {
        Self::At(Span::ZERO)
    }
}

/// What a device does before its recording begins and after it ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum RecordingEnd {
    /// The recording is repeated without end, also backwards in time: before the recording begins, the device follows an
    /// earlier repetition of the recording.
    #[default]
    Repeat,
    /// The device is disconnected before the recording begins and after it ends.
    Offline,
}

/// When one device was available.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recording {
    /// When the recording begins, counted from the beginning of the earliest recording of the file.
    pub(super) begins: Span,
    /// The length of the recording, above 0.
    pub(super) length: Span,
    /// Whether the device is available at the beginning of the recording.
    pub(super) online: bool,
    /// Times at which the availability changes, counted from the beginning of the recording: ascending, above 0 and below
    /// `length`.
    pub(super) switches: Vec<Span>,
}

impl Recording {
    /// A recording from the intervals in which the device is available. Their times are counted from the beginning of the
    /// recording. Intervals may touch or overlap; parts beyond `length` are dropped.
    pub(super) fn of_intervals(begins: Span, length: Span, mut intervals: Vec<(Span, Span)>) -> Self {
        intervals.sort_unstable();
        let mut merged: Vec<(Span, Span)> = Vec::new();
        for (from, until) in intervals {
            let until = until.min(length);
            if from >= until {
                continue;
            }
            match merged.last_mut() {
                Some(last) if from <= last.1 => last.1 = last.1.max(until),
                _ => merged.push((from, until)),
            }
        }
        let online = merged.first().is_some_and(|first| first.0 == Span::ZERO);
        let switches = merged.into_iter().flat_map(|(from, until)| [from, until]);
        let switches: Vec<Span> = switches.filter(|at| *at > Span::ZERO && *at < length).collect();
        Self { begins, length, online, switches }
    }

    /// The share of the recording for which the device is available.
    pub(super) fn share(&self) -> f64 {
        let (mut online, mut since, mut available) = (self.online, 0, 0u64);
        for at in self.switches.iter().copied().chain([self.length]) {
            available += if online { at.nanos() - since } else { 0 };
            (online, since) = (!online, at.nanos());
        }
        available as f64 / self.length.nanos() as f64
    }
}

/// The recordings of the devices of a file, in the file's order, and the devices' numbers in ascending order of the share of
/// time for which they are available.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Recordings {
    devices: Vec<Recording>,
    by_share: Vec<u32>,
}

/// How a party follows one of the recordings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Following {
    pub(super) device: RecordedDevice,
    pub(super) offset: RecordingOffset,
    pub(super) end: RecordingEnd,
}

impl Following {
    /// The availability of the party with this `number` in its entry of the scenario. If the file has not been read, the
    /// party is always online.
    pub(super) fn start(
        self,
        recordings: &Loaded<Recordings>,
        number: u64,
        mut stream: Stream,
    ) -> Box<dyn AvailabilityProcess> {
        let Some(recordings) = recordings else { return Box::new(Always {}) };
        let device = recordings.device(self.device, number, stream.uniform());
        Box::new(Playback::new(Arc::clone(recordings), device, self, stream))
    }

    /// The availability of the device at the quantile `level`, in (0, 1), of all devices; the devices are in ascending order
    /// of the share of time for which they are available. If the file has not been read, the party is always online.
    pub(super) fn start_at(
        self,
        recordings: &Loaded<Recordings>,
        level: f64,
        mut stream: Stream,
    ) -> Box<dyn AvailabilityProcess> {
        stream.uniform();
        let Some(recordings) = recordings else { return Box::new(Always {}) };
        let device = recordings.by_level(level);
        Box::new(Playback::new(Arc::clone(recordings), device, self, stream))
    }
}

impl Recordings {
    /// The recordings of these devices; there is at least one.
    pub(super) fn new(devices: Vec<Recording>) -> Self {
        let shares: Vec<f64> = devices.iter().map(Recording::share).collect();
        let mut by_share: Vec<u32> = (0u32..).take(devices.len()).collect();
        by_share.sort_by(|&a, &b| shares[a as usize].total_cmp(&shares[b as usize]));
        Self { devices, by_share }
    }

    pub(super) fn len(&self) -> usize {
        self.devices.len()
    }

    /// Whether the devices are available for different shares of the time.
    pub(super) fn differ(&self) -> bool {
        let share = |place: Option<&u32>| place.map(|&device| self.devices[device as usize].share());
        share(self.by_share.first()) < share(self.by_share.last())
    }

    /// Whether a party that follows the recordings as `following` states can be available at some time.
    pub(super) fn ever_available(&self, following: Following) -> bool {
        let some = |recording: &Recording| recording.online || !recording.switches.is_empty();
        let in_time = |recording: &Recording| match (following.end, following.offset) {
            (RecordingEnd::Repeat, _) | (_, RecordingOffset::Drawn) => true,
            (RecordingEnd::Offline, RecordingOffset::At(offset)) => {
                let last = recording.switches.last().copied().unwrap_or(Span::ZERO);
                let online = recording.online == recording.switches.len().is_multiple_of(2);
                offset < recording.begins + if online { recording.length } else { last }
            }
        };
        let fits = |recording: &Recording| some(recording) && in_time(recording);
        match following.device {
            RecordedDevice::Number(number) => {
                usize::try_from(number).ok().and_then(|n| self.devices.get(n)).is_none_or(fits)
            }
            RecordedDevice::Drawn | RecordedDevice::InTurn => self.devices.iter().any(fits),
        }
    }

    /// The number of the device for the party with this `number` in its entry of the scenario. If the choice is `Drawn`,
    /// `drawn`, uniform in [0, 1), selects the device.
    pub(super) fn device(&self, choice: RecordedDevice, number: u64, drawn: f64) -> usize {
        let all = self.devices.len();
        let place = match choice {
            RecordedDevice::Drawn => (drawn * all as f64) as usize,
            RecordedDevice::InTurn => usize::try_from(number % all as u64).unwrap_or(0),
            RecordedDevice::Number(number) => usize::try_from(number).unwrap_or(usize::MAX),
        };
        place.min(all - 1)
    }

    /// The number of the device at the quantile `level`, in (0, 1), of all devices; the devices are in ascending order of
    /// the share of time for which they are available.
    pub(super) fn by_level(&self, level: f64) -> usize {
        let place = (level * self.by_share.len() as f64) as usize;
        self.by_share[place.min(self.by_share.len() - 1)] as usize
    }
}

impl RecordedDevice {
    /// A problem if a stated device number is not below `devices`, the number of devices in the file.
    pub(in crate::network) fn missing_among(self, devices: usize) -> Option<Problem> {
        let Self::Number(number) = self else { return None };
        let known = usize::try_from(number).is_ok_and(|number| number < devices);
        (!known).then(|| {
            let (expected, cure) =
                (format!("a device number below {devices}"), "devices are numbered from 0");
            Problem::wrong("device", expected, format!("Number({number})"), cure)
        })
    }
}

/// The availability of a party that follows a device. The recordings are shared with the other parties.
#[derive(Clone, Debug)]
pub(super) struct Playback {
    recordings: Arc<Recordings>,
    device: usize,
    repeats: bool,
    /// The first repetition begins `delay` after time zero, or `offset` before time zero. At least one of `delay` and
    /// `offset` is zero.
    delay: Span,
    offset: Span,
    /// The number of the present repetition, from 0. `next` is the index, among the recording's switches, of the next change
    /// in this repetition.
    turn: u64,
    next: usize,
    online: bool,
    ended: bool,
}

impl Playback {
    /// The availability, beginning at time zero, of a party that follows `device`. A drawn offset takes one number of
    /// `stream`.
    pub(super) fn new(
        recordings: Arc<Recordings>,
        device: usize,
        following: Following,
        mut stream: Stream,
    ) -> Self {
        let recording = &recordings.devices[device];
        let length = recording.length.nanos();
        let repeats = following.end == RecordingEnd::Repeat;
        let (delay, offset) = match following.offset {
            RecordingOffset::Drawn => (0, ((stream.uniform() * length as f64) as u64).min(length - 1)),
            RecordingOffset::At(offset) => {
                let (at, begins) = (offset.nanos(), recording.begins.nanos());
                match (at >= begins, repeats) {
                    (true, true) => (0, (at - begins) % length),
                    (true, false) => (0, at - begins),
                    // The run begins before the recording does, so the party first follows an earlier repetition.
                    (false, true) => (0, (length - (begins - at) % length) % length),
                    (false, false) => (begins - at, 0),
                }
            }
        };
        let passed = Span::from_nanos(offset);
        let next = recording.switches.partition_point(|at| *at <= passed);
        let over = !repeats && offset >= length;
        let before = delay > 0;
        let online = !over && !before && (recording.online == next.is_multiple_of(2));
        Self {
            device,
            repeats,
            delay: Span::from_nanos(delay),
            offset: passed,
            turn: 0,
            next,
            online,
            ended: over,
            recordings,
        }
    }

    /// When the present repetition reaches the time `place` after its beginning.
    fn at(&self, place: Span) -> Time {
        let length = self.recordings.devices[self.device].length.nanos();
        let nanos = self.turn.saturating_mul(length).saturating_add(place.nanos());
        Time::ZERO + self.delay + Span::from_nanos(nanos.saturating_sub(self.offset.nanos()))
    }
}

impl AvailabilityProcess for Playback {
    fn starts_online(&mut self) -> bool {
        // With `RecordingEnd::Offline`, a party whose recording begins after time zero is offline until the recording
        // begins. If the device is available at the beginning of the recording, the first change takes place at that time.
        self.online
    }

    fn next_switch(&mut self) -> Option<Switch> {
        let recordings = Arc::clone(&self.recordings);
        let recording = &recordings.devices[self.device];
        if self.ended {
            return None;
        }
        if self.delay > Span::ZERO && self.turn == 0 && self.next == 0 && !self.online && recording.online {
            self.online = true;
            return Some(Switch::connection(self.at(Span::ZERO), true));
        }
        if let Some(&place) = recording.switches.get(self.next) {
            self.next += 1;
            self.online = !self.online;
            return Some(Switch::connection(self.at(place), self.online));
        }
        if !self.repeats {
            self.ended = true;
            let at = self.at(recording.length);
            return std::mem::take(&mut self.online).then_some(Switch::connection(at, false));
        }
        if recording.switches.is_empty() {
            return None;
        }
        self.turn += 1;
        self.next = 0;
        if self.online == recording.online {
            return self.next_switch();
        }
        self.online = recording.online;
        let at = self.at(Span::ZERO);
        (at < Time::NEVER).then_some(Switch::connection(at, self.online))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn s(seconds: u64) -> Span {
        Span::from_millis(1000 * seconds)
    }

    fn following(offset: u64, end: RecordingEnd) -> Following {
        Following { device: RecordedDevice::Drawn, offset: RecordingOffset::At(s(offset)), end }
    }

    /// A recording of 10 s that begins 100 s after the earliest recording of its file. The device is available from 2 s to
    /// 5 s and from 8 s to the end.
    fn recorded() -> Arc<Recordings> {
        let intervals = vec![(s(8), s(12)), (s(2), s(4)), (s(3), s(5)), (s(6), s(6))];
        let recording = Recording::of_intervals(s(100), s(10), intervals);
        assert!((recording.share() - 0.5).abs() < 1e-12);
        Arc::new(Recordings::new(vec![recording]))
    }

    fn changes(offset: u64, end: RecordingEnd, count: usize) -> (bool, Vec<(u64, bool)>) {
        let mut process = Playback::new(recorded(), 0, following(offset, end), Key::root(1).stream());
        let start = process.starts_online();
        let found = std::iter::from_fn(|| process.next_switch()).take(count);
        (start, found.map(|switch| (switch.at.nanos() / 1_000_000_000, switch.online)).collect())
    }

    #[test]
    fn a_recording_is_repeated_from_any_offset() {
        let turn = [(2, true), (5, false), (8, true), (10, false), (12, true)];
        assert_eq!(changes(100, RecordingEnd::Repeat, 5), (false, turn.to_vec()));
        // At 93 s, seven seconds before the recording begins, the device is 3 s into the repetition before the recording.
        assert_eq!(changes(93, RecordingEnd::Repeat, 3), (true, vec![(2, false), (5, true), (7, false)]));
        assert_eq!(changes(109, RecordingEnd::Repeat, 2), (true, vec![(1, false), (3, true)]));
    }

    #[test]
    fn a_recording_that_ends_is_offline_before_and_after() {
        let end = RecordingEnd::Offline;
        let all = vec![(12, true), (15, false), (18, true), (20, false)];
        assert_eq!(changes(90, end, 9), (false, all));
        assert_eq!(changes(104, end, 9), (true, vec![(1, false), (4, true), (6, false)]));
        assert_eq!(changes(110, end, 9), (false, vec![]));
        assert!(recorded().ever_available(following(109, end)));
        assert!(!recorded().ever_available(following(110, end)));
    }

    /// Over whole repetitions, the share of time for which the device is available is the same for every drawn offset.
    #[test]
    fn a_drawn_offset_keeps_the_share() {
        for party in 0..20 {
            let drawn = Following { offset: RecordingOffset::Drawn, ..following(0, RecordingEnd::Repeat) };
            let mut process = Playback::new(recorded(), 0, drawn, Key::root(party).stream());
            let (mut online, mut last, mut available) = (process.starts_online(), 0, 0);
            while last < 1_000_000_000_000 {
                let switch = process.next_switch().unwrap();
                let at = switch.at.nanos().min(1_000_000_000_000);
                available += if online { at - last } else { 0 };
                (online, last) = (switch.online, at);
            }
            assert_eq!(available, 500_000_000_000, "{party}");
        }
    }
}
