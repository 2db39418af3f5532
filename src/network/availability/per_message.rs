//! A party that misses some messages, each by its own coin.

use super::{Availability, AvailabilityProcess};
use crate::rng::Stream;
use crate::vocab::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The party hears each message that reaches it with this probability, independently: `PerMessage(0.9)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct PerMessage(
    /// Probability that a message is heard.
    pub Probability,
);

#[derive(Clone, Debug)]
struct Coins {
    heard: f64,
    stream: Stream,
}

impl Availability for PerMessage {
    fn start(&self, stream: Stream) -> Box<dyn AvailabilityProcess> {
        Box::new(Coins { heard: self.0.get(), stream })
    }

    fn ever_available(&self) -> bool {
        self.0.get() > 0.0
    }
}

impl AvailabilityProcess for Coins {
    fn hears(&mut self) -> bool {
        self.stream.bernoulli(self.heard)
    }
}
