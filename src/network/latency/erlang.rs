//! An Erlang delay: several exponential delays, one after another.

use super::Latency;
use crate::special::{gamma_quantile, incomplete_gamma};
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// An Erlang delay: the sum of independent exponential delays with the same mean, one for each stage.
///
/// The delay has a gamma distribution whose shape is the number of stages. Source: Johnson, Kotz and Balakrishnan 1994,
/// chapter 17.
///
/// Example: `Erlang(stages: 3, mean: "40ms")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Erlang {
    /// Number of stages, 1 to 1000000; the standard deviation is the mean divided by the square root of this number.
    pub stages: NonZeroU32,
    /// Mean of the whole delay, all stages together.
    pub mean: Span,
}

const MAX_STAGES: u32 = 1_000_000;

impl Erlang {
    fn shape(&self) -> f64 {
        f64::from(self.stages.get())
    }
}

impl Latency for Erlang {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.mean.seconds() * (gamma_quantile(self.shape(), u) / self.shape()))
    }

    fn mean_seconds(&self) -> f64 {
        self.mean.seconds()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        if self.mean == Span::ZERO {
            return 1.0;
        }
        incomplete_gamma(self.shape(), self.shape() * delay.seconds() / self.mean.seconds()).0
    }

    fn problems(&self) -> Vec<Problem> {
        if self.stages.get() <= MAX_STAGES {
            return Vec::new();
        }
        let (expected, cure) = (
            format!("at most {MAX_STAGES} stages"),
            "write Constant(..): the sum of so many stages hardly varies",
        );
        vec![Problem::wrong("stages", expected, self.stages.to_string(), cure)]
    }
}
