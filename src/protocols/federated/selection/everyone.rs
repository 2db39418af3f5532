//! Every agent is asked.

use super::{Selection, SelectionHistory, SelectionModel};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The server asks every agent for its vector: `Everyone()`. Which of the agents take part in a sum is drawn at random,
/// as `participation` says. Agents do not see who was drawn, and the privacy loss is smaller for this reason
/// (amplification by subsampling). With `visible_participation` they see who was drawn, and the loss is not reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Everyone {}

impl Selection for Everyone {
    fn select(&self, _: &SelectionHistory, _: &mut Stream) -> Option<Vec<bool>> {
        None
    }
}

impl Default for SelectionModel {
    fn default() -> Self {
        Self::from(Everyone {})
    }
}

impl SelectionModel {
    pub(in crate::protocols::federated) fn is_everyone(&self) -> bool {
        self.get::<Everyone>().is_some()
    }
}
