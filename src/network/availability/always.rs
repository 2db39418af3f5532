//! A party that is always online.

use super::{Availability, AvailabilityModel, AvailabilityProcess};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The party is always connected: `Always()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Always {}

impl Availability for Always {
    fn start(&self, _: Stream) -> Box<dyn AvailabilityProcess> {
        Box::new(*self)
    }

    fn ever_available(&self) -> bool {
        true
    }
}

impl AvailabilityProcess for Always {}

impl Default for AvailabilityModel {
    fn default() -> Self {
        Self::from(Always {})
    }
}
