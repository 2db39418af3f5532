//! A party that works on several messages at once.

use super::{Compute, ComputeModel};
use crate::vocab::{DataFolders, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// Several servers that work at the same time, each on one job: `Servers(count: 4, each: Drawn(time: Constant("20ms")))`.
///
/// Jobs wait in one queue, first come, first served. If jobs arrive as a Poisson process and take exponential times, the
/// party is an M/M/k queue with k = `count`. All servers of a party are equally fast.
///
/// Example: `Servers(count: 4, each: Drawn(time: Constant("300ms")))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Servers {
    /// Number of servers.
    pub count: NonZeroU32,
    /// How long one server works on a job: any compute model except `Servers`.
    pub each: Box<ComputeModel>,
}

impl Compute for Servers {
    fn servers(&self) -> u32 {
        self.count.get()
    }

    fn slowness(&self, u: f64) -> f64 {
        self.each.as_dyn().slowness(u)
    }

    fn slowness_numbered(&self, number: u64, u: f64) -> f64 {
        self.each.as_dyn().slowness_numbered(number, u)
    }

    fn differs(&self) -> bool {
        self.each.as_dyn().differs()
    }

    fn job(&self, slowness: f64, length: f64, slowdown_draw: f64) -> Span {
        self.each.as_dyn().job(slowness, length, slowdown_draw)
    }

    fn is_instant(&self) -> bool {
        self.each.as_dyn().is_instant()
    }

    fn problems(&self) -> Vec<Problem> {
        if self.each.get::<Self>().is_some() {
            let cure = "write one Servers with the product of both counts";
            return vec![Problem::wrong("each", "a model of one server", "Servers", cure)];
        }
        self.each.as_dyn().problems().into_iter().map(|problem| problem.below("each")).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        self.each.as_dyn_mut().load(base).into_iter().map(|problem| problem.below("each")).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.each.as_dyn().files()
    }
}
