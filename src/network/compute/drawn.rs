//! A party whose jobs take random times.

use super::{Compute, load_time, scaled, time_problems};
use crate::network::latency::LatencyModel;
use crate::vocab::{DataFolders, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Each job's time is drawn from a distribution.
///
/// Example: `Drawn(time: LogNormal(median: "300ms", sigma: 0.4))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drawn {
    /// How long a job takes; any latency model that does not depend on the time or the link.
    pub time: LatencyModel,
}

impl Compute for Drawn {
    fn job(&self, slowness: f64, length: f64, _: f64) -> Span {
        scaled(&self.time, length, slowness)
    }

    fn problems(&self) -> Vec<Problem> {
        time_problems(&self.time)
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        load_time(&mut self.time, base)
    }

    fn files(&self) -> Vec<PathBuf> {
        self.time.as_dyn().files()
    }
}
