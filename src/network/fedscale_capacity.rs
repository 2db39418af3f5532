//! Reads the devices of FedScale's capacity table: how fast each computes and communicates.

use super::availability::RecordedDevice;
use super::data_file;
use crate::vocab::{DataFolders, Problem};
use serde_json::{Map, Value};
use std::path::Path;

/// The devices of a table, in the order of the table and in the order of their compute speeds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CapacityTable {
    /// For each device, the time of one inference in milliseconds, and the rate in the unit of the file's column
    /// `communication`; both above 0.
    devices: Vec<(f64, f64)>,
    /// Positions in `devices`, the fastest first.
    by_speed: Vec<u32>,
}

const SHAPE: &str = "FedScale's device capacities, in JSON or CSV,";

impl CapacityTable {
    /// Reads a table: a JSON object with one entry per client, each with `computation` and `communication`, or a CSV file
    /// with columns of these names.
    pub(super) fn read(base: &DataFolders, file: &Path) -> Result<Self, Problem> {
        let text = data_file::read(base, file, SHAPE)?;
        let devices = match text.trim_start().starts_with('{') {
            true => from_json(file, &text)?,
            false => {
                let column = |name: &str| data_file::numbers(file, &text, name);
                column("computation")?.into_iter().zip(column("communication")?).collect()
            }
        };
        let zero = |field: &str, index: usize| {
            let found = format!("0 in `{field}` of device {index} of {}", file.display());
            Problem::wrong("file", "numbers above 0", found, "leave the device out")
        };
        for (index, (computation, communication)) in devices.iter().enumerate() {
            for (field, number) in [("computation", computation), ("communication", communication)] {
                if *number <= 0.0 {
                    return Err(zero(field, index));
                }
            }
        }
        if devices.is_empty() {
            let found = format!("none in {}", file.display());
            return Err(Problem::wrong("file", "at least one device", found, "name the table of capacities"));
        }
        let mut by_speed: Vec<u32> = (0u32..).take(devices.len()).collect();
        by_speed.sort_by(|&a, &b| devices[a as usize].0.total_cmp(&devices[b as usize].0));
        Ok(Self { devices, by_speed })
    }

    /// The milliseconds per inference and the rate of a party's device. If the device is drawn, it is the quantile at
    /// `slowness`, in (0, 1), of all devices in descending order of compute speed. If devices are taken in turn, it is the
    /// device at position `number`, the party's number in its scenario entry (from 0), modulo the number of devices. If the
    /// scenario states the device's number, it is the device at that position, or the last one if there is no such position.
    pub(super) fn device(&self, choice: RecordedDevice, number: u64, slowness: f64) -> (f64, f64) {
        let all = self.devices.len();
        let place = match choice {
            RecordedDevice::Drawn => {
                let place = ((slowness * all as f64) as usize).min(all - 1);
                self.by_speed[place] as usize
            }
            RecordedDevice::InTurn => usize::try_from(number % all as u64).unwrap_or(0),
            RecordedDevice::Number(number) => usize::try_from(number).unwrap_or(usize::MAX).min(all - 1),
        };
        self.devices[place]
    }

    /// Whether devices differ in compute speed.
    pub(super) fn differ(&self) -> bool {
        let computation = |device: Option<&u32>| device.map(|&device| self.devices[device as usize].0);
        computation(self.by_speed.first()) < computation(self.by_speed.last())
    }

    /// The problem of a device number that the table does not have.
    pub(super) fn no_such_device(&self, choice: RecordedDevice) -> Option<Problem> {
        choice.missing_among(self.devices.len())
    }
}

fn from_json(file: &Path, text: &str) -> Result<Vec<(f64, f64)>, Problem> {
    let wrong = |expected: &str, found: String| Problem::wrong("file", expected, found, "correct the file");
    let read: Result<Map<String, Value>, _> = serde_json::from_str(text);
    let clients = read.map_err(|error| {
        let expected = "a JSON object of clients, each with `computation` and `communication`";
        wrong(expected, format!("{}:{}: {error}", file.display(), error.line()))
    })?;
    let device = |(name, client): (&String, &Value)| {
        let number = |field: &str| {
            let value = client.get(field).unwrap_or(&Value::Null);
            let number = value.as_f64().filter(|number| number.is_finite() && *number >= 0.0);
            number.ok_or_else(|| {
                let found = format!("{value} in client \"{name}\" of {}", file.display());
                wrong(&format!("a number above 0 as `{field}`"), found)
            })
        };
        Ok((number("computation")?, number("communication")?))
    };
    clients.iter().map(device).collect()
}
