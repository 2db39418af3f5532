//! Serde access to the items of a list or tuple, and to the variants of an enum.

use super::error::{Fault, ReadError};
use super::node::{Body, Node, Part, Scalar, Step};
use serde::de::value::BorrowedStrDeserializer;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, SeqAccess, VariantAccess, Visitor};
use std::marker::PhantomData;
use std::slice::Iter;

/// The items of a list or a tuple, each read by a deserializer of the type `R`.
pub(super) struct Items<'a, R> {
    rest: Iter<'a, Node>,
    index: usize,
    /// Whether the items are those of a document in JSON, as in [`Part`].
    is_data: bool,
    reader: PhantomData<R>,
}

impl<'a, R> Items<'a, R> {
    pub(super) fn new(items: &'a [Node], is_data: bool) -> Self {
        Self { rest: items.iter(), index: 0, is_data, reader: PhantomData }
    }

    /// Refuses items that are left over after the type has been read.
    pub(super) fn end(&self) -> Result<(), ReadError> {
        if self.rest.len() == 0 { Ok(()) } else { Err(ReadError::new(Fault::OtherKind)) }
    }
}

impl<'de, R: Deserializer<'de, Error = ReadError> + From<Part<'de>>> SeqAccess<'de> for Items<'de, R> {
    type Error = ReadError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, ReadError> {
        let Some(item) = self.rest.next() else { return Ok(None) };
        let index = self.index;
        self.index += 1;
        seed.deserialize(R::from(Part::whole(item, self.is_data)))
            .map(Some)
            .map_err(|error| error.at(item).below(Step::Index(index)))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

/// A variant of an enum in a value: its name and its content, which a deserializer of the type `R` reads.
pub(super) struct Chosen<'a, R> {
    name: &'a str,
    content: Content<'a>,
    node: &'a Node,
    reader: PhantomData<R>,
}

/// The content of a variant.
#[derive(Clone, Copy)]
enum Content<'a> {
    /// RON: the values in the brackets after the name. Empty brackets may be left out.
    Brackets,
    /// JSON: the value whose key is the name.
    Below(&'a Node),
    /// JSON: a text with the name alone.
    Nothing,
}

impl<'a, R: From<Part<'a>>> Chosen<'a, R> {
    /// The variant that a value names.
    pub(super) fn of(node: &'a Node, is_data: bool) -> Result<Self, ReadError> {
        let (name, content) = match (&node.name, &node.body) {
            (Some(name), _) => (name.as_str(), Content::Brackets),
            (None, Body::Leaf(Scalar::Truth(value))) if !is_data => {
                (if *value { "true" } else { "false" }, Content::Brackets)
            }
            (None, Body::Leaf(Scalar::Text(name))) if is_data => (name.as_str(), Content::Nothing),
            (None, Body::Map(entries)) if is_data && entries.len() == 1 => {
                (entries[0].key.as_str(), Content::Below(&entries[0].value))
            }
            _ => return Err(ReadError::new(Fault::OtherKind)),
        };
        Ok(Self { name, content, node, reader: PhantomData })
    }

    /// Identifies the variant by its name.
    fn pick<S: DeserializeSeed<'a>>(&self, seed: S) -> Result<S::Value, ReadError> {
        seed.deserialize(BorrowedStrDeserializer::new(self.name))
    }

    /// The name of the variant.
    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// A reader of the content.
    pub(super) fn inside(&self) -> Result<R, ReadError> {
        match self.content {
            Content::Brackets => Ok(R::from(Part::inside(self.node))),
            Content::Below(value) => Ok(R::from(Part::whole(value, true))),
            Content::Nothing => Err(ReadError::new(Fault::NeedsContent(self.name.to_owned()))),
        }
    }

    /// An error in the content, with its place, and with the variant's name as the next outer step of its path.
    pub(super) fn placed(&self, error: ReadError) -> ReadError {
        let content = match (self.content, error.fault()) {
            (Content::Below(value), _) => value,
            (Content::Brackets, Fault::Refused(_) | Fault::Unfit { .. }) => self.node.content(),
            (Content::Brackets | Content::Nothing, _) => self.node,
        };
        error.at(content).of(self.name).below(Step::Name(self.name.to_owned()))
    }
}

impl<'de, R: Deserializer<'de, Error = ReadError> + From<Part<'de>>> EnumAccess<'de> for Chosen<'de, R> {
    type Error = ReadError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), ReadError> {
        match self.pick(seed) {
            Ok(value) => Ok((value, self)),
            Err(error) => Err(self.placed(error)),
        }
    }
}

impl<'de, R: Deserializer<'de, Error = ReadError> + From<Part<'de>>> VariantAccess<'de> for Chosen<'de, R> {
    type Error = ReadError;

    fn unit_variant(self) -> Result<(), ReadError> {
        let empty = match self.content {
            Content::Brackets => self.node.is_empty() || self.node.name.is_none(),
            Content::Below(value) => matches!(value.body, Body::Leaf(Scalar::Nothing)),
            Content::Nothing => true,
        };
        let takes_nothing = || ReadError::new(Fault::TakesNothing(self.name.to_owned()));
        if empty { Ok(()) } else { Err(self.placed(takes_nothing())) }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ReadError> {
        let value = self.inside().and_then(|inside| seed.deserialize(inside));
        value.map_err(|error| self.placed(error))
    }

    fn tuple_variant<V: Visitor<'de>>(self, length: usize, visitor: V) -> Result<V::Value, ReadError> {
        let value = self.inside().and_then(|inside| inside.deserialize_tuple(length, visitor));
        value.map_err(|error| self.placed(error))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let value = self.inside().and_then(|inside| inside.deserialize_struct("", fields, visitor));
        value.map_err(|error| self.placed(error))
    }
}
