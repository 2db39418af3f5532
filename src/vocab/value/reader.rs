//! The deserializer that reads types from a tree of values, for scenarios, account files and members of families.

use super::access::{Chosen, Items};
use super::entry::Entries;
use super::error::{Fault, ReadError};
use super::literal::{Any, whole_numbers};
use super::node::{Body, Node, Number, Part, Scalar};
use super::slot::{self, SLOT_STRUCT};
use serde::de::{Deserializer, Visitor};

/// Deserialises one value of a tree. In the text of a scenario, `Some` and empty brackets after a name may be left out.
/// The content of a newtype variant is written directly in the brackets of the variant.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a>(Part<'a>);

/// The kind of a value, for a type that accepts any value.
enum ValueKind<'a> {
    Nothing,
    None,
    Some(&'a Node),
    Scalar(&'a Scalar),
    Fields,
    Items,
    Entries,
    Part(&'a Node),
}

impl<'a> From<Part<'a>> for Reader<'a> {
    fn from(part: Part<'a>) -> Self {
        Self(part)
    }
}

impl<'a> Reader<'a> {
    /// Reads a value of a scenario's text.
    #[must_use]
    pub fn new(node: &'a Node) -> Self {
        Self(Part::whole(node, false))
    }

    /// The value, or the only value in the brackets of a variant. `otherwise` is the fault if the brackets contain anything
    /// other than one value, except that for empty brackets it is [`Fault::NeedsContent`].
    fn one(self, otherwise: Fault) -> Result<&'a Node, ReadError> {
        if !self.0.inside {
            return Ok(self.0.node);
        }
        match &self.0.node.body {
            Body::Tuple(items) if items.len() == 1 => Ok(&items[0]),
            _ if self.0.node.is_empty() => Err(self.needs_content()),
            _ => Err(ReadError::new(otherwise).at(self.0.node)),
        }
    }

    fn needs_content(self) -> ReadError {
        ReadError::new(Fault::NeedsContent(self.0.node.name.clone().unwrap_or_default())).at(self.0.node)
    }

    fn scalar(self, otherwise: Fault) -> Result<(&'a Node, &'a Scalar), ReadError> {
        let node = self.one(otherwise.clone())?;
        match &node.body {
            Body::Leaf(scalar) if node.name.is_none() => Ok((node, scalar)),
            _ => Err(ReadError::new(otherwise).at(node)),
        }
    }

    /// A number, converted by `read`.
    fn number<T>(self, read: impl FnOnce(&Number) -> Result<T, Fault>) -> Result<T, ReadError> {
        let (node, scalar) = self.scalar(Fault::NoNumber)?;
        let found = match scalar {
            Scalar::Number(number) => read(number),
            _ => Err(Fault::NoNumber),
        };
        found.map_err(|fault| ReadError::new(fault).at(node))
    }

    fn whole(self, kind: &str, least: i128, most: i128) -> Result<i128, ReadError> {
        self.number(|number| number.whole(kind, least, most))
    }

    fn float(self) -> Result<f64, ReadError> {
        self.number(Number::float)
    }

    fn short_float(self) -> Result<f32, ReadError> {
        self.number(Number::short_float)
    }

    fn text(self) -> Result<&'a str, ReadError> {
        match self.scalar(Fault::NoText)? {
            (_, Scalar::Text(text)) => Ok(text),
            (node, _) => Err(ReadError::new(Fault::NoText).at(node)),
        }
    }

    fn truth(self) -> Result<bool, ReadError> {
        match self.scalar(Fault::OtherKind)? {
            (_, Scalar::Truth(value)) => Ok(*value),
            (node, _) => Err(ReadError::new(Fault::OtherKind).at(node)),
        }
    }

    fn letter(self) -> Result<char, ReadError> {
        let (node, scalar) = self.scalar(Fault::OtherKind)?;
        let letter = match scalar {
            Scalar::Letter(letter) => Some(*letter),
            Scalar::Text(text) if self.0.is_data => {
                let mut letters = text.chars();
                letters.next().filter(|_| letters.next().is_none())
            }
            _ => None,
        };
        letter.ok_or_else(|| ReadError::new(Fault::OtherKind).at(node))
    }

    fn bytes(self) -> Result<&'a [u8], ReadError> {
        match self.scalar(Fault::OtherKind)? {
            (_, Scalar::Bytes(bytes)) => Ok(bytes),
            (_, Scalar::Text(text)) if self.0.is_data => Ok(text.as_bytes()),
            (node, _) => Err(ReadError::new(Fault::OtherKind).at(node)),
        }
    }

    /// Checks that the value, or the content of the brackets after its name, is empty. In the first
    /// case, the value may have no name other than `name`.
    fn nothing(self, name: Option<&'static str>) -> Result<(), ReadError> {
        let node = self.0.node;
        if self.0.inside {
            let content = || ReadError::new(Fault::TakesNothing(node.name.clone().unwrap_or_default()));
            return if node.is_empty() { Ok(()) } else { Err(content().at(node)) };
        }
        match (&node.name, name) {
            (Some(_), None) => return Err(ReadError::new(Fault::OtherKind).at(node)),
            (Some(_), Some(expected)) => self.expect_type_name(expected)?,
            (None, _) => {}
        }
        if node.is_empty() { Ok(()) } else { Err(ReadError::new(Fault::OtherKind).at(node)) }
    }

    /// Refuses a value whose name differs from the name of the type.
    fn expect_type_name(self, expected: &'static str) -> Result<(), ReadError> {
        match &self.0.node.name {
            Some(found) if !self.0.inside && found != expected => {
                Err(ReadError::new(Fault::OtherName { expected, found: found.clone() }).at(self.0.node))
            }
            _ => Ok(()),
        }
    }

    /// The content of a newtype struct. In JSON it is the value itself. In a scenario it is the only value in the brackets
    /// or, for a value without such brackets and without a name, the value itself.
    fn unwrapped(self, name: &'static str) -> Result<Self, ReadError> {
        if self.0.is_data {
            return Ok(self);
        }
        self.expect_type_name(name)?;
        match &self.0.node.body {
            Body::Tuple(items) if items.len() == 1 => Ok(Self::new(&items[0])),
            _ if self.0.node.name.is_none() && !self.0.inside => Ok(self),
            _ if self.0.node.is_empty() => Err(self.needs_content()),
            _ => Err(ReadError::new(Fault::OtherKind).at(self.0.node)),
        }
    }

    /// The items of a tuple.
    fn items(self) -> Result<Items<'a, Self>, ReadError> {
        match &self.0.node.body {
            Body::Tuple(items) if self.0.inside || self.0.node.name.is_none() => {
                Ok(Items::new(items, self.0.is_data))
            }
            Body::List(items) if self.0.is_data => Ok(Items::new(items, self.0.is_data)),
            Body::Leaf(Scalar::Nothing) if !self.0.is_data => Ok(Items::new(&[], self.0.is_data)),
            Body::Leaf(Scalar::Name) => Err(self.needs_content()),
            _ => Err(ReadError::new(Fault::OtherKind).at(self.0.node)),
        }
    }

    /// Reads a tuple by a visitor of its items.
    fn tuple<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ReadError> {
        sequence(self.items()?, visitor).map_err(|error| error.at(self.0.node))
    }

    /// The fields of the struct `name`; `has_some` says whether this struct has any fields.
    fn entries(self, name: &str, has_some: bool) -> Result<Entries<'a, Self>, ReadError> {
        match &self.0.node.body {
            Body::Fields(entries) if !self.0.is_data => Ok(Entries::new(entries, false, true)),
            Body::Map(entries) if self.0.is_data => Ok(Entries::new(entries, true, true)),
            _ if self.0.node.is_empty() && !self.0.is_data => Ok(Entries::new(&[], false, true)),
            Body::Tuple(_) if !self.0.is_data && self.0.node.name.is_some() => {
                let name = self.0.node.name.clone().unwrap_or_default();
                let fault = if has_some { Fault::NeedsNames(name) } else { Fault::TakesNothing(name) };
                Err(ReadError::new(fault).at(self.0.node))
            }
            _ => Err(ReadError::new(Fault::NoFields(name.to_owned())).at(self.0.node)),
        }
    }

    /// Reads the struct `name` by a visitor of its fields.
    fn fields<V: Visitor<'a>>(self, name: &str, has_some: bool, visitor: V) -> Result<V::Value, ReadError> {
        // JSON may list the values of a struct without their names.
        if self.0.is_data && matches!(self.0.node.body, Body::List(_)) {
            return self.tuple(visitor);
        }
        let owner = if self.0.inside { self.0.node.name.as_deref().unwrap_or(name) } else { name };
        visitor.visit_map(self.entries(name, has_some)?).map_err(|error| error.at(self.0.node).of(owner))
    }

    /// The items of a list.
    fn list(self) -> Result<(&'a Node, Items<'a, Self>), ReadError> {
        let node = self.one(Fault::NoList)?;
        match &node.body {
            Body::List(items) => Ok((node, Items::new(items, self.0.is_data))),
            _ => Err(ReadError::new(Fault::NoList).at(node)),
        }
    }

    /// The entries of a map.
    fn map(self) -> Result<(&'a Node, Entries<'a, Self>), ReadError> {
        let node = self.one(Fault::NoMap)?;
        match &node.body {
            Body::Map(entries) => Ok((node, Entries::new(entries, self.0.is_data, false))),
            _ => Err(ReadError::new(Fault::NoMap).at(node)),
        }
    }

    /// Reads a member of a family: `find` returns, for a name, the function that reads the content of the brackets after it;
    /// `known` are the names of all members, for error messages.
    pub(crate) fn member<M>(
        self,
        find: impl FnOnce(&str) -> Option<fn(Reader<'_>) -> Result<M, ReadError>>,
        known: &'static [&'static str],
    ) -> Result<M, ReadError> {
        let node = self.one(Fault::OtherKind)?;
        let chosen = Chosen::<Self>::of(node, self.0.is_data).map_err(|error| error.at(node))?;
        let value = match find(chosen.name()) {
            Some(read) => chosen.inside().and_then(read),
            None => Err(ReadError::new(Fault::UnknownName { found: chosen.name().to_owned(), known })),
        };
        value.map_err(|error| chosen.placed(error))
    }

    /// The kind of the value.
    fn seen(self) -> ValueKind<'a> {
        match (&self.0.node.body, self.0.node.name.as_deref()) {
            _ if self.0.inside && self.0.node.is_empty() => ValueKind::Nothing,
            (Body::Tuple(items), _) if self.0.inside && items.len() == 1 => ValueKind::Part(&items[0]),
            (Body::Leaf(Scalar::Name), Some("None")) => ValueKind::None,
            (Body::Tuple(items), Some("Some")) if items.len() == 1 && !self.0.inside => {
                ValueKind::Some(&items[0])
            }
            (Body::Leaf(Scalar::Name | Scalar::Nothing), _) => ValueKind::Nothing,
            (Body::Leaf(scalar), _) => ValueKind::Scalar(scalar),
            (Body::Fields(_), _) => ValueKind::Fields,
            (Body::Tuple(_) | Body::List(_), _) => ValueKind::Items,
            (Body::Map(_), _) => ValueKind::Entries,
        }
    }

    fn any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.seen() {
            ValueKind::Nothing => visitor.visit_unit(),
            ValueKind::None => visitor.visit_none(),
            ValueKind::Some(node) => visitor.visit_some(Self(Part::whole(node, self.0.is_data))),
            ValueKind::Part(node) => Self(Part::whole(node, self.0.is_data)).any(visitor),
            ValueKind::Fields => visitor.visit_map(self.entries("Struct", true)?),
            ValueKind::Entries => visitor.visit_map(self.map()?.1),
            ValueKind::Items => match &self.0.node.body {
                Body::Tuple(items) | Body::List(items) => {
                    sequence(Items::new(items, self.0.is_data), visitor)
                }
                _ => Err(ReadError::new(Fault::OtherKind)),
            },
            ValueKind::Scalar(scalar) => match scalar {
                Scalar::Name | Scalar::Nothing => visitor.visit_unit(),
                Scalar::Truth(value) => visitor.visit_bool(*value),
                Scalar::Letter(letter) => visitor.visit_char(*letter),
                Scalar::Text(text) => visitor.visit_borrowed_str(text),
                Scalar::Bytes(bytes) => visitor.visit_borrowed_bytes(bytes),
                Scalar::Number(number) => match number.any().map_err(ReadError::new)? {
                    Any::Unsigned(value) => visitor.visit_u64(value),
                    Any::Signed(value) => visitor.visit_i64(value),
                    Any::Float(value) => visitor.visit_f64(value),
                },
            },
        }
        .map_err(|error| error.at(self.0.node))
    }
}

fn sequence<'a, V: Visitor<'a>>(mut items: Items<'a, Reader<'a>>, visitor: V) -> Result<V::Value, ReadError> {
    let value = visitor.visit_seq(&mut items)?;
    items.end()?;
    Ok(value)
}

/// Writes the methods that read a simple value and pass it to a visitor.
macro_rules! plain {
    ($($method:ident $read:ident $visit:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            let value = self.$read()?;
            visitor.$visit(value).map_err(|error: ReadError| error.within(self.place()))
        })+
    };
}

impl Reader<'_> {
    /// The place of the value, or of the only value in the brackets of a variant.
    fn place(&self) -> std::ops::Range<usize> {
        self.one(Fault::OtherKind).unwrap_or(self.0.node).span.clone()
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = ReadError;

    whole_numbers! {}

    plain! {
        deserialize_bool truth visit_bool
        deserialize_f32 short_float visit_f32
        deserialize_f64 float visit_f64
        deserialize_char letter visit_char
        deserialize_str text visit_borrowed_str
        deserialize_string text visit_borrowed_str
        deserialize_bytes bytes visit_borrowed_bytes
        deserialize_byte_buf bytes visit_borrowed_bytes
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.any(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let node =
            if self.0.inside { self.one(Fault::OtherKind).unwrap_or(self.0.node) } else { self.0.node };
        let whole = self.0.inside && std::ptr::eq(node, self.0.node);
        let value = match (node.name.as_deref(), &node.body) {
            (Some("None"), Body::Leaf(Scalar::Name)) if !whole => visitor.visit_none(),
            (None, Body::Leaf(Scalar::Nothing)) if self.0.is_data => visitor.visit_none(),
            (Some("Some"), Body::Tuple(items)) if items.len() == 1 && !whole => {
                visitor.visit_some(Self::new(&items[0])).map_err(|error: ReadError| error.at(&items[0]))
            }
            _ => visitor.visit_some(self),
        };
        value.map_err(|error| error.at(node))
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        self.nothing(None)?;
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.nothing(Some(name))?;
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        if name == SLOT_STRUCT {
            let Some(read) = slot::wanted() else { return Err(ReadError::new(Fault::OtherKind)) };
            slot::leave(read(self.0)?);
            return visitor.visit_unit();
        }
        let inner = self.unwrapped(name)?;
        visitor.visit_newtype_struct(inner).map_err(|error| error.at(inner.0.node))
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (node, items) = self.list()?;
        sequence(items, visitor).map_err(|error| error.at(node))
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ReadError> {
        self.tuple(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.expect_type_name(name)?;
        let bare = Self(Part { inside: self.0.inside || self.0.node.name.is_some(), ..self.0 });
        bare.tuple(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        let (node, entries) = self.map()?;
        visitor.visit_map(entries).map_err(|error| error.at(node))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        self.expect_type_name(name)?;
        self.fields(name, !fields.is_empty(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let node = self.one(Fault::OtherKind)?;
        let chosen = Chosen::<Self>::of(node, self.0.is_data).map_err(|error| error.at(node))?;
        visitor.visit_enum(chosen).map_err(|error| error.at(node))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match (&self.0.node.name, &self.0.node.body) {
            (Some(name), _) => visitor.visit_borrowed_str(name),
            (None, Body::Leaf(Scalar::Text(text))) if self.0.is_data => visitor.visit_borrowed_str(text),
            _ => Err(ReadError::new(Fault::OtherKind)),
        }
        .map_err(|error| error.at(self.0.node))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        true
    }
}
