//! Members of the families of the network.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;
use std::sync::Arc;
use subrosa::kernel::Switch;
use subrosa::network::Population;
use subrosa::network::availability::{Availability, AvailabilityProcess};
use subrosa::network::compute::Compute;
use subrosa::network::latency::Latency;
use subrosa::network::loss::{Loss, LossProcess};
use subrosa::network::outage::Outage;
use subrosa::network::throughput::{LineOwner, RateCurve, Throughput};
use subrosa::network::topology::{Pairs, Topology};
use subrosa::rng::Stream;
use subrosa::vocab::{Positive, Problem, Rate, Span, Time};

/// A Frechet delay: at most t with probability exp(-(t / scale)^-shape).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Frechet {
    /// The delay that 37 % of messages stay below.
    scale: Span,
    /// The tail's exponent, above 1, because there is no mean otherwise.
    shape: Positive,
}

impl Latency for Frechet {
    fn quantile(&self, u: f64) -> Span {
        Span::from_seconds(self.scale.seconds() * libm::pow(-libm::log(u), -1.0 / self.shape.get()))
    }

    fn mean_seconds(&self) -> f64 {
        self.scale.seconds() * libm::tgamma(1.0 - 1.0 / self.shape.get())
    }
}

/// Every n-th message of a link is lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct EveryNth {
    /// n, 2 or more.
    n: NonZeroU64,
}

#[derive(Clone, Debug)]
struct Counting {
    n: u64,
    sent: u64,
}

impl Loss for EveryNth {
    fn start(&self) -> Box<dyn LossProcess> {
        Box::new(Counting { n: self.n.get(), sent: 0 })
    }

    fn mean(&self) -> f64 {
        1.0 / self.n.get() as f64
    }

    fn problems(&self) -> Vec<Problem> {
        if self.n.get() > 1 {
            return Vec::new();
        }
        vec![Problem::wrong("n", "2 or more", "1", "let some messages arrive")]
    }
}

impl LossProcess for Counting {
    fn drops(&mut self, _: f64) -> bool {
        self.sent += 1;
        self.sent.is_multiple_of(self.n)
    }
}

/// Offline for the last part of every period, which begins at a time that the party draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Nightly {
    /// Time online in a period.
    online: Span,
    /// Time offline in a period.
    offline: Span,
}

#[derive(Clone, Debug)]
struct Nights {
    recipe: Nightly,
    next: Time,
    online: bool,
}

impl Availability for Nightly {
    fn start(&self, mut stream: Stream) -> Box<dyn AvailabilityProcess> {
        let first = Span::from_seconds(self.online.seconds() * stream.open_uniform());
        Box::new(Nights { recipe: self.clone(), next: Time::ZERO + first, online: true })
    }

    fn ever_available(&self) -> bool {
        true
    }

    fn problems(&self) -> Vec<Problem> {
        let empty = [("online", self.online), ("offline", self.offline)].into_iter();
        let empty = empty.filter(|(_, length)| *length == Span::ZERO);
        empty.map(|(field, _)| Problem::wrong(field, "a duration above 0", "0 s", "write \"8h\"")).collect()
    }
}

impl AvailabilityProcess for Nights {
    fn next_switch(&mut self) -> Option<Switch> {
        self.online = !self.online;
        let switch = Switch::connection(self.next, self.online);
        self.next = self.next + if self.online { self.recipe.online } else { self.recipe.offline };
        Some(switch)
    }
}

/// The same time for every message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct PerMessage {
    /// How long.
    each: Span,
}

impl Compute for PerMessage {
    fn job(&self, _: f64, _: f64, _: f64) -> Span {
        self.each
    }
}

/// During the first part of every period, no message passes between parties of a group and all others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Maintenance {
    /// Name of the group.
    group: String,
    /// Length of a period.
    every: Span,
    /// Time without messages at the start of each period.
    lasts: Span,
}

impl Outage for Maintenance {
    fn groups(&self) -> Vec<(String, &str)> {
        vec![("group".to_owned(), &self.group)]
    }

    fn cuts(&self, from: Option<&str>, to: Option<&str>, at: Time) -> bool {
        let inside = |group: Option<&str>| group == Some(self.group.as_str());
        let into = at.seconds() % self.every.seconds();
        inside(from) != inside(to) && into < self.lasts.seconds()
    }

    fn problems(&self) -> Vec<Problem> {
        if self.lasts < self.every {
            return Vec::new();
        }
        vec![Problem::wrong("lasts", "less than `every`", self.lasts.to_string(), "let it end")]
    }
}

/// Each party is linked with the next one, in the order of the scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Chain {}

impl Topology for Chain {
    fn pairs(&self, population: &Population<'_>) -> Pairs {
        (1..population.names.len()).map(|index| (index - 1, index)).collect()
    }
}

/// Full rate in the first half of every period, none in the second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Blinking {
    /// The full rate.
    rate: Rate,
    /// The period.
    every: Span,
}

impl Throughput for Blinking {
    fn curve(&self, _: LineOwner, _: Stream) -> RateCurve {
        let half = Span::from_seconds(0.5 * self.every.seconds());
        let steps = vec![(Span::ZERO, self.rate.bits_per_second()), (half, 0.0)];
        RateCurve::new(Arc::new(steps), Some(self.every), Span::ZERO)
    }
}
