//! A fixed delay plus a random one.

use super::{Latency, LatencyModel, LinkEnd};
use crate::vocab::{DataFolders, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A fixed delay plus a random one, the jitter, which is drawn independently for every message.
///
/// With `jitter: Exponential(mean: "5ms")` the delay has a shifted exponential distribution.
///
/// Example: `Jittered(base: "30ms", jitter: Exponential(mean: "5ms"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Jittered {
    /// The fixed delay.
    pub base: Span,
    /// The random delay that is added; any of the latency models.
    pub jitter: Box<LatencyModel>,
}

impl Latency for Jittered {
    fn quantile(&self, u: f64) -> Span {
        self.base + self.jitter.as_dyn().quantile(u)
    }

    fn quantile_at(&self, at: Time, u: f64) -> Span {
        self.base + self.jitter.as_dyn().quantile_at(at, u)
    }

    fn needs_link(&self) -> bool {
        self.jitter.as_dyn().needs_link()
    }

    fn differs_between_links(&self) -> bool {
        self.jitter.as_dyn().differs_between_links()
    }

    fn between(&self, from: LinkEnd<'_>, to: LinkEnd<'_>) -> Option<LatencyModel> {
        let jitter = Box::new(self.jitter.as_dyn().between(from, to)?);
        Some(Self { jitter, ..self.clone() }.into())
    }

    fn problems_between(&self, parties: &[LinkEnd<'_>]) -> Vec<Problem> {
        let found = self.jitter.as_dyn().problems_between(parties).into_iter();
        found.map(|problem| problem.below("jitter")).collect()
    }

    fn mean_seconds(&self) -> f64 {
        self.base.seconds() + self.jitter.as_dyn().mean_seconds()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        match delay.nanos().checked_sub(self.base.nanos()) {
            Some(rest) => self.jitter.as_dyn().probability_within(Span::from_nanos(rest)),
            None => 0.0,
        }
    }

    fn problems(&self) -> Vec<Problem> {
        self.jitter.problems_below("jitter").collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        self.jitter.load_below("jitter", base).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.jitter.as_dyn().files()
    }

    fn is_unread(&self) -> bool {
        self.jitter.as_dyn().is_unread()
    }
}
