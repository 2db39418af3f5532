//! A party with occasional slow jobs (stragglers).

use super::{Compute, load_time, scaled, time_problems};
use crate::network::latency::LatencyModel;
use crate::vocab::{DataFolders, Positive, Probability, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Each job is slow (a straggler) with the same probability, independently of the other jobs. A slow job takes `factor`
/// times as long as it would otherwise.
///
/// Example: `Straggling(time: Constant("300ms"), probability: 0.05, factor: 10)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Straggling {
    /// How long a job that is not a straggler takes; any latency model that does not depend on the time or the link.
    pub time: LatencyModel,
    /// Probability that a job is a straggler.
    pub probability: Probability,
    /// Factor by which a job takes longer if it is a straggler. Default: 10.
    #[serde(default = "ten")]
    pub factor: Positive,
}

fn ten() -> Positive {
    Positive::new(10.0).expect("10 is above 0")
}

impl Compute for Straggling {
    fn job(&self, slowness: f64, length: f64, slowdown_draw: f64) -> Span {
        let factor = if slowdown_draw < self.probability.get() { self.factor.get() } else { 1.0 };
        scaled(&self.time, length, slowness * factor)
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
