//! A link without losses.

use super::{Loss, LossModel, LossProcess};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// No message is lost: `NoLoss()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoLoss {}

impl Loss for NoLoss {
    fn start(&self) -> Box<dyn LossProcess> {
        Box::new(*self)
    }

    fn mean(&self) -> f64 {
        0.0
    }

    fn is_never(&self) -> bool {
        true
    }
}

impl LossProcess for NoLoss {
    fn drops(&mut self, _: f64) -> bool {
        false
    }
}

impl Default for LossModel {
    fn default() -> Self {
        Self::from(NoLoss {})
    }
}
