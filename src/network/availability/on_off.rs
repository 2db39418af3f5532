//! A party that is online and offline in turns, for random times.

use super::turns::Turns;
use super::{Availability, AvailabilityProcess};
use crate::kernel::Switch;
use crate::network::latency::LatencyModel;
use crate::rng::Stream;
use crate::special::normal_quantile;
use crate::vocab::{DataFolders, NonNegative, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Connected and disconnected periods alternate; their lengths are drawn from two distributions.
///
/// The party begins connected with the long-run probability mean(online) / (mean(online) + mean(offline)); with a `sigma`,
/// mean(offline) is multiplied by the party's factor. The length of the first period has the same distribution as the length
/// of every later period of its kind (connected or disconnected).
///
/// Example: `OnOff(online: Exponential(mean: "10min"), offline: Exponential(mean: "20s"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OnOff {
    /// Length of a connected period; any latency model that does not depend on the time or the link.
    pub online: LatencyModel,
    /// Length of a disconnected period; any latency model that does not depend on the time or the link.
    pub offline: LatencyModel,
    /// How much parties differ. The disconnected periods of each party are multiplied by the party's own log-normal factor
    /// with median 1, which is drawn once per replication. `sigma` is the standard deviation of the factor's natural
    /// logarithm. With a `sigma` of 0.5, one party in ten has a factor of at least 1.9. Default: 0, all parties are alike.
    #[serde(default = "alike", skip_serializing_if = "is_alike")]
    pub sigma: NonNegative,
}

fn alike() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

fn is_alike(sigma: &NonNegative) -> bool {
    sigma.get() == 0.0
}

impl OnOff {
    /// Periods whose lengths are drawn from `online` and `offline`. `sigma` is 0: all parties are alike.
    #[must_use]
    pub fn new(online: LatencyModel, offline: LatencyModel) -> Self {
        Self { online, offline, sigma: alike() }
    }

    /// The availability of a party whose disconnected periods are multiplied by `longer`.
    fn process(&self, longer: f64, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let online = self.online.as_dyn().mean_seconds();
        let offline = longer * self.offline.as_dyn().mean_seconds();
        let starts_online = stream.uniform() * (online + offline) < online;
        let turns = Turns::new(self.online.clone(), self.offline.clone(), stream, starts_online);
        Box::new(Process(turns.longer(longer)))
    }

    /// The factor on the disconnected periods of a party at the quantile `level`, in (0, 1), of availability: the higher the
    /// level, the smaller the factor.
    fn longer(&self, level: f64) -> f64 {
        libm::exp(-self.sigma.get() * normal_quantile(level))
    }
}

#[derive(Clone, Debug)]
struct Process(Turns);

impl Availability for OnOff {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        if !self.differs() {
            return self.process(1.0, stream);
        }
        let level = stream.open_uniform();
        self.process(self.longer(level), stream)
    }

    fn differs(&self) -> bool {
        self.sigma.get() > 0.0
    }

    fn start_at(&self, level: f64, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        stream.open_uniform();
        self.process(self.longer(level), stream)
    }

    fn ever_available(&self) -> bool {
        super::lasts(&self.online)
    }

    fn problems(&self) -> Vec<Problem> {
        super::periods([("online", &self.online), ("offline", &self.offline)])
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
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
        let recipe = OnOff::new(
            LatencyModel::from(Constant(Span::from_millis(30))),
            LatencyModel::from(Constant(Span::from_millis(10))),
        );
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

    /// Disconnected periods of 1 s are multiplied by a log-normal factor of sigma 1, so their median over parties is 1 s.
    /// Among 400 parties, the share whose periods are shorter than the median is 1/2 with a standard error of 0.025; six
    /// standard errors are 0.15.
    #[test]
    fn durations_of_absences_differ_between_parties() {
        let mut recipe = OnOff::new(
            LatencyModel::from(Constant(Span::from_millis(1000))),
            LatencyModel::from(Constant(Span::from_millis(1000))),
        );
        recipe.sigma = NonNegative::new(1.0).unwrap();
        let gone = |process: &mut Box<dyn AvailabilityProcess>| {
            let mut left = None;
            loop {
                let switch = process.next_switch().unwrap();
                match (switch.online, left) {
                    (true, Some(at)) => return (switch.at - at).seconds(),
                    (true, None) => {}
                    (false, _) => left = Some(switch.at),
                }
            }
        };
        let drawn: Vec<f64> =
            (0..400).map(|party| gone(&mut recipe.start(Key::root(8).index(party).stream()))).collect();
        let below = drawn.iter().filter(|seconds| **seconds < 1.0).count() as f64 / 400.0;
        assert!((below - 0.5).abs() < 0.15, "{below}");
        // Phi(1) = 0.8413, and the logarithm of the factor has standard deviation 1. So a party at the quantile 0.8413 of
        // availability has the factor 1 / e: it is disconnected for 1 / e times as long as the median party.
        let mut available = recipe.start_at(0.841_344_746_068_543, Key::root(8).stream());
        assert!((gone(&mut available) - (-1.0f64).exp()).abs() < 1e-6);
    }

    #[test]
    fn share_of_time_online_is_the_ratio_of_means() {
        // 20,000 exponential periods of each kind, with means 3 and 1. A small relative change r of the sum of the connected
        // periods changes the share s = 3/4 of connected time by s (1 - s) r = 3/16 r; the same change of the sum of the
        // disconnected periods changes s by -3/16 r. Each of the two sums has the relative variance 1 / 20,000, so the
        // standard error of s is sqrt(2 / 20,000) * 3/16 = 0.0019; six standard errors are 0.0113.
        let recipe = OnOff::new(
            LatencyModel::from(Exponential { mean: Span::from_millis(3) }),
            LatencyModel::from(Exponential { mean: Span::from_millis(1) }),
        );
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
