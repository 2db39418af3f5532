//! Serde access to the fields of a struct or the entries of a map, and to their keys.

use super::error::{Fault, ReadError};
use super::literal::whole_numbers;
use super::node::{Entry, Key, Number, Part, Step};
use serde::de::{DeserializeSeed, Deserializer, IntoDeserializer, MapAccess, Visitor};
use serde::forward_to_deserialize_any;
use std::marker::PhantomData;
use std::slice::Iter;

/// The fields of a struct or the entries of a map. Their values are read by a deserializer of the type `R`.
pub(super) struct Entries<'a, R> {
    rest: Iter<'a, Entry>,
    /// The entry whose key was read last and whose value is read next.
    current: Option<&'a Entry>,
    /// Whether the entries come from a format, such as JSON, in which the names of variants are texts or keys.
    is_data: bool,
    /// Whether the keys are names of fields.
    are_fields: bool,
    reader: PhantomData<R>,
}

impl<'a, R> Entries<'a, R> {
    pub(super) fn new(entries: &'a [Entry], is_data: bool, are_fields: bool) -> Self {
        Self { rest: entries.iter(), current: None, is_data, are_fields, reader: PhantomData }
    }
}

impl<'de, R: Deserializer<'de, Error = ReadError> + From<Part<'de>>> MapAccess<'de> for Entries<'de, R> {
    type Error = ReadError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ReadError> {
        self.current = self.rest.next();
        let Some(entry) = self.current else { return Ok(None) };
        let key = KeyReader { entry, is_data: self.is_data, is_field: self.are_fields };
        let key = seed.deserialize(key);
        key.map(Some).map_err(|error| key_error(error, entry))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ReadError> {
        let Some(entry) = self.current.take() else { return Err(ReadError::new(Fault::OtherKind)) };
        seed.deserialize(R::from(Part::whole(&entry.value, self.is_data)))
            .map_err(|error| error.at(&entry.value).below(Step::Name(entry.key.clone())))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

fn key_error(error: ReadError, entry: &Entry) -> ReadError {
    error.within(entry.key_span.clone()).below(Step::Name(entry.key.clone()))
}

/// Reads the key of an entry.
struct KeyReader<'a> {
    entry: &'a Entry,
    is_data: bool,
    is_field: bool,
}

impl<'a> KeyReader<'a> {
    /// The key as a text, if it is a quoted text or the name of a field.
    fn text(&self) -> Result<&'a str, ReadError> {
        let fits = match self.entry.kind {
            Key::Text => true,
            Key::Name => self.is_field,
            Key::Other => false,
        };
        if fits { Ok(&self.entry.key) } else { Err(ReadError::new(Fault::NoText)) }
    }

    fn place(&self) -> std::ops::Range<usize> {
        self.entry.key_span.clone()
    }

    /// The key as a whole number; only in formats such as JSON, which write such keys as texts.
    fn whole(&self, kind: &str, least: i128, most: i128) -> Result<i128, ReadError> {
        if !self.is_data {
            return Err(ReadError::new(Fault::OtherKind));
        }
        Number::Written(self.entry.key.clone()).whole(kind, least, most).map_err(ReadError::new)
    }
}

impl<'de> Deserializer<'de> for KeyReader<'de> {
    type Error = ReadError;

    whole_numbers! {}

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        if self.entry.kind == Key::Other {
            return Err(ReadError::new(Fault::OtherKind));
        }
        visitor.visit_borrowed_str(&self.entry.key)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let fits = if self.is_data { Key::Text } else { Key::Name };
        if self.entry.kind != fits {
            return Err(ReadError::new(Fault::OtherKind));
        }
        visitor.visit_enum(self.entry.key.as_str().into_deserializer())
    }

    fn is_human_readable(&self) -> bool {
        true
    }

    forward_to_deserialize_any! {
        bool i128 u128 f32 f64 char bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
