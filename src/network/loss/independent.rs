//! Independent losses.

use super::{Loss, LossProcess};
use crate::vocab::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Each message is lost with the same probability, independently of other messages: `Independent(0.02)`.
///
/// Example: `Independent(0.02)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Independent(
    /// Probability that a message is lost.
    pub Probability,
);

impl Loss for Independent {
    fn start(&self) -> Box<dyn LossProcess> {
        Box::new(*self)
    }

    fn mean(&self) -> f64 {
        self.0.get()
    }

    fn independent(&self) -> Option<f64> {
        Some(self.0.get())
    }

    fn is_never(&self) -> bool {
        self.0.get() == 0.0
    }
}

impl LossProcess for Independent {
    fn drops(&mut self, u: f64) -> bool {
        u < self.0.get()
    }
}
