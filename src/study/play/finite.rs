//! Finds, in plain data, numbers that are not finite. JSON can only write finite numbers, so a record with any other number
//! could not be read again.

use serde::ser::{self, Serialize};
use std::fmt;

/// A number that is not finite, and its place in the data.
#[derive(Debug)]
pub(in crate::study) struct NotFinite {
    /// Path from the outermost value inwards, as in `iterations[3].outcome`.
    pub(in crate::study) place: String,
    /// The number, or the reason why the data could not be searched.
    pub(in crate::study) value: String,
}

impl fmt::Display for NotFinite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is {}, not a finite number", self.place, self.value)
    }
}

impl std::error::Error for NotFinite {}

impl ser::Error for NotFinite {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self { place: String::new(), value: message.to_string() }
    }
}

/// Checks that all numbers in `value` are finite.
///
/// # Errors
/// The first number that is not finite.
pub(in crate::study) fn finite(value: &(impl Serialize + ?Sized)) -> Result<(), NotFinite> {
    value.serialize(FiniteCheck)
}

/// The error with a further step at the beginning of its path.
fn within(step: &str, found: NotFinite) -> NotFinite {
    let dot = if found.place.is_empty() || found.place.starts_with('[') { "" } else { "." };
    NotFinite { place: format!("{step}{dot}{}", found.place), ..found }
}

fn look(value: f64) -> Result<(), NotFinite> {
    if value.is_finite() {
        return Ok(());
    }
    Err(NotFinite { place: String::new(), value: value.to_string() })
}

#[derive(Clone, Copy, Debug)]
struct FiniteCheck;

/// Checks the parts of a composite value; counts the parts checked so far, if they have no names.
#[derive(Debug)]
struct Parts(usize);

impl Parts {
    fn next(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), NotFinite> {
        let index = self.0;
        self.0 += 1;
        finite(value).map_err(|found| within(&format!("[{index}]"), found))
    }
}

macro_rules! without_fractions {
    ($($name:ident: $kind:ty,)*) => {
        $(fn $name(self, _: $kind) -> Result<(), NotFinite> { Ok(()) })*
    };
}

impl ser::Serializer for FiniteCheck {
    type Ok = ();
    type Error = NotFinite;
    type SerializeSeq = Parts;
    type SerializeTuple = Parts;
    type SerializeTupleStruct = Parts;
    type SerializeTupleVariant = Parts;
    type SerializeMap = Key;
    type SerializeStruct = Parts;
    type SerializeStructVariant = Parts;

    without_fractions! {
        serialize_bool: bool, serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64,
        serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64,
        serialize_char: char, serialize_str: &str, serialize_bytes: &[u8], serialize_unit_struct: &'static str,
    }

    fn serialize_f32(self, value: f32) -> Result<(), NotFinite> {
        look(f64::from(value))
    }

    fn serialize_f64(self, value: f64) -> Result<(), NotFinite> {
        look(value)
    }

    fn serialize_none(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_unit(self) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<(), NotFinite> {
        Ok(())
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        value: &T,
    ) -> Result<(), NotFinite> {
        value.serialize(self)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Parts, NotFinite> {
        Ok(Parts(0))
    }

    fn serialize_tuple(self, _: usize) -> Result<Parts, NotFinite> {
        Ok(Parts(0))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Parts, NotFinite> {
        Ok(Parts(0))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts, NotFinite> {
        Ok(Parts(0))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Key, NotFinite> {
        Ok(Key(String::new()))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Parts, NotFinite> {
        Ok(Parts(0))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Parts, NotFinite> {
        Ok(Parts(0))
    }
}

macro_rules! in_order {
    ($($of:ident, $element:ident;)*) => {
        $(impl ser::$of for Parts {
            type Ok = ();
            type Error = NotFinite;

            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
                self.next(value)
            }

            fn end(self) -> Result<(), NotFinite> {
                Ok(())
            }
        })*
    };
}

in_order! {
    SerializeSeq, serialize_element;
    SerializeTuple, serialize_element;
    SerializeTupleStruct, serialize_field;
    SerializeTupleVariant, serialize_field;
}

macro_rules! by_name {
    ($($of:ident,)*) => {
        $(impl ser::$of for Parts {
            type Ok = ();
            type Error = NotFinite;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), NotFinite> {
                finite(value).map_err(|found| within(name, found))
            }

            fn end(self) -> Result<(), NotFinite> {
                Ok(())
            }
        })*
    };
}

by_name! { SerializeStruct, SerializeStructVariant, }

/// The key of the current entry of a map.
#[derive(Debug)]
struct Key(String);

impl ser::SerializeMap for Key {
    type Ok = ();
    type Error = NotFinite;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), NotFinite> {
        self.0 = serde_json::to_string(key).unwrap_or_default();
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), NotFinite> {
        finite(value).map_err(|found| within(&format!("[{}]", self.0), found))
    }

    fn end(self) -> Result<(), NotFinite> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::finite;
    use crate::protocols::{BoundSide, BoundedRegret, Iteration, RegretBound};

    #[test]
    fn a_number_that_is_not_finite_is_found_wherever_it_stands() {
        let good = Iteration {
            t: 1,
            arm: 0,
            outcome: 1.0,
            value: f64::MAX,
            simple_regret: -0.0,
            cumulative_regret: 5e-324,
            seconds: 0.0,
        };
        finite(&[good, good]).unwrap();
        let bad = Iteration { simple_regret: f64::NAN, ..good };
        let found = finite(&(7, vec![good, bad])).unwrap_err();
        assert_eq!(found.to_string(), "[1][1].simple_regret is NaN, not a finite number");
        let bound = RegretBound {
            side: BoundSide::Upper,
            regret: BoundedRegret::Simple,
            source: String::new(),
            caveats: Vec::new(),
            points: vec![(1, 2.0), (2, f64::NEG_INFINITY)],
            largest_possible: 1.0,
        };
        let found = finite(&Some(std::collections::BTreeMap::from([("a b", bound)]))).unwrap_err();
        assert_eq!(found.place, "[\"a b\"].points[1][1]");
        assert_eq!(found.value, "-inf");
    }
}
