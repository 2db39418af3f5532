//! A rate that changes at stated times.

use super::{LineOwner, RateCurve, Throughput};
use crate::network::schedule;
use crate::rng::Stream;
use crate::vocab::{Problem, Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A rate that changes at stated times, once or in every period: for example, a line that is slow in the evening. If the
/// rate changes while a message is being sent, the rest of the message is sent at the new rate.
///
/// Example: `RateSchedule(steps: [RateStep(at: "0s", is: "10Mbit/s"), RateStep(at: "18h", is: "4Mbit/s")], every: "24h")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateSchedule {
    /// The rates, in order of time; the first one begins at `0s`.
    pub steps: Vec<RateStep>,
    /// Period with which the schedule is repeated, longer than the time of the last step. Default: no repetition; the last
    /// rate stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
}

/// A rate, and the time from which it applies.
///
/// Example: `RateStep(at: "0s", is: "10Mbit/s")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateStep {
    /// When the rate begins to apply, counted from the start of the run or, if the schedule has a period `every`, from
    /// the start of each period.
    pub at: Span,
    /// The rate.
    pub is: Rate,
}

impl Throughput for RateSchedule {
    fn curve(&self, _: LineOwner, _: Stream) -> RateCurve {
        let steps = self.steps.iter().map(|step| (step.at, step.is.bits_per_second()));
        RateCurve::new(Arc::new(steps.collect()), self.every, Span::ZERO)
    }

    fn problems(&self) -> Vec<Problem> {
        schedule::problems(&self.steps.iter().map(|step| step.at).collect::<Vec<_>>(), self.every)
    }
}
