//! A party that is available when a client of FedScale's availability traces was.

use super::recording::{Following, RecordedDevice, Recording, RecordingEnd, RecordingOffset, Recordings};
use super::{Availability, AvailabilityProcess};
use crate::network::data_file::{self, Loaded};
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::path::PathBuf;

/// The party is available in the recorded intervals of a client.
///
/// The file has the contents of FedScale's `client_behave_trace` as JSON: an object with one entry per client. A client's
/// `active` and `inactive` are the times in seconds at which its intervals begin and end, and its `finish_time` is the
/// length of its recording. If an interval begins at the time at which the interval before it ends, the client stays
/// available at this time. FedScale's original file is a Python pickle. A pickle can run programs when it is read, so a
/// pickle is refused, with a message that says how to convert it.
/// Source: Lai et al. 2022, "FedScale: Benchmarking model and system performance of federated learning at scale", section 3
/// (<https://github.com/SymbioticLab/FedScale>).
///
/// Example: `FedScaleTrace(file: "fedscale-availability.json", device: InTurn)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FedScaleTrace {
    /// The file; relative to the scenario's folder or to the folder of `--data`.
    pub file: PathBuf,
    /// Which client of the file a party follows: `Drawn`, `InTurn` or `Number(0)`. Default: Drawn.
    #[serde(default)]
    pub device: RecordedDevice,
    /// How much of the recording has passed when the run begins: `At("26h")`, or `Drawn`. Default: At("0s").
    #[serde(default)]
    pub offset: RecordingOffset,
    /// What follows `finish_time`: `Repeat` or `Offline`. Default: Repeat.
    #[serde(default)]
    pub end: RecordingEnd,
    #[serde(skip)]
    recordings: Loaded<Recordings>,
}

impl FedScaleTrace {
    /// A recipe whose file has not been read.
    #[must_use]
    pub fn new(file: PathBuf, device: RecordedDevice) -> Self {
        let (offset, end) = (RecordingOffset::default(), RecordingEnd::default());
        Self { file, device, offset, end, recordings: None }
    }

    fn following(&self) -> Following {
        Following { device: self.device, offset: self.offset, end: self.end }
    }
}

impl Availability for FedScaleTrace {
    /// If the file has not been read, the party is always online.
    fn start(&self, stream: Stream) -> Box<dyn AvailabilityProcess> {
        self.start_numbered(0, stream)
    }

    fn start_numbered(&self, number: u64, stream: Stream) -> Box<dyn AvailabilityProcess> {
        self.following().start(&self.recordings, number, stream)
    }

    /// Whether each party draws a client, and the clients of the file are available for different shares of the time. Also
    /// true if clients are drawn and the file has not been read.
    fn differs(&self) -> bool {
        self.device == RecordedDevice::Drawn && self.recordings.as_ref().is_none_or(|known| known.differ())
    }

    /// The availability of the client at the quantile `level`, in (0, 1), of all clients; the clients are in ascending order
    /// of the share of time for which they are available.
    fn start_at(&self, level: f64, stream: Stream) -> Box<dyn AvailabilityProcess> {
        self.following().start_at(&self.recordings, level, stream)
    }

    /// Whether a party that follows this recipe can be available at some time; also true if the file has not been read.
    fn ever_available(&self) -> bool {
        self.recordings.as_ref().is_none_or(|known| known.ever_available(self.following()))
    }

    fn problems(&self) -> Vec<Problem> {
        self.recordings.iter().filter_map(|recordings| self.device.missing_among(recordings.len())).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let name = self.file.display().to_string();
        let read = data_file::read(base, &self.file, "availability traces in JSON")
            .and_then(|text| clients(&name, &text));
        data_file::keep(read.map(Recordings::new), &mut self.recordings)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}

/// The recordings of all clients of a file, in the order of the file. `file` is the file's name, for error messages.
fn clients(file: &str, text: &str) -> Result<Vec<Recording>, Problem> {
    let wrong = |expected: String, found: String, cure: &str| Problem::wrong("file", expected, found, cure);
    let read: Result<Map<String, Value>, _> = serde_json::from_str(text);
    let clients = read.map_err(|error| {
        let expected =
            "a JSON object of clients, each with `active`, `inactive` and `finish_time`".to_owned();
        wrong(expected, format!("{file}:{}: {error}", error.line()), "correct the file")
    })?;
    let mut found = Vec::new();
    for (name, client) in &clients {
        let place = format!("client \"{name}\" of {file}");
        let correct = "correct the client, or leave it out";
        let time = |field: &str, value: &Value| {
            let seconds = value.as_f64().filter(|seconds| seconds.is_finite() && *seconds >= 0.0);
            seconds.map(Span::from_seconds).ok_or_else(|| {
                let expected = format!("times in seconds, 0 or above, in `{field}`");
                wrong(expected, format!("{value} in {place}"), correct)
            })
        };
        let times = |field: &str| {
            let Some(list) = client.get(field).and_then(Value::as_array) else {
                let found = format!("none in {place}");
                return Err(wrong(format!("a list `{field}` of times"), found, correct));
            };
            list.iter().map(|value| time(field, value)).collect::<Result<Vec<Span>, Problem>>()
        };
        let (active, inactive) = (times("active")?, times("inactive")?);
        let length = time("finish_time", client.get("finish_time").unwrap_or(&Value::Null))?;
        if length == Span::ZERO {
            let expected = "a `finish_time` above 0".to_owned();
            return Err(wrong(expected, format!("0 in {place}"), correct));
        }
        if active.len() != inactive.len() {
            let expected = "one time in `inactive` for each in `active`".to_owned();
            let found = format!("{} for {} in {place}", inactive.len(), active.len());
            return Err(wrong(expected, found, correct));
        }
        let mut last = Span::ZERO;
        for (index, (from, until)) in active.iter().zip(&inactive).enumerate() {
            if *from < last || until < from {
                let expected = format!(
                    "intervals in order of time; interval {index} (numbered from 0) must begin at {last} or later, and not end before it begins"
                );
                return Err(wrong(expected, format!("from {from} to {until} in {place}"), correct));
            }
            last = *until;
        }
        let intervals = active.into_iter().zip(inactive).collect();
        found.push(Recording::of_intervals(Span::ZERO, length, intervals));
    }
    if found.is_empty() {
        let cure = "name the file of availability traces";
        return Err(wrong("at least one client".to_owned(), format!("none in {file}"), cure));
    }
    Ok(found)
}
