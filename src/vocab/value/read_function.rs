//! Calls a function to read a value of any self-describing format, without losing the details of errors if the value comes
//! from a [`Reader`](super::Reader).
//!
//! `Deserialize` cannot find out which deserializer it is given. Therefore [`read`] stores the function in a thread-local
//! slot and requests a newtype struct with a special name. A `Reader` recognises this name: it takes the function from the
//! slot, calls it, and stores the result in the slot. Any other deserializer passes itself to `visit_newtype_struct`, where
//! its value is first read into a tree, from which the function then reads.

use super::error::ReadError;
use super::foreign::Foreign;
use super::node::Part;
use super::slot::{Read, SLOT_STRUCT, Slot, exchange, wanted};
use serde::de::{self, Deserialize, Deserializer, Visitor};
use std::any::Any;
use std::fmt;

/// Reads a value of any self-describing format by the function `read`, whose boxed result must be an `M`.
pub(crate) fn read<'de, M: 'static, D: Deserializer<'de>>(read: Read, from: D) -> Result<M, D::Error> {
    exchange(Slot::Wanted(read));
    let value = from.deserialize_newtype_struct(SLOT_STRUCT, Dispatched);
    exchange(Slot::Empty);
    match value?.downcast() {
        Ok(value) => Ok(*value),
        Err(_) => Err(de::Error::custom("the value that was read has another type")),
    }
}

struct Dispatched;

impl<'de> Visitor<'de> for Dispatched {
    type Value = Box<dyn Any>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value of a self-describing format")
    }

    /// Called by [`Reader`](super::Reader), after it has stored the result in the slot.
    fn visit_unit<E: de::Error>(self) -> Result<Box<dyn Any>, E> {
        match exchange(Slot::Empty) {
            Slot::Found(value) => Ok(value),
            Slot::Empty | Slot::Wanted(_) => Err(E::invalid_type(de::Unexpected::Unit, &self)),
        }
    }

    /// Called by every other deserializer.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Box<dyn Any>, D::Error> {
        let Some(read) = wanted() else { return Err(de::Error::custom("no function reads this value")) };
        let Foreign(node) = Foreign::deserialize(from)?;
        read(Part::whole(&node, true)).map_err(ReadError::into_format)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reader;
    use super::*;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Wrapped(Vec<u8>);

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Plain {
        a: f64,
        b: Option<char>,
        #[serde(default)]
        c: BTreeMap<u8, i8>,
    }

    #[derive(Debug, PartialEq, Deserialize)]
    enum Form {
        Unit,
        Newtype(Wrapped),
        Struct(Plain),
        Pair(u64, String),
        Fields { x: bool },
        Nothing(()),
        Boxed(Option<Box<Held>>),
    }

    /// A type that is read through the slot, as families are.
    #[derive(Debug, PartialEq)]
    struct Held(Form);

    impl<'de> Deserialize<'de> for Held {
        fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
            super::read(|part| Ok(Box::new(Self(Form::deserialize(Reader::from(part))?))), from)
        }
    }

    #[test]
    fn json_is_read_as_serde_json_reads_it() {
        for text in [
            r#""Unit""#,
            r#"{"Unit": null}"#,
            r#"{"Newtype": [1, 255]}"#,
            r#"{"Newtype": [256]}"#,
            r#"{"Newtype": [1.0]}"#,
            r#"{"Struct": {"a": 1, "b": "x", "c": {"7": -1}}}"#,
            r#"{"Struct": {"a": 1e-5}}"#,
            r#"{"Struct": [0.1, null, {}]}"#,
            r#"{"Struct": {"a": 1, "d": 2}}"#,
            r#"{"Struct": {"b": null}}"#,
            r#"{"Pair": [18446744073709551615, "x"]}"#,
            r#"{"Pair": [-1, "x"]}"#,
            r#"{"Pair": [1]}"#,
            r#"{"Pair": [1, "x", 2]}"#,
            r#"{"Fields": {"x": true}}"#,
            r#"{"Fields": true}"#,
            r#"{"Nothing": null}"#,
            r#"{"Boxed": null}"#,
            r#""Newtype""#,
            r#"{"Unit": null, "Pair": [1, "x"]}"#,
            r#""Other""#,
            "[]",
        ] {
            let handed = serde_json::from_str::<Held>(text).ok();
            assert_eq!(handed, serde_json::from_str::<Form>(text).ok().map(Held), "{text}");
        }
        let nested = r#"{"Boxed": {"Boxed": {"Pair": [1, "x"]}}}"#;
        let pair = Form::Pair(1, "x".to_owned());
        let boxed = |form| Form::Boxed(Some(Box::new(Held(form))));
        assert_eq!(serde_json::from_str::<Held>(nested).unwrap(), Held(boxed(boxed(pair))));
        let error = serde_json::from_str::<Held>(r#"{"Boxed": "Unti"}"#).unwrap_err().to_string();
        assert!(error.contains("`Unti`") && error.contains("`Unit`"), "{error}");
    }
}
