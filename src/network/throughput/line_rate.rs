//! The rate of a line as a scenario states it: a number with its unit, or a throughput model.

use super::{LineOwner, RateCurve, ThroughputModel};
use crate::rng::Stream;
use crate::vocab::value::{self, Part, Read, ReadError, Reader};
use crate::vocab::{DataFolders, Problem, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use std::any::Any;
use std::borrow::Cow;
use std::path::PathBuf;

/// The rate of a link or an access line: `"10Mbit/s"`, or a throughput model such as
/// `RateSchedule(steps: [RateStep(at: "0s", is: "10Mbit/s"), RateStep(at: "18h", is: "4Mbit/s")], every: "24h")`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LineRate {
    /// A rate that never changes.
    Constant(Rate),
    /// A rate that changes over time, or that differs between devices.
    Model(ThroughputModel),
}

impl From<Rate> for LineRate {
    fn from(rate: Rate) -> Self {
        Self::Constant(rate)
    }
}

impl LineRate {
    /// The rate of one line over time; see [`super::Throughput::curve`].
    #[must_use]
    pub fn curve(&self, owner: LineOwner, stream: Stream) -> RateCurve {
        match self {
            Self::Constant(rate) => RateCurve::constant(*rate),
            Self::Model(model) => model.as_dyn().curve(owner, stream),
        }
    }

    /// What is wrong with the recipe.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Model(model) => model.as_dyn().problems(),
        }
    }

    /// Reads the files that the recipe names.
    pub fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Model(model) => model.as_dyn_mut().load(base),
        }
    }

    /// The files that the recipe names.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Constant(_) => Vec::new(),
            Self::Model(model) => model.as_dyn().files(),
        }
    }
}

impl<'de> Deserialize<'de> for LineRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read: Read = |part| read_rate(part).map(|rate| Box::new(rate) as Box<dyn Any>);
        value::read(read, deserializer)
    }
}

fn read_rate(part: Part<'_>) -> Result<LineRate, ReadError> {
    if part.is_text() {
        return Rate::deserialize(Reader::from(part)).map(LineRate::Constant);
    }
    ThroughputModel::deserialize(Reader::from(part)).map(LineRate::Model)
}

impl JsonSchema for LineRate {
    fn schema_name() -> Cow<'static, str> {
        "LineRate".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (rate, model) = (generator.subschema_for::<Rate>(), generator.subschema_for::<ThroughputModel>());
        // The family comes first, because `scenario::catalogue` describes the values of a field by the first
        // alternative.
        json_schema!({ "anyOf": [model, rate] })
    }
}
