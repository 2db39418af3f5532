//! Users who arrive without being asked, at independent intervals of any distribution.

use super::{ArrivalProcess, Arrivals, above_zero};
use crate::network::latency::LatencyModel;
use crate::protocols::local::times::time_problems;
use crate::rng::Stream;
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Users arrive without being asked, as with `Poisson`, but the intervals may have any distribution: regular, in
/// bursts, or with long pauses.
///
/// Example: `Renewal(interval: Constant("2s"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Renewal {
    /// Interval between two users, drawn anew for each user. It may be any latency model that reads no file and does not
    /// depend on the time or the link. `Exponential` gives the same arrivals as `Poisson`.
    pub interval: LatencyModel,
}

impl Arrivals for Renewal {
    fn process(&self) -> Box<dyn ArrivalProcess> {
        Box::new(self.clone())
    }

    fn problems(&self) -> Vec<Problem> {
        let found = time_problems(&self.interval);
        if !found.is_empty() {
            return found.into_iter().map(|problem| problem.below("interval")).collect();
        }
        let mean = Span::from_seconds(self.interval.as_dyn().mean_seconds());
        let cure = "write a distribution with a mean above 0: otherwise all users arrive at once";
        above_zero("interval", mean, cure).into_iter().collect()
    }
}

impl ArrivalProcess for Renewal {
    /// Uses one random word. Small random numbers give long intervals, as in `Poisson`.
    fn next(&mut self, stream: &mut Stream) -> Option<Span> {
        Some(self.interval.as_dyn().quantile(1.0 - stream.open_uniform()))
    }
}
