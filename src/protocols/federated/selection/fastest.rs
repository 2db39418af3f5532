//! The selection of the agents that announce the shortest compute times.

use super::{Selection, SelectionHistory, too_many};
use crate::rng::Stream;
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// The k agents with the shortest announced compute time. The same agents are selected in every round. If times are equal,
/// agents that come first in the scenario are selected. An agent announces the median time for one unit of work on its
/// device. This time is taken as public, so the selection adds no privacy loss. The time depends on the agents' data only
/// if the scenario says so (in the field `together` of the parties); this dependence is then listed among the facts that
/// are taken as public. `participation` still draws at random which of the selected agents take part in a sum.
///
/// Example: `Fastest(k: 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fastest {
    /// Number of agents.
    pub k: NonZeroU64,
}

impl Selection for Fastest {
    fn select(&self, known: &SelectionHistory, _: &mut Stream) -> Option<Vec<bool>> {
        let mut order: Vec<usize> = (0..known.agents()).collect();
        order.sort_by(|&a, &b| known.announced[a].total_cmp(&known.announced[b]).then(a.cmp(&b)));
        let mut selected = vec![false; known.agents()];
        order.iter().take(self.k.get() as usize).for_each(|&agent| selected[agent] = true);
        Some(selected)
    }

    fn problems(&self, agents: u64) -> Vec<Problem> {
        too_many("k", self.k, agents)
    }
}
