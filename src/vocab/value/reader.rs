//! Types are read from a tree of values: the one deserializer of scenarios, account files and members of families.

use super::access::{Chosen, Items};
use super::entry::Entries;
use super::error::{Fault, ReadError};
use super::literal::{Any, whole_numbers};
use super::node::{Body, Node, Number, Part, Scalar};
use super::slot::{self, HAND_OVER};
use serde::de::{Deserializer, Visitor};

/// Reads one value of a tree. A name with nothing in its brackets may be written with or without them; the value of a variant
/// stands in the variant's own brackets, and `Some` may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    node: &'a Node,
    /// Whether what is in the brackets behind the value's name is read, rather than all of it.
    inside: bool,
    /// Whether the tree is from a format in which names are texts and keys, such as JSON.
    is_data: bool,
}

/// What there is, for a type that takes anything.
enum Seen<'a> {
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
        Self { node: part.node, inside: part.inside, is_data: part.is_data }
    }
}

impl<'a> Reader<'a> {
    /// Reads a value of a scenario's text.
    #[must_use]
    pub fn new(node: &'a Node) -> Self {
        Self::whole_of(node, false)
    }

    fn whole_of(node: &'a Node, is_data: bool) -> Self {
        Self { node, inside: false, is_data }
    }

    fn part(self) -> Part<'a> {
        Part { node: self.node, inside: self.inside, is_data: self.is_data }
    }

    /// The value, or the one value inside the brackets of a variant; `otherwise` is what is wrong if there are others.
    fn one(self, otherwise: Fault) -> Result<&'a Node, ReadError> {
        if !self.inside {
            return Ok(self.node);
        }
        match &self.node.body {
            Body::Tuple(items) if items.len() == 1 => Ok(&items[0]),
            _ if self.node.is_empty() => Err(self.needs_content()),
            _ => Err(ReadError::new(otherwise).at(self.node)),
        }
    }

    fn needs_content(self) -> ReadError {
        ReadError::new(Fault::NeedsContent(self.node.name.clone().unwrap_or_default())).at(self.node)
    }

    fn scalar(self, otherwise: Fault) -> Result<(&'a Node, &'a Scalar), ReadError> {
        let node = self.one(otherwise.clone())?;
        match &node.body {
            Body::Leaf(scalar) if node.name.is_none() => Ok((node, scalar)),
            _ => Err(ReadError::new(otherwise).at(node)),
        }
    }

    fn number(self) -> Result<(&'a Node, &'a Number), ReadError> {
        match self.scalar(Fault::NoNumber)? {
            (node, Scalar::Number(number)) => Ok((node, number)),
            (node, _) => Err(ReadError::new(Fault::NoNumber).at(node)),
        }
    }

    fn whole(self, kind: &str, least: i128, most: i128) -> Result<i128, ReadError> {
        let (node, number) = self.number()?;
        number.whole(kind, least, most).map_err(|fault| ReadError::new(fault).at(node))
    }

    fn float(self) -> Result<f64, ReadError> {
        let (node, number) = self.number()?;
        number.float().map_err(|fault| ReadError::new(fault).at(node))
    }

    fn short_float(self) -> Result<f32, ReadError> {
        let (node, number) = self.number()?;
        number.short_float().map_err(|fault| ReadError::new(fault).at(node))
    }

    fn text(self) -> Result<&'a str, ReadError> {
        match self.scalar(Fault::NoText)? {
            (_, Scalar::Text(text)) => Ok(text),
            (node, _) => Err(ReadError::new(Fault::NoText).at(node)),
        }
    }

    fn truth(self) -> Result<bool, ReadError> {
        match self.scalar(Fault::Inconsistency)? {
            (_, Scalar::Truth(value)) => Ok(*value),
            (node, _) => Err(ReadError::new(Fault::Inconsistency).at(node)),
        }
    }

    fn letter(self) -> Result<char, ReadError> {
        let (node, scalar) = self.scalar(Fault::Inconsistency)?;
        let letter = match scalar {
            Scalar::Letter(letter) => Some(*letter),
            Scalar::Text(text) if self.is_data => {
                let mut letters = text.chars();
                letters.next().filter(|_| letters.next().is_none())
            }
            _ => None,
        };
        letter.ok_or_else(|| ReadError::new(Fault::Inconsistency).at(node))
    }

    fn bytes(self) -> Result<&'a [u8], ReadError> {
        match self.scalar(Fault::Inconsistency)? {
            (_, Scalar::Bytes(bytes)) => Ok(bytes),
            (_, Scalar::Text(text)) if self.is_data => Ok(text.as_bytes()),
            (node, _) => Err(ReadError::new(Fault::Inconsistency).at(node)),
        }
    }

    /// Nothing: `()`, or a name with nothing in its brackets, which has to be `name` if there is one.
    fn nothing(self, name: Option<&'static str>) -> Result<(), ReadError> {
        let node = self.node;
        if self.inside {
            let content = || ReadError::new(Fault::TakesNothing(node.name.clone().unwrap_or_default()));
            return if node.is_empty() { Ok(()) } else { Err(content().at(node)) };
        }
        match (&node.name, name) {
            (Some(_), None) => return Err(ReadError::new(Fault::Inconsistency).at(node)),
            (Some(_), Some(expected)) => self.is_called(expected)?,
            (None, _) => {}
        }
        if node.is_empty() { Ok(()) } else { Err(ReadError::new(Fault::Inconsistency).at(node)) }
    }

    /// Refuses a value with the name of another type.
    fn is_called(self, expected: &'static str) -> Result<(), ReadError> {
        match &self.node.name {
            Some(found) if !self.inside && found != expected => {
                Err(ReadError::new(Fault::OtherName { expected, found: found.clone() }).at(self.node))
            }
            _ => Ok(()),
        }
    }

    /// The only value in the brackets of a newtype struct.
    fn unwrapped(self, name: &'static str) -> Result<Self, ReadError> {
        if self.is_data {
            return Ok(self);
        }
        self.is_called(name)?;
        match &self.node.body {
            Body::Tuple(items) if items.len() == 1 => Ok(Self::new(&items[0])),
            _ if self.node.name.is_none() && !self.inside => Ok(self),
            _ if self.node.is_empty() => Err(self.needs_content()),
            _ => Err(ReadError::new(Fault::Inconsistency).at(self.node)),
        }
    }

    /// The items of a tuple.
    fn items(self) -> Result<Items<'a, Self>, ReadError> {
        match &self.node.body {
            Body::Tuple(items) if self.inside || self.node.name.is_none() => {
                Ok(Items::new(items, self.is_data))
            }
            Body::List(items) if self.is_data => Ok(Items::new(items, self.is_data)),
            Body::Leaf(Scalar::Nothing) if !self.is_data => Ok(Items::new(&[], self.is_data)),
            Body::Leaf(Scalar::Name) => Err(self.needs_content()),
            _ => Err(ReadError::new(Fault::Inconsistency).at(self.node)),
        }
    }

    /// The items of a tuple, for a visitor.
    fn tuple<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ReadError> {
        sequence(self.items()?, visitor).map_err(|error| error.at(self.node))
    }

    /// The fields of a struct, which has some of its own or none.
    fn entries(self, has_some: bool) -> Result<Entries<'a, Self>, ReadError> {
        match &self.node.body {
            Body::Fields(entries) if !self.is_data => Ok(Entries::new(entries, false, true)),
            Body::Map(entries) if self.is_data => Ok(Entries::new(entries, true, true)),
            _ if self.node.is_empty() && !self.is_data => Ok(Entries::new(&[], false, true)),
            Body::Tuple(_) if !self.is_data && self.node.name.is_some() => {
                let name = self.node.name.clone().unwrap_or_default();
                let fault = if has_some { Fault::NeedsNames(name) } else { Fault::TakesNothing(name) };
                Err(ReadError::new(fault).at(self.node))
            }
            _ => Err(ReadError::new(Fault::Inconsistency).at(self.node)),
        }
    }

    /// The fields of the struct `name`, for a visitor.
    fn fields<V: Visitor<'a>>(self, name: &str, has_some: bool, visitor: V) -> Result<V::Value, ReadError> {
        // JSON may list the values of a struct without their names.
        if self.is_data && matches!(self.node.body, Body::List(_)) {
            return self.tuple(visitor);
        }
        let owner = if self.inside { self.node.name.as_deref().unwrap_or(name) } else { name };
        visitor.visit_map(self.entries(has_some)?).map_err(|error| error.at(self.node).of(owner))
    }

    /// The items of a list.
    fn list(self) -> Result<(&'a Node, Items<'a, Self>), ReadError> {
        let node = self.one(Fault::NoList)?;
        match &node.body {
            Body::List(items) => Ok((node, Items::new(items, self.is_data))),
            _ => Err(ReadError::new(Fault::NoList).at(node)),
        }
    }

    /// The entries of a map.
    fn map(self) -> Result<(&'a Node, Entries<'a, Self>), ReadError> {
        let node = self.one(Fault::NoMap)?;
        match &node.body {
            Body::Map(entries) => Ok((node, Entries::new(entries, self.is_data, false))),
            _ => Err(ReadError::new(Fault::NoMap).at(node)),
        }
    }

    /// Reads one of several alternatives by its name: `find` has the function that reads what is in its brackets.
    pub(crate) fn member<M>(
        self,
        find: impl FnOnce(&str) -> Option<fn(Reader<'_>) -> Result<M, ReadError>>,
        known: &'static [&'static str],
    ) -> Result<M, ReadError> {
        let node = self.one(Fault::Inconsistency)?;
        let chosen = Chosen::<Self>::of(node, self.is_data).map_err(|error| error.at(node))?;
        let value = match find(chosen.name()) {
            Some(read) => chosen.inside().and_then(read),
            None => Err(ReadError::new(Fault::UnknownName { found: chosen.name().to_owned(), known })),
        };
        value.map_err(|error| chosen.placed(error))
    }

    /// What there is.
    fn seen(self) -> Seen<'a> {
        match (&self.node.body, self.node.name.as_deref()) {
            _ if self.inside && self.node.is_empty() => Seen::Nothing,
            (Body::Tuple(items), _) if self.inside && items.len() == 1 => Seen::Part(&items[0]),
            (Body::Leaf(Scalar::Name), Some("None")) => Seen::None,
            (Body::Tuple(items), Some("Some")) if items.len() == 1 && !self.inside => Seen::Some(&items[0]),
            (Body::Leaf(Scalar::Name | Scalar::Nothing), _) => Seen::Nothing,
            (Body::Leaf(scalar), _) => Seen::Scalar(scalar),
            (Body::Fields(_), _) => Seen::Fields,
            (Body::Tuple(_) | Body::List(_), _) => Seen::Items,
            (Body::Map(_), _) => Seen::Entries,
        }
    }

    fn any<V: Visitor<'a>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match self.seen() {
            Seen::Nothing => visitor.visit_unit(),
            Seen::None => visitor.visit_none(),
            Seen::Some(node) => visitor.visit_some(Self::whole_of(node, self.is_data)),
            Seen::Part(node) => Self::whole_of(node, self.is_data).any(visitor),
            Seen::Fields => visitor.visit_map(self.entries(true)?),
            Seen::Entries => visitor.visit_map(self.map()?.1),
            Seen::Items => match &self.node.body {
                Body::Tuple(items) | Body::List(items) => sequence(Items::new(items, self.is_data), visitor),
                _ => Err(ReadError::new(Fault::Inconsistency)),
            },
            Seen::Scalar(scalar) => match scalar {
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
        .map_err(|error| error.at(self.node))
    }
}

fn sequence<'a, V: Visitor<'a>>(mut items: Items<'a, Reader<'a>>, visitor: V) -> Result<V::Value, ReadError> {
    let value = visitor.visit_seq(&mut items)?;
    items.end()?;
    Ok(value)
}

/// Methods that read a plain value and hand it to a visitor.
macro_rules! plain {
    ($($method:ident $read:ident $visit:ident)+) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
            let value = self.$read()?;
            visitor.$visit(value).map_err(|error: ReadError| error.within(self.place()))
        })+
    };
}

impl Reader<'_> {
    /// Where the value stands, or the one in the brackets of a variant.
    fn place(&self) -> std::ops::Range<usize> {
        self.one(Fault::Inconsistency).unwrap_or(self.node).span.clone()
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
        let node = if self.inside { self.one(Fault::Inconsistency).unwrap_or(self.node) } else { self.node };
        let whole = self.inside && std::ptr::eq(node, self.node);
        let value = match (node.name.as_deref(), &node.body) {
            (Some("None"), Body::Leaf(Scalar::Name)) if !whole => visitor.visit_none(),
            (None, Body::Leaf(Scalar::Nothing)) if self.is_data => visitor.visit_none(),
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
        if name == HAND_OVER {
            let Some(read) = slot::wanted() else { return Err(ReadError::new(Fault::Inconsistency)) };
            slot::leave(read(self.part())?);
            return visitor.visit_unit();
        }
        let inner = self.unwrapped(name)?;
        visitor.visit_newtype_struct(inner).map_err(|error| error.at(inner.node))
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
        self.is_called(name)?;
        let bare = Self { inside: self.inside || self.node.name.is_some(), ..self };
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
        self.is_called(name)?;
        self.fields(name, !fields.is_empty(), visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ReadError> {
        let node = self.one(Fault::Inconsistency)?;
        let chosen = Chosen::<Self>::of(node, self.is_data).map_err(|error| error.at(node))?;
        visitor.visit_enum(chosen).map_err(|error| error.at(node))
    }

    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        match (&self.node.name, &self.node.body) {
            (Some(name), _) => visitor.visit_borrowed_str(name),
            (None, Body::Leaf(Scalar::Text(text))) if self.is_data => visitor.visit_borrowed_str(text),
            _ => Err(ReadError::new(Fault::Inconsistency)),
        }
        .map_err(|error| error.at(self.node))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ReadError> {
        visitor.visit_unit()
    }

    fn is_human_readable(&self) -> bool {
        true
    }
}
