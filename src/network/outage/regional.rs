//! Outages at random times, which are the same for all parties of a group.

use super::Outage;
use crate::network::availability::{Availability, AvailabilityProcess, OnOff};
use crate::network::latency::LatencyModel;
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// All parties of a group are connected and disconnected together, in alternating periods of random length.
///
/// Example: `Regional(group: "left", up: Exponential(mean: "10min"), down: Constant("5s"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Regional {
    /// Name of the group.
    #[schemars(with = "crate::vocab::GroupName")]
    pub group: String,
    /// Length of a period in which the group is connected; any latency model that does not depend on the time or the link.
    pub up: LatencyModel,
    /// Length of an outage; any latency model that does not depend on the time or the link.
    pub down: LatencyModel,
}

impl Outage for Regional {
    fn groups(&self) -> Vec<(String, &str)> {
        vec![("group".to_owned(), &self.group)]
    }

    fn connection(&self, group: &str, stream: Stream) -> Option<Box<dyn AvailabilityProcess>> {
        let turns = OnOff::new(self.up.clone(), self.down.clone());
        (group == self.group).then(|| turns.start(stream))
    }

    fn problems(&self) -> Vec<Problem> {
        crate::network::availability::periods([("up", &self.up), ("down", &self.down)])
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        crate::network::availability::load_periods([("up", &mut self.up), ("down", &mut self.down)], base)
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.up, &self.down].iter().flat_map(|model| model.as_dyn().files()).collect()
    }
}
