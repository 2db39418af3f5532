//! A party that crashes and recovers.

use super::turns::Turns;
use super::{Availability, AvailabilityProcess};
use crate::kernel::{Memory, Switch};
use crate::network::latency::LatencyModel;
use crate::rng::Stream;
use crate::vocab::{DataFolders, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Working and crashed periods alternate, beginning with a working period. Messages that reach a crashed party are lost.
/// With `Kept`, timers and the compute times of jobs go on during the crash; timers and jobs that end during the crash are
/// handled when the party has recovered. With `Lost`, timers and jobs are dropped.
///
/// Example: `Crashing(up: Exponential(mean: "10min"), down: Constant("5s"), memory: Kept)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Crashing {
    /// Length of a working period; any latency model that does not depend on the time or the link.
    pub up: LatencyModel,
    /// Length of a crashed period; any latency model that does not depend on the time or the link.
    pub down: LatencyModel,
    /// What remains after a crash. With `Kept`, the party keeps everything: its state, its timers and its work. With
    /// `Lost`, the party starts again with nothing but its stable storage. Default: Kept.
    #[serde(default = "kept")]
    pub memory: Memory,
}

fn kept() -> Memory {
    Memory::Kept
}

#[derive(Clone, Debug)]
struct Process {
    turns: Turns,
    memory: Memory,
}

impl Availability for Crashing {
    fn start(&self, stream: Stream) -> Box<dyn AvailabilityProcess> {
        let turns = Turns::new(self.up.clone(), self.down.clone(), stream, true);
        Box::new(Process { turns, memory: self.memory })
    }

    fn ever_available(&self) -> bool {
        super::lasts(&self.up)
    }

    fn loses_memory(&self) -> bool {
        self.memory == Memory::Lost
    }

    fn problems(&self) -> Vec<Problem> {
        super::periods([("up", &self.up), ("down", &self.down)])
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        super::load_periods([("up", &mut self.up), ("down", &mut self.down)], base)
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.up, &self.down].iter().flat_map(|model| model.as_dyn().files()).collect()
    }
}

impl AvailabilityProcess for Process {
    fn next_switch(&mut self) -> Option<Switch> {
        let at = self.turns.next()?;
        let crashed = (!self.turns.online).then_some(self.memory);
        Some(Switch { at, online: self.turns.online, crashed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::Constant;
    use crate::rng::Key;
    use crate::vocab::{Span, Time};

    #[test]
    fn up_and_down_periods_alternate_and_crashes_state_what_happens_to_memory() {
        let constant = |ms| LatencyModel::from(Constant(Span::from_millis(ms)));
        let recipe = Crashing { up: constant(30), down: constant(10), memory: Memory::Lost };
        let mut process = recipe.start(Key::root(3).stream());
        assert!(process.starts_online());
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let crash = Switch { at: at(30), online: false, crashed: Some(Memory::Lost) };
        assert_eq!(process.next_switch(), Some(crash));
        assert_eq!(process.next_switch(), Some(Switch::connection(at(40), true)));
        assert_eq!(process.next_switch().unwrap().at, at(70));
    }
}
