//! Every agent is asked.

use super::{Selection, SelectionHistory, SelectionModel};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every agent is asked, and `participation` draws at random which agents take part in a sum: `Everyone()`. Agents do not
/// see who was drawn, unless `visible_participation` is set, so the privacy loss is reduced by subsampling.
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
