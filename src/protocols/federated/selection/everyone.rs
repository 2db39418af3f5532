//! Every agent is asked.

use super::{Selection, SelectionHistory};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every agent is asked, and `participation` draws at random which agents take part in a sum: `Everyone()`. Nobody sees
/// who was drawn, so the privacy loss is amplified by subsampling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Everyone {}

impl Selection for Everyone {
    fn select(&self, _: &SelectionHistory, _: &mut Stream) -> Option<Vec<bool>> {
        None
    }
}
