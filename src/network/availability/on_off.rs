//! A party that is online and offline in turns, for random times.

use super::turns::Turns;
use super::{Availability, AvailabilityProcess};
use crate::kernel::Switch;
use crate::network::latency::LatencyModel;
use crate::rng::Stream;
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// Connected and disconnected periods alternate; their lengths are drawn from two distributions.
///
/// The party begins connected with the long-run probability mean(online) / (mean(online) + mean(offline)). The first
/// period has the same distribution of lengths as every later one of its kind.
///
/// Example: `OnOff(online: Exponential(mean: "10min"), offline: Exponential(mean: "20s"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Length of a connected period; any of the latency models.
    pub online: LatencyModel,
    /// Length of a disconnected period; any of the latency models.
    pub offline: LatencyModel,
}

#[derive(Clone, Debug)]
struct Process(Turns);

impl Availability for OnOff {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let online = self.online.as_dyn().mean_seconds();
        let offline = self.offline.as_dyn().mean_seconds();
        let starts_online = stream.uniform() * (online + offline) < online;
        Box::new(Process(Turns::new(self.online.clone(), self.offline.clone(), stream, starts_online)))
    }

    fn ever_available(&self) -> bool {
        super::lasts(&self.online)
    }

    fn problems(&self) -> Vec<Problem> {
        super::periods([("online", &self.online), ("offline", &self.offline)])
    }

    fn load(&mut self, base: &Path) -> Vec<Problem> {
        super::load_periods([("online", &mut self.online), ("offline", &mut self.offline)], base)
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.online, &self.offline].iter().flat_map(|model| model.as_dyn().files()).collect()
    }
}

impl AvailabilityProcess for Process {
    fn starts_online(&mut self) -> bool {
        self.0.online
    }

    fn next_switch(&mut self) -> Option<Switch> {
        self.0.next().map(|at| Switch::connection(at, self.0.online))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::{Constant, Exponential};
    use crate::rng::Key;
    use crate::vocab::{Span, Time};

    #[test]
    fn constant_periods_alternate() {
        let recipe = OnOff {
            online: LatencyModel::from(Constant(Span::from_millis(30))),
            offline: LatencyModel::from(Constant(Span::from_millis(10))),
        };
        let mut process = recipe.start(Key::root(3).stream());
        let mut online = process.starts_online();
        let mut at = Time::ZERO;
        for _ in 0..10 {
            let switch = process.next_switch().unwrap();
            assert_eq!(switch.at - at, Span::from_millis(if online { 30 } else { 10 }));
            assert_eq!(switch.online, !online);
            (at, online) = (switch.at, switch.online);
        }
    }

    #[test]
    fn share_of_time_online_is_the_ratio_of_means() {
        // 20,000 exponential periods of each kind, with means 3 and 1: the share's standard error is
        // sqrt(2 / 20,000) * 3/16 = 0.0019; six of them are 0.0113.
        let recipe = OnOff {
            online: LatencyModel::from(Exponential { mean: Span::from_millis(3) }),
            offline: LatencyModel::from(Exponential { mean: Span::from_millis(1) }),
        };
        let mut process = recipe.start(Key::root(4).stream());
        let (mut online, mut at, mut total) = (process.starts_online(), Time::ZERO, Span::ZERO);
        for _ in 0..40_000 {
            let switch = process.next_switch().unwrap();
            if online {
                total = total + (switch.at - at);
            }
            (at, online) = (switch.at, switch.online);
        }
        let share = total.seconds() / at.seconds();
        assert!((share - 0.75).abs() < 0.0113, "{share}");
    }
}
