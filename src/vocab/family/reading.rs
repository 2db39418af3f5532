//! A value is read by a function pointer, from any format, and its errors stay what the format's own reader made of them.
//!
//! A registry calls its members' readers through a type-erased deserializer, which would turn every error into a text. A
//! scenario's reader needs more than that: which field is unknown, which names there are. So each error of the format is
//! put aside on the way through the erased part, and taken up again behind it.

use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Expected, MapAccess, SeqAccess, Unexpected,
    VariantAccess, Visitor,
};
use std::cell::Cell;
use std::fmt;

/// Reads a value, told nothing of the format.
pub(super) type Reader<M> =
    for<'a, 'de> fn(&'a mut (dyn erased_serde::Deserializer<'de> + 'a)) -> Result<M, erased_serde::Error>;

/// Reads a value by a function pointer.
pub(super) fn read<'de, M, D: Deserializer<'de>>(reader: Reader<M>, from: D) -> Result<M, D::Error> {
    let slot = Slot::new();
    let mut erased = <dyn erased_serde::Deserializer<'_>>::erase(Keeping { inner: from, slot: &slot });
    let value = reader(&mut erased);
    value.map_err(|error| slot.back(de::Error::custom(error)))
}

/// Where an error of the format waits.
struct Slot<E>(Cell<Option<E>>);

impl<E: de::Error> Slot<E> {
    fn new() -> Self {
        Self(Cell::new(None))
    }

    /// Puts the format's error aside.
    fn keep(&self, error: E) -> Raised {
        self.0.set(Some(error));
        Raised::Kept
    }

    /// The format's error for what was raised: the one put aside, or a new one.
    fn back(&self, raised: Raised) -> E {
        match raised {
            Raised::Kept => self.0.take().unwrap_or_else(|| E::custom("the value cannot be read")),
            Raised::Custom(words) => E::custom(words),
            Raised::Type(found, expected) => E::invalid_type(found.borrowed(), &expected.as_str()),
            Raised::Value(found, expected) => E::invalid_value(found.borrowed(), &expected.as_str()),
            Raised::Length(length, expected) => E::invalid_length(length, &expected.as_str()),
            Raised::Variant(found, names) => E::unknown_variant(&found, names),
            Raised::Field(found, names) => E::unknown_field(&found, names),
            Raised::Missing(name) => E::missing_field(name),
            Raised::Twice(name) => E::duplicate_field(name),
        }
    }
}

/// An error on its way through the erased part.
#[derive(Debug)]
enum Raised {
    /// The format's own, in the slot.
    Kept,
    Custom(String),
    Type(Found, String),
    Value(Found, String),
    Length(usize, String),
    Variant(String, &'static [&'static str]),
    Field(String, &'static [&'static str]),
    Missing(&'static str),
    Twice(&'static str),
}

/// What [`Raised::Kept`] is called where only texts pass; no message of a reader is this.
const KEPT: &str = "\u{1}kept\u{1}";

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => f.write_str(KEPT),
            Self::Custom(words) => f.write_str(words),
            other => write!(f, "{other:?}"),
        }
    }
}

impl std::error::Error for Raised {}

impl de::Error for Raised {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let words = message.to_string();
        if words == KEPT { Self::Kept } else { Self::Custom(words) }
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Type(Found::of(found), expected.to_string())
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::Value(Found::of(found), expected.to_string())
    }

    fn invalid_length(length: usize, expected: &dyn Expected) -> Self {
        Self::Length(length, expected.to_string())
    }

    fn unknown_variant(found: &str, names: &'static [&'static str]) -> Self {
        Self::Variant(found.to_owned(), names)
    }

    fn unknown_field(found: &str, names: &'static [&'static str]) -> Self {
        Self::Field(found.to_owned(), names)
    }

    fn missing_field(name: &'static str) -> Self {
        Self::Missing(name)
    }

    fn duplicate_field(name: &'static str) -> Self {
        Self::Twice(name)
    }
}

/// [`Unexpected`], owned where it may borrow.
#[derive(Debug)]
enum Found {
    Plain(Unexpected<'static>),
    Text(String),
    Bytes(Vec<u8>),
    Other(String),
}

impl Found {
    fn of(found: Unexpected<'_>) -> Self {
        Self::Plain(match found {
            Unexpected::Str(text) => return Self::Text(text.to_owned()),
            Unexpected::Bytes(bytes) => return Self::Bytes(bytes.to_owned()),
            Unexpected::Other(words) => return Self::Other(words.to_owned()),
            Unexpected::Bool(value) => Unexpected::Bool(value),
            Unexpected::Unsigned(value) => Unexpected::Unsigned(value),
            Unexpected::Signed(value) => Unexpected::Signed(value),
            Unexpected::Float(value) => Unexpected::Float(value),
            Unexpected::Char(value) => Unexpected::Char(value),
            Unexpected::Unit => Unexpected::Unit,
            Unexpected::Option => Unexpected::Option,
            Unexpected::NewtypeStruct => Unexpected::NewtypeStruct,
            Unexpected::Seq => Unexpected::Seq,
            Unexpected::Map => Unexpected::Map,
            Unexpected::Enum => Unexpected::Enum,
            Unexpected::UnitVariant => Unexpected::UnitVariant,
            Unexpected::NewtypeVariant => Unexpected::NewtypeVariant,
            Unexpected::TupleVariant => Unexpected::TupleVariant,
            Unexpected::StructVariant => Unexpected::StructVariant,
        })
    }

    fn borrowed(&self) -> Unexpected<'_> {
        match self {
            Self::Plain(found) => *found,
            Self::Text(text) => Unexpected::Str(text),
            Self::Bytes(bytes) => Unexpected::Bytes(bytes),
            Self::Other(words) => Unexpected::Other(words),
        }
    }
}

/// A deserializer, or access to parts of a value, whose errors are put aside.
struct Keeping<'s, X, E> {
    inner: X,
    slot: &'s Slot<E>,
}

/// A visitor or a seed: what it is given keeps errors.
struct Passing<X>(X);

/// Methods that hand a visitor on.
macro_rules! hand_on {
    ($($method:ident($($argument:ident: $kind:ty),*))+) => {
        $(fn $method<V: Visitor<'de>>(self, $($argument: $kind,)* visitor: V) -> Result<V::Value, Raised> {
            self.inner.$method($($argument,)* Passing(visitor)).map_err(|error| self.slot.keep(error))
        })+
    };
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Keeping<'_, D, D::Error> {
    type Error = Raised;

    hand_on! {
        deserialize_any()
        deserialize_bool()
        deserialize_i8()
        deserialize_i16()
        deserialize_i32()
        deserialize_i64()
        deserialize_i128()
        deserialize_u8()
        deserialize_u16()
        deserialize_u32()
        deserialize_u64()
        deserialize_u128()
        deserialize_f32()
        deserialize_f64()
        deserialize_char()
        deserialize_str()
        deserialize_string()
        deserialize_bytes()
        deserialize_byte_buf()
        deserialize_option()
        deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_newtype_struct(name: &'static str)
        deserialize_seq()
        deserialize_tuple(length: usize)
        deserialize_tuple_struct(name: &'static str, length: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
        deserialize_enum(name: &'static str, variants: &'static [&'static str])
        deserialize_identifier()
        deserialize_ignored_any()
    }

    fn is_human_readable(&self) -> bool {
        self.inner.is_human_readable()
    }
}

/// Methods that hand a plain value on: no error of the format can be inside.
macro_rules! plain {
    ($($method:ident($kind:ty))+) => {
        $(fn $method<E: de::Error>(self, value: $kind) -> Result<V::Value, E> {
            self.0.$method(value)
        })+
    };
}

/// Methods that hand a part of the value on, each error of which is put aside in a slot of its own.
macro_rules! part {
    ($($method:ident($access:ident))+) => {
        $(fn $method<A: $access<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
            let slot = Slot::new();
            self.0.$method(Keeping { inner, slot: &slot }).map_err(|raised| slot.back(raised))
        })+
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Passing<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.expecting(f)
    }

    plain! {
        visit_bool(bool)
        visit_i8(i8)
        visit_i16(i16)
        visit_i32(i32)
        visit_i64(i64)
        visit_i128(i128)
        visit_u8(u8)
        visit_u16(u16)
        visit_u32(u32)
        visit_u64(u64)
        visit_u128(u128)
        visit_f32(f32)
        visit_f64(f64)
        visit_char(char)
        visit_str(&str)
        visit_borrowed_str(&'de str)
        visit_string(String)
        visit_bytes(&[u8])
        visit_borrowed_bytes(&'de [u8])
        visit_byte_buf(Vec<u8>)
    }

    fn visit_none<E: de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_none()
    }

    fn visit_unit<E: de::Error>(self) -> Result<V::Value, E> {
        self.0.visit_unit()
    }

    part! {
        visit_some(Deserializer)
        visit_newtype_struct(Deserializer)
        visit_seq(SeqAccess)
        visit_map(MapAccess)
        visit_enum(EnumAccess)
    }
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Passing<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        let slot = Slot::new();
        self.0.deserialize(Keeping { inner, slot: &slot }).map_err(|raised| slot.back(raised))
    }
}

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Keeping<'_, A, A::Error> {
    type Error = Raised;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Raised> {
        self.inner.next_element_seed(Passing(seed)).map_err(|error| self.slot.keep(error))
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Keeping<'_, A, A::Error> {
    type Error = Raised;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Raised> {
        self.inner.next_key_seed(Passing(seed)).map_err(|error| self.slot.keep(error))
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Raised> {
        self.inner.next_value_seed(Passing(seed)).map_err(|error| self.slot.keep(error))
    }

    fn size_hint(&self) -> Option<usize> {
        self.inner.size_hint()
    }
}

impl<'de, 's, A: EnumAccess<'de>> EnumAccess<'de> for Keeping<'s, A, A::Error> {
    type Error = Raised;
    type Variant = Keeping<'s, A::Variant, A::Error>;

    fn variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<(T::Value, Self::Variant), Raised> {
        let slot = self.slot;
        let named = self.inner.variant_seed(Passing(seed)).map_err(|error| slot.keep(error));
        named.map(|(value, inner)| (value, Keeping { inner, slot }))
    }
}

impl<'de, A: VariantAccess<'de>> VariantAccess<'de> for Keeping<'_, A, A::Error> {
    type Error = Raised;

    fn unit_variant(self) -> Result<(), Raised> {
        self.inner.unit_variant().map_err(|error| self.slot.keep(error))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Raised> {
        self.inner.newtype_variant_seed(Passing(seed)).map_err(|error| self.slot.keep(error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, Raised> {
        self.inner.tuple_variant(length, Passing(visitor)).map_err(|error| self.slot.keep(error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Raised> {
        self.inner.struct_variant(fields, Passing(visitor)).map_err(|error| self.slot.keep(error))
    }
}
