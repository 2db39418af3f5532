//! A party that misses some messages at random, independently.

use super::{Availability, AvailabilityProcess};
use crate::rng::Stream;
use crate::vocab::Probability;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// Each message that reaches the party is received with the same probability, independently of other messages:
/// `PerMessage(heard: 0.9)`.
///
/// `PerMessage(0.9)`, the form of earlier versions, means the same: 0.9 is the probability that a message is received,
/// not that it is lost.
///
/// Example: `PerMessage(heard: 0.9)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields, extend("type" = ["object", "number"]))]
pub struct PerMessage {
    /// Probability that a message is received.
    pub heard: Probability,
}

/// The form with the field's name.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    heard: Probability,
}

/// Reads the named field, or the bare number of earlier scenarios.
struct EitherSpelling;

impl<'de> Visitor<'de> for EitherSpelling {
    type Value = Probability;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the probability that a message is received, as in PerMessage(heard: 0.9)")
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Probability, E> {
        Probability::new(value).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Probability, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Probability, E> {
        self.visit_f64(value as f64)
    }

    /// `PerMessage()`, without a probability.
    fn visit_unit<E: Error>(self) -> Result<Probability, E> {
        Err(E::missing_field("heard"))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Probability, A::Error> {
        Named::deserialize(MapAccessDeserializer::new(map)).map(|named| named.heard)
    }
}

impl<'de> Deserialize<'de> for PerMessage {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(EitherSpelling).map(|heard| Self { heard })
    }
}

#[derive(Clone, Debug)]
struct BernoulliProcess {
    heard: f64,
    stream: Stream,
}

impl Availability for PerMessage {
    fn start(&self, stream: Stream) -> Box<dyn AvailabilityProcess> {
        Box::new(BernoulliProcess { heard: self.heard.get(), stream })
    }

    fn ever_available(&self) -> bool {
        self.heard.get() > 0.0
    }
}

impl AvailabilityProcess for BernoulliProcess {
    fn receives(&mut self) -> bool {
        self.stream.bernoulli(self.heard)
    }
}

#[cfg(test)]
mod tests {
    use super::super::AvailabilityModel;
    use super::*;

    fn read(text: &str) -> Result<AvailabilityModel, crate::scenario::Diagnostics> {
        crate::scenario::part(text)
    }

    #[test]
    fn both_notations_state_the_probability_of_receiving() {
        for (text, heard) in [
            ("PerMessage(heard: 0.9)", 0.9),
            ("PerMessage(0.9)", 0.9),
            ("PerMessage(heard: 1)", 1.0),
            ("PerMessage(1)", 1.0),
            ("PerMessage(0)", 0.0),
        ] {
            let expected = PerMessage { heard: Probability::new(heard).unwrap() };
            assert_eq!(read(text).unwrap(), AvailabilityModel::from(expected), "{text}");
        }
        let model = read("PerMessage(0.9)").unwrap();
        assert_eq!(serde_json::to_string(&model).unwrap(), r#"{"PerMessage":{"heard":0.9}}"#);
        for (text, word) in [
            ("PerMessage(1.5)", "1.5"),
            ("PerMessage(heard: 1.5)", "1.5"),
            ("PerMessage(lost: 0.1)", "lost"),
            ("PerMessage()", "heard"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(word), "{text}: {error}");
        }
    }
}
