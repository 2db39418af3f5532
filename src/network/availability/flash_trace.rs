//! A party that is available when a device of FLASH's state traces was.

use super::flash_records::{Condition, FlashState, recordings};
use super::recording::{Following, RecordedDevice, RecordingEnd, RecordingOffset, Recordings};
use super::{Availability, AvailabilityProcess};
use crate::network::data_file::{self, Loaded};
use crate::rng::Stream;
use crate::vocab::{DataFolders, NonNegative, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The party is available while a recorded phone was in all states of `needs` and its battery was at the level `battery` or
/// above. By default, these are the times at which the phone was charging, connected by WLAN and locked.
///
/// The file has the format of FLASH's `state_traces.json`: a JSON object with one entry per device. The `messages` of an
/// entry are records, one per line: a time (`2020-01-29 01:57:36`), a tab and a state. A state lasts until the next record
/// that changes it. A device's recording lasts from the device's first record to its last record. With the default `offset`,
/// the run begins at the earliest record of the file, so that devices agree about the time of day. A device that never has
/// all needed states at once is never available; FLASH leaves such devices out.
/// Source: Yang et al. 2021, "Characterizing impacts of heterogeneity in federated learning upon large-scale smartphone
/// data", section 3 (<https://github.com/PKU-Chengxu/FLASH>).
///
/// Example: `FlashTrace(file: "flash.json", device: InTurn)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlashTrace {
    /// The file; relative to the scenario's folder or to the folder of `--data`.
    pub file: PathBuf,
    /// The states that an available device must have, all at once. Default: [Charging, Wifi, Locked], the condition of
    /// FLASH.
    #[serde(default = "usual")]
    pub needs: Vec<FlashState>,
    /// Least level of the battery, in percent, from 0 to 100. Default: 0.
    #[serde(default = "zero")]
    pub battery: NonNegative,
    /// Which device a party follows: `Drawn`, `InTurn` or `Number(0)`. Default: Drawn.
    #[serde(default)]
    pub device: RecordedDevice,
    /// When the run begins. With `At("26h")`, it begins 26 h after the earliest record of the file. With `Drawn`, it begins
    /// at a time that is drawn, for each party, over the recording of the party's device.
    /// Default: At("0s").
    #[serde(default)]
    pub offset: RecordingOffset,
    /// What follows the last record: `Repeat` or `Offline`. Default: Repeat.
    #[serde(default)]
    pub end: RecordingEnd,
    #[serde(skip)]
    recordings: Loaded<Recordings>,
}

fn usual() -> Vec<FlashState> {
    vec![FlashState::Charging, FlashState::Wifi, FlashState::Locked]
}

fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not negative")
}

impl FlashTrace {
    /// A recipe with the default condition. The file of the recipe has not been read.
    #[must_use]
    pub fn new(file: PathBuf, device: RecordedDevice) -> Self {
        Self {
            file,
            needs: usual(),
            battery: zero(),
            device,
            offset: RecordingOffset::default(),
            end: RecordingEnd::default(),
            recordings: None,
        }
    }

    fn following(&self) -> Following {
        Following { device: self.device, offset: self.offset, end: self.end }
    }
}

impl Availability for FlashTrace {
    /// If the file has not been read, the party is always online.
    fn start(&self, stream: Stream) -> Box<dyn AvailabilityProcess> {
        self.start_numbered(0, stream)
    }

    fn start_numbered(&self, number: u64, stream: Stream) -> Box<dyn AvailabilityProcess> {
        self.following().start(&self.recordings, number, stream)
    }

    /// Whether each party draws a device, and the devices of the file are available for different shares of the time. Also
    /// true if devices are drawn and the file has not been read.
    fn differs(&self) -> bool {
        self.device == RecordedDevice::Drawn && self.recordings.as_ref().is_none_or(|known| known.differ())
    }

    /// The availability of the device at the quantile `level`, in (0, 1), of all devices; the devices are in ascending order
    /// of the share of time for which they are available.
    fn start_at(&self, level: f64, stream: Stream) -> Box<dyn AvailabilityProcess> {
        self.following().start_at(&self.recordings, level, stream)
    }

    /// Whether a party that follows this recipe can be available at some time; also true if the file has not been read.
    fn ever_available(&self) -> bool {
        self.recordings.as_ref().is_none_or(|known| known.ever_available(self.following()))
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.battery.get() > 100.0 {
            let cure = "write a level from 0 to 100";
            problems.push(Problem::wrong("battery", "at most 100 percent", self.battery.to_string(), cure));
        }
        problems.extend(
            self.recordings.iter().filter_map(|recordings| self.device.missing_among(recordings.len())),
        );
        problems
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let condition = Condition { states: &self.needs, battery: self.battery.get() };
        let name = self.file.display().to_string();
        let read = data_file::read(base, &self.file, "state traces in JSON")
            .and_then(|text| recordings(&name, &text, &condition));
        data_file::keep(read.map(Recordings::new), &mut self.recordings)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
