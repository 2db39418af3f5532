//! Parties with the speeds of measured devices.

use super::{Compute, load_time, scaled, time_problems};
use crate::network::data_file::{self, Loaded};
use crate::network::latency::LatencyModel;
use crate::vocab::{DataFolders, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::sync::Arc;

/// Each party is a device of a CSV file. The device is drawn once per replication, every row with the same probability. A
/// job takes `time` divided by the device's speed.
///
/// Example: `Devices(time: Constant("300ms"), file: "devices.csv", column: "speed")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Devices {
    /// How long a job takes on a device of speed 1; any latency model that does not depend on the time or the link.
    pub time: LatencyModel,
    /// A CSV file with a header line; relative to the scenario's folder or to the folder of `--data`. Lines that begin
    /// with # are comments.
    pub file: PathBuf,
    /// Name of the column of speeds, each above 0. Default: speed.
    #[serde(default = "speed")]
    pub column: String,
    #[serde(skip)]
    sorted: Loaded<Vec<f64>>,
}

fn speed() -> String {
    "speed".to_owned()
}

impl Compute for Devices {
    /// 1 divided by the speed of the party's device; 1 if the file has not been read. The party's device is the quantile at
    /// `u` of all devices in descending order of speed.
    fn slowness(&self, u: f64) -> f64 {
        let Some(sorted) = &self.sorted else { return 1.0 };
        let place = ((1.0 - u) * sorted.len() as f64) as usize;
        1.0 / sorted[place.min(sorted.len() - 1)]
    }

    /// Whether the file has devices of different speeds. Also true if the file has not been read; `load` reports a file that
    /// cannot be read.
    fn differs(&self) -> bool {
        self.sorted.as_ref().is_none_or(|sorted| sorted.first() < sorted.last())
    }

    fn job(&self, slowness: f64, length: f64, _: f64) -> Span {
        scaled(&self.time, length, slowness)
    }

    fn problems(&self) -> Vec<Problem> {
        time_problems(&self.time)
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let mut problems = load_time(&mut self.time, base);
        match data_file::column(base, &self.file, &self.column) {
            Ok(speeds) if speeds.contains(&0.0) => {
                let found = format!("0 in column \"{}\" of {}", self.column, self.file.display());
                let cure = "leave out devices that never finish";
                problems.push(Problem::wrong("file", "speeds above 0", found, cure));
            }
            Ok(mut speeds) => {
                speeds.sort_unstable_by(f64::total_cmp);
                self.sorted = Some(Arc::new(speeds));
            }
            Err(problem) => problems.push(problem),
        }
        problems
    }

    fn files(&self) -> Vec<PathBuf> {
        let mut files = self.time.as_dyn().files();
        files.push(self.file.clone());
        files
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::Constant;

    #[test]
    fn a_device_twice_as_fast_takes_half_the_time() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("devices.csv"), "device,speed\na,2\nb,0.5\n").unwrap();
        let mut recipe = Devices {
            time: LatencyModel::from(Constant(Span::from_millis(100))),
            file: "devices.csv".into(),
            column: speed(),
            sorted: None,
        };
        assert_eq!(recipe.load(&folder.path().into()), []);
        let job = |u| recipe.job(recipe.slowness(u), 0.5, 0.0);
        assert_eq!(job(0.25), Span::from_millis(50));
        assert_eq!(job(0.75), Span::from_millis(200));
        std::fs::write(folder.path().join("devices.csv"), "speed\n0\n").unwrap();
        assert_eq!(recipe.load(&folder.path().into()).len(), 1);
    }
}
