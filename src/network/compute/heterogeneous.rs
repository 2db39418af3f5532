//! Parties whose devices differ in speed.

use super::{Compute, load_time, scaled, time_problems};
use crate::network::latency::LatencyModel;
use crate::special::normal_quantile;
use crate::vocab::{DataFolders, NonNegative, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// The job times of each party are multiplied by the party's own factor exp(sigma Z), where Z is standard normal and drawn
/// once per replication.
///
/// Example: `Heterogeneous(time: Exponential(mean: "300ms"), sigma: 0.5)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Heterogeneous {
    /// How long a job takes on a median device; any latency model that does not depend on the time or the link.
    pub time: LatencyModel,
    /// Standard deviation of the factor's natural logarithm, dimensionless; with 0.5, one party in ten takes at least 1.9
    /// times as long as a median device.
    pub sigma: NonNegative,
}

impl Compute for Heterogeneous {
    fn slowness(&self, u: f64) -> f64 {
        libm::exp(self.sigma.get() * normal_quantile(u))
    }

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
