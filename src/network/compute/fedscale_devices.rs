//! Parties that compute as fast as FedScale's devices.

use super::Compute;
use crate::network::availability::RecordedDevice;
use crate::network::data_file::{self, Loaded};
use crate::network::fedscale_capacity::CapacityTable;
use crate::vocab::{DataFolders, Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Each party is a device of FedScale's capacity table. A job trains on `samples` samples. Training on one sample takes
/// `passes` times as long as one inference on the device.
///
/// The file has the contents of FedScale's `client_device_capacity`, as JSON (an object with one entry per client, each with
/// `computation` in milliseconds per inference and `communication` in kbit/s) or as CSV (columns of these names). FedScale's
/// original file is a pickle, which can run programs when it is read. A pickle is refused, with a message that says how to
/// convert it.
/// Source: Lai et al. 2022, "FedScale: Benchmarking model and system performance of federated learning at scale", section 3
/// (<https://github.com/SymbioticLab/FedScale>).
///
/// Example: `FedScaleDevices(file: "fedscale-capacity.csv", samples: 20)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FedScaleDevices {
    /// The file; relative to the scenario's folder or to the folder of `--data`.
    pub file: PathBuf,
    /// Number of samples on which a job trains, above 0.
    pub samples: Positive,
    /// Time of training on one sample, as a multiple of the time of one inference. Default: 3, as in FedScale.
    #[serde(default = "three")]
    pub passes: Positive,
    /// Which device a party is: `Drawn` (once per replication), `InTurn` or `Number(0)`. Default: Drawn.
    #[serde(default)]
    pub device: RecordedDevice,
    #[serde(skip)]
    table: Loaded<CapacityTable>,
}

fn three() -> Positive {
    Positive::new(3.0).expect("3 is above 0")
}

impl Compute for FedScaleDevices {
    /// The milliseconds per inference of the party's device; 1 if the file has not been read. A drawn device is the quantile
    /// at `u` of all devices in descending order of speed. If devices are taken in turn, the device is that of party 0.
    fn slowness(&self, u: f64) -> f64 {
        self.slowness_numbered(0, u)
    }

    fn slowness_numbered(&self, number: u64, u: f64) -> f64 {
        self.table.as_ref().map_or(1.0, |table| table.device(self.device, number, u).0)
    }

    /// Whether devices are drawn and differ in speed; also true for drawn devices if the file has not been read.
    fn differs(&self) -> bool {
        self.device == RecordedDevice::Drawn && self.table.as_ref().is_none_or(|table| table.differ())
    }

    fn job(&self, slowness: f64, _: f64, _: f64) -> Span {
        Span::from_seconds(slowness / 1000.0 * self.samples.get() * self.passes.get())
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
