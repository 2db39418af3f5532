//! The length-scale that a scenario states: the same for all inputs, or one for each.

use crate::gp::covariance::{Covariance, LengthScale};
use crate::vocab::value::{self, Part, Read, ReadError, Reader};
use crate::vocab::{OutOfRange, Positive, Problem};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use std::any::Any;
use std::borrow::Cow;

use super::Kernel;

/// A length-scale for all inputs, `0.3`, or a list with one for each input, `[0.3, 1.2]`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LengthScales {
    /// The same for all inputs.
    Same(Positive),
    /// One for each input, in order.
    PerInput(Vec<Positive>),
}

impl From<Positive> for LengthScales {
    fn from(length_scale: Positive) -> Self {
        Self::Same(length_scale)
    }
}

impl LengthScales {
    /// The same length-scale for all inputs.
    ///
    /// # Errors
    /// [`OutOfRange`] if `length_scale` is not a finite number above 0.
    pub fn same(length_scale: f64) -> Result<Self, OutOfRange> {
        Positive::new(length_scale).map(Self::Same)
    }

    /// The length-scale of one input.
    ///
    /// # Panics
    /// If there is a list of length-scales, and the list has no entry for `input`.
    #[must_use]
    pub fn of(&self, input: usize) -> f64 {
        match self {
            Self::Same(l) => l.get(),
            Self::PerInput(l) => l[input].get(),
        }
    }

    /// The length-scales of a model whose coordinates are the inputs.
    #[must_use]
    pub fn of_inputs(&self) -> LengthScale {
        self.of_coordinates(<[f64]>::to_vec)
    }

    /// The length-scales of a model whose coordinates need not be the inputs: `spread` turns a list with a number for
    /// each input into a list with a number for each coordinate.
    pub(crate) fn of_coordinates(&self, spread: impl Fn(&[f64]) -> Vec<f64>) -> LengthScale {
        match self {
            Self::Same(l) => LengthScale::Same(l.get()),
            Self::PerInput(l) => {
                LengthScale::PerDimension(spread(&l.iter().map(|l| l.get()).collect::<Vec<_>>()))
            }
        }
    }

    /// The covariance of a model whose coordinates are the inputs.
    pub(super) fn covariance(&self, kernel: Kernel, variance: f64) -> Covariance {
        Covariance { shape: kernel.shape(), length_scale: self.of_inputs(), variance }
    }

    /// The problem of a list whose length is not the number of `inputs`; `place` is the field's path.
    pub(crate) fn problem(&self, place: &str, inputs: usize) -> Option<Problem> {
        let Self::PerInput(listed) = self else { return None };
        (listed.len() != inputs).then(|| {
            let expected = match inputs {
                1 => "a number, or a list of one, since there is one input".to_owned(),
                _ => format!("a number, or a list of {inputs}, one for each input"),
            };
            let found = format!("a list of {}", listed.len());
            Problem::wrong(
                place,
                expected,
                found,
                "write one length-scale for each input, in the order of the inputs",
            )
        })
    }
}

impl<'de> Deserialize<'de> for LengthScales {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read: Read = |part| read_length_scales(part).map(|read| Box::new(read) as Box<dyn Any>);
        value::read(read, deserializer)
    }
}

fn read_length_scales(part: Part<'_>) -> Result<LengthScales, ReadError> {
    if part.is_list() {
        return Vec::deserialize(Reader::from(part)).map(LengthScales::PerInput);
    }
    Positive::deserialize(Reader::from(part)).map(LengthScales::Same)
}

impl JsonSchema for LengthScales {
    fn schema_name() -> Cow<'static, str> {
        "LengthScales".into()
    }
    fn inline_schema() -> bool {
        true
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (one, list) = (generator.subschema_for::<Positive>(), generator.subschema_for::<Vec<Positive>>());
        json_schema!({
            "format": "a finite number above 0, or a list of them, one for each input",
            "anyOf": [one, list],
        })
    }
}
