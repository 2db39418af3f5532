//! A party that arrives at a random time, leaves, and may return.

use super::{Availability, AvailabilityProcess};
use crate::kernel::Switch;
use crate::network::latency::LatencyModel;
use crate::rng::Stream;
use crate::vocab::{DataFolders, Probability, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Churn: the party arrives at a random time, stays for a random time, and leaves. With probability `returns` it then comes
/// back after a random absence; otherwise it is gone for good.
///
/// A party that returns has kept its memory: it still has its model and the messages that it had received before it left. A
/// party is disconnected until it arrives. The time of arrival is drawn for each party, and the length of every stay and of
/// every absence is drawn anew.
///
/// Example:
/// `Churn(arrives: Exponential(mean: "2h"), stays: Exponential(mean: "1day"), returns: 0.5, away: Exponential(mean: "6h"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Churn {
    /// Time from the start of the replication to the party's arrival; a latency model that depends on neither the time nor
    /// the link. Default: no time, the party is there at the start.
    #[serde(default)]
    pub arrives: LatencyModel,
    /// How long the party stays, with a mean above 0; a latency model that depends on neither the time nor the link.
    pub stays: LatencyModel,
    /// Probability that the party returns after a stay. Default: 0.
    #[serde(default = "never")]
    pub returns: Probability,
    /// How long the party is away before it returns, with a mean above 0; a latency model that depends on neither the time
    /// nor the link. Default: no time, which is allowed only if `returns` is 0.
    #[serde(default)]
    pub away: LatencyModel,
}

fn never() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

/// Shortest stay and shortest absence, so that every change is later than the change before it.
const SHORTEST: Span = Span::from_nanos(1);

#[derive(Clone, Debug)]
struct Process {
    recipe: Churn,
    stream: Stream,
    /// The time of the last change of the connection, or time zero.
    last: Time,
    online: bool,
    gone: bool,
    arrives: Option<Time>,
}

impl Availability for Churn {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let arrives = self.arrives.as_dyn().quantile(stream.open_uniform());
        let online = arrives == Span::ZERO;
        let arrives = (!online).then_some(Time::ZERO + arrives);
        Box::new(Process { recipe: self.clone(), stream, last: Time::ZERO, online, gone: false, arrives })
    }

    fn ever_available(&self) -> bool {
        super::lasts(&self.stays)
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = super::periods([("stays", &self.stays)]);
        if self.returns.get() > 0.0 {
            problems.extend(super::periods([("away", &self.away)]));
        }
        problems.extend(super::length_problems("arrives", &self.arrives));
        problems
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let lengths = [("arrives", &mut self.arrives), ("stays", &mut self.stays), ("away", &mut self.away)];
        super::load_periods(lengths, base)
    }

    fn files(&self) -> Vec<PathBuf> {
        [&self.arrives, &self.stays, &self.away].iter().flat_map(|model| model.as_dyn().files()).collect()
    }
}

impl AvailabilityProcess for Process {
    fn starts_online(&mut self) -> bool {
        self.online
    }

    fn next_switch(&mut self) -> Option<Switch> {
        if self.gone {
            return None;
        }
        let at = match self.arrives.take() {
            Some(at) => at,
            None if self.online => {
                let stays = self.recipe.stays.as_dyn().quantile(self.stream.open_uniform());
                self.last + stays.max(SHORTEST)
            }
            None => {
                // Draws whether the party returns, and the length of its absence. Both are drawn after every stay, even if
                // the party does not return.
                let returns = self.stream.bernoulli(self.recipe.returns.get());
                let away = self.recipe.away.as_dyn().quantile(self.stream.open_uniform());
                if !returns {
                    self.gone = true;
                    return None;
                }
                self.last + away.max(SHORTEST)
            }
        };
        if at == Time::NEVER {
            self.gone = true;
            return None;
        }
        self.last = at;
        self.online = !self.online;
        Some(Switch::connection(at, self.online))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::{Constant, Exponential};
    use crate::rng::Key;

    fn seconds(seconds: u64) -> Span {
        Span::from_millis(1000 * seconds)
    }

    #[test]
    fn a_party_comes_stays_and_is_gone_for_good() {
        let constant = |s| LatencyModel::from(Constant(seconds(s)));
        let recipe = Churn { arrives: constant(5), stays: constant(10), returns: never(), away: constant(0) };
        assert_eq!(recipe.problems(), []);
        let mut process = recipe.start(Key::root(1).stream());
        assert!(!process.starts_online());
        let at = |s| Time::ZERO + seconds(s);
        assert_eq!(process.next_switch(), Some(Switch::connection(at(5), true)));
        assert_eq!(process.next_switch(), Some(Switch::connection(at(15), false)));
        assert_eq!([process.next_switch(), process.next_switch()], [None, None]);
    }

    /// The number of stays of a party is geometric with mean 1 / (1 - 0.6) = 2.5 and standard deviation sqrt(0.6) / 0.4 =
    /// 1.94, so the mean number over 4,000 parties has a standard error of 0.031. The length of a stay is exponential with
    /// mean 20 s, so the mean length of 10,000 stays has a standard error of 0.2 s.
    #[test]
    fn parties_return_at_the_stated_rate() {
        let exponential = |s| LatencyModel::from(Exponential { mean: seconds(s) });
        let recipe = Churn {
            arrives: exponential(5),
            stays: exponential(20),
            returns: Probability::new(0.6).unwrap(),
            away: exponential(3),
        };
        let (mut stays, mut time) = (0u32, 0.0);
        for party in 0..4000 {
            let mut process = recipe.start(Key::root(2).index(party).stream());
            let mut since = Time::ZERO;
            while let Some(switch) = process.next_switch() {
                if switch.online {
                    since = switch.at;
                    stays += 1;
                } else {
                    time += (switch.at - since).seconds();
                }
            }
        }
        assert!((f64::from(stays) / 4000.0 - 2.5).abs() < 6.0 * 0.031, "{stays}");
        assert!((time / f64::from(stays) - 20.0).abs() < 6.0 * 0.2, "{time}");
    }
}
