//! The rate of a line, read from FedScale's table of device capacities.

use super::{LineOwner, RateCurve, Throughput};
use crate::network::availability::RecordedDevice;
use crate::network::data_file::{self, Loaded};
use crate::network::fedscale_capacity::CapacityTable;
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The rate that FedScale's capacity table states for a device as its `communication`. An access line has the rate of its
/// party's device, and a link has the rate of its sender's device. The compute model `FedScaleDevices` gives a party the
/// same device, if both models state the same `file` and `device`.
///
/// The file is FedScale's `client_device_capacity` as JSON or CSV, in the format that `FedScaleDevices` describes.
///
/// Example: `FedScaleRates(file: "fedscale-capacity.csv", device: InTurn)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FedScaleRates {
    /// The file; relative to the scenario's folder or to the folder of `--data`.
    pub file: PathBuf,
    /// Which device the party has (for a link, its sender): `Drawn`, `InTurn` or `Number(0)`. Default: Drawn.
    #[serde(default)]
    pub device: RecordedDevice,
    /// Unit of the numbers in `communication`. Default: 1.024kbit/s, FedScale's kilobit of 1,024 bits.
    #[serde(default = "kilobit")]
    pub unit: Rate,
    #[serde(skip)]
    table: Loaded<CapacityTable>,
}

fn kilobit() -> Rate {
    Rate::from_bits_per_second(1024.0).expect("1024 is above 0")
}

impl Throughput for FedScaleRates {
    /// If the file has not been read, the rate is `unit`.
    fn curve(&self, owner: LineOwner, _: Stream) -> RateCurve {
        let table = self.table.as_ref();
        let rate = table.map_or(1.0, |table| table.device(self.device, owner.number, owner.slowness).1);
        let rate = Rate::from_bits_per_second(rate * self.unit.bits_per_second()).unwrap_or(self.unit);
        RateCurve::constant(rate)
    }

    fn problems(&self) -> Vec<Problem> {
        self.table.iter().filter_map(|table| table.no_such_device(self.device)).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        data_file::keep(CapacityTable::read(base, &self.file), &mut self.table)
    }

    fn files(&self) -> Vec<PathBuf> {
        vec![self.file.clone()]
    }
}
