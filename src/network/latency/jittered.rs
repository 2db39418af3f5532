//! A fixed delay plus a random one.

use super::{Latency, LatencyModel};
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// A fixed delay plus jitter, which is drawn anew for every message.
///
/// With `jitter: Exponential(mean: "5ms")` it is the shifted exponential distribution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jittered {
    /// The delay that every message has.
    pub base: Span,
    /// The random delay that is added; any of the latency models.
    pub jitter: Box<LatencyModel>,
}

impl Latency for Jittered {
    fn quantile(&self, u: f64) -> Span {
        self.base + self.jitter.as_dyn().quantile(u)
    }

    fn mean_seconds(&self) -> f64 {
        self.base.seconds() + self.jitter.as_dyn().mean_seconds()
    }

    fn problems(&self) -> Vec<Problem> {
        let own = self.jitter.as_dyn().problems();
        own.into_iter().map(|problem| problem.below("jitter")).collect()
    }

    fn load(&mut self, base: &Path) -> Vec<Problem> {
        let own = self.jitter.as_dyn_mut().load(base);
        own.into_iter().map(|problem| problem.below("jitter")).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.jitter.as_dyn().files()
    }
}
