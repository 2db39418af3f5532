//! The values of one hyperparameter.

use crate::vocab::Positive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// The values of one hyperparameter, ascending.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The smallest.
    pub low: Positive,
    /// The largest.
    pub high: Positive,
    /// How many.
    pub values: NonZeroUsize,
    /// Whether they are spaced evenly in their logarithm. Default: false.
    #[serde(default)]
    pub logarithmic: bool,
}

impl Axis {
    pub(super) fn values(&self) -> Vec<f64> {
        let steps = (self.values.get() - 1).max(1) as f64;
        let (low, high) = (self.low.get(), self.high.get());
        (0..self.values.get())
            .map(|index| {
                let share = index as f64 / steps;
                if self.logarithmic {
                    (low * libm::exp(share * libm::log(high / low))).clamp(low, high)
                } else {
                    low + share * (high - low)
                }
            })
            .collect()
    }

    pub(super) fn whole(value: f64) -> u64 {
        value.round().max(1.0) as u64
    }
}
