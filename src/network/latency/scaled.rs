//! A multiple of another delay.

use super::{Latency, LatencyModel};
use crate::vocab::{Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Another delay times a factor, such as measured delays on a network that is twice as slow.
///
/// Example: `Scaled(law: LogNormal(median: "40ms", sigma: 0.5), factor: 2)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scaled {
    /// The delay that is multiplied; any of the latency models.
    pub law: Box<LatencyModel>,
    /// The factor, dimensionless, above 0.
    pub factor: Positive,
}

impl Latency for Scaled {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.law.as_dyn().quantile(u).seconds() * self.factor.get())
    }

    fn mean_seconds(&self) -> f64 {
        self.law.as_dyn().mean_seconds() * self.factor.get()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        // Includes delays that are rounded down to this one.
        let longest = (delay.seconds() + 0.5e-9) / self.factor.get();
        self.law.as_dyn().probability_within(Span::from_seconds(longest))
    }

    fn problems(&self) -> Vec<Problem> {
        self.law.problems_below("law").collect()
    }

    fn load(&mut self, base: &Path) -> Vec<Problem> {
        self.law.load_below("law", base).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.law.as_dyn().files()
    }
}
