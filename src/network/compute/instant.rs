//! A party whose jobs take no time.

use super::{Compute, ComputeModel};
use crate::vocab::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Jobs take no time: `Instant()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Instant {}

impl Compute for Instant {
    fn job(&self, _: f64, _: f64, _: f64) -> Span {
        Span::ZERO
    }

    fn is_instant(&self) -> bool {
        true
    }
}

impl Default for ComputeModel {
    fn default() -> Self {
        Self::from(Instant {})
    }
}
