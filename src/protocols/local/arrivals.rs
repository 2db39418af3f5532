//! When users come, and which of them never answer.

use crate::network::latency::LatencyModel;
use crate::rng::Stream;
use crate::vocab::{Finite, Probability, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When users come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Arrivals {
    /// The next user is asked when the last one has answered, or when patience ends. A report that comes later than
    /// that still counts.
    OneByOne {
        /// How long the service waits for a report. Default: 5 s.
        #[serde(default = "five_seconds")]
        patience: Span,
    },
    /// Users come on their own, after independent exponential intervals; many may be on their way at once.
    Poisson {
        /// Mean interval between two users.
        every: Span,
    },
    /// As `Poisson`, with intervals of any law: regular, in bursts, or with long pauses.
    Renewal {
        /// Interval between two users, drawn anew for each; any of the latency models that read no file. An `Exponential` one is
        /// `Poisson`, with the same draws.
        interval: LatencyModel,
    },
}

fn five_seconds() -> Span {
    Span::from_millis(5000)
}

impl Default for Arrivals {
    fn default() -> Self {
        Self::OneByOne { patience: five_seconds() }
    }
}

impl Arrivals {
    /// The time until the next user comes on its own. One word; none where users are asked.
    pub(super) fn next(&self, stream: &mut Stream) -> Option<Span> {
        match self {
            Self::OneByOne { .. } => None,
            Self::Poisson { every } => Some(Span::from_seconds(every.seconds() * stream.exponential())),
            // Long intervals at small numbers, as for the exponential ones above.
            Self::Renewal { interval } => Some(interval.as_dyn().quantile(1.0 - stream.open_uniform())),
        }
    }
}

/// Which users never answer, though they played.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum NeverAnswer {
    /// Each with this probability, whatever the reward.
    Independent(Probability),
    /// With this probability each whose reward is below a threshold, and nobody else. What is learned is then biased,
    /// and that a user answers tells about the reward: the ledger lists it as unprotected.
    WhenBelow {
        /// The threshold, in units of the reward.
        reward: Finite,
        /// The probability.
        share: Probability,
    },
}

impl Default for NeverAnswer {
    fn default() -> Self {
        Self::Independent(Probability::new(0.0).expect("0 is a probability"))
    }
}

impl NeverAnswer {
    /// Whether a user with this reward keeps silent. One word.
    pub fn silent(&self, reward: f64, stream: &mut Stream) -> bool {
        let drawn = stream.uniform();
        match self {
            Self::Independent(share) => drawn < share.get(),
            Self::WhenBelow { reward: threshold, share } => reward < threshold.get() && drawn < share.get(),
        }
    }

    /// The probability that a user with this reward keeps silent.
    #[must_use]
    pub fn chance(&self, reward: f64) -> f64 {
        match self {
            Self::Independent(share) => share.get(),
            Self::WhenBelow { reward: threshold, share } if reward < threshold.get() => share.get(),
            Self::WhenBelow { .. } => 0.0,
        }
    }

    /// Whether silence tells about the reward.
    #[must_use]
    pub fn tells(&self) -> bool {
        matches!(self, Self::WhenBelow { share, .. } if share.get() > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::latency::Exponential;
    use crate::rng::Key;

    #[test]
    fn exponential_intervals_are_those_of_poisson() {
        let mean = Span::from_millis(200);
        let poisson = Arrivals::Poisson { every: mean };
        let renewal = Arrivals::Renewal { interval: Exponential { mean }.into() };
        let (mut a, mut b) = (Key::root(5).stream(), Key::root(5).stream());
        for _ in 0..10_000 {
            let (one, other) = (poisson.next(&mut a).unwrap(), renewal.next(&mut b).unwrap());
            assert!(one.nanos().abs_diff(other.nanos()) <= 1, "{one} {other}");
        }
        assert_eq!(Arrivals::default().next(&mut a), None);
    }
}
