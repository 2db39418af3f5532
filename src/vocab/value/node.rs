//! A value as it is written: names, brackets, fields, and places in the text.

use std::ops::Range;

/// A value and its bytes in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Where it is written; `0..0` where it is from no text.
    pub span: Range<usize>,
    /// Name in front of brackets, as in `Name(..)`, or a bare name.
    pub name: Option<String>,
    /// What it consists of.
    pub body: Body,
}

/// What a value consists of.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `(field: value, ..)`
    Fields(Vec<Entry>),
    /// `(value, ..)`
    Tuple(Vec<Node>),
    /// `[value, ..]`
    List(Vec<Node>),
    /// `{key: value, ..}`
    Map(Vec<Entry>),
    /// A value without parts.
    Leaf(Scalar),
}

/// A value without parts.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// A bare name; the node has it.
    Name,
    /// `()`, or JSON's `null`.
    Nothing,
    /// `true` or `false`.
    Truth(bool),
    /// A number.
    Number(Number),
    /// A character in single quotes.
    Letter(char),
    /// What stands between quotation marks.
    Text(String),
    /// Bytes, as in `b"..."`.
    Bytes(Vec<u8>),
}

/// A number, as far as it is known before it has a type.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// As written: `4_000`, `0xff`, `1e-5`.
    Written(String),
    /// Whole, 0 or above.
    Unsigned(u64),
    /// Whole, below 0.
    Signed(i64),
    /// With a point or an exponent.
    Float(f64),
}

/// A field of a struct or an entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Name of the field, or the key's text without quotes; empty for keys of other kinds.
    pub key: String,
    /// What the key is.
    pub kind: Key,
    /// Where the key is written.
    pub key_span: Range<usize>,
    /// From the key to the comma behind the value, if there is one.
    pub span: Range<usize>,
    /// The value.
    pub value: Node,
}

/// What the key of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The name of a field, or another bare name.
    Name,
    /// A text in quotation marks.
    Text,
    /// Something else.
    Other,
}

/// What is to be read: a value, or what is in the brackets behind its name.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub(super) node: &'a Node,
    /// Whether it is what is in the brackets behind the value's name.
    pub(super) inside: bool,
    /// Whether it is from a format in which names are texts and keys, such as JSON.
    pub(super) is_data: bool,
}

impl<'a> Part<'a> {
    /// A whole value.
    pub(super) fn whole(node: &'a Node, is_data: bool) -> Self {
        Self { node, inside: false, is_data }
    }

    /// What is in the brackets behind the name of a variant.
    pub(super) fn inside(node: &'a Node) -> Self {
        Self { node, inside: true, is_data: false }
    }
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// A field, a map key, or the name of an enum variant.
    Name(String),
    /// A position in a list or tuple.
    Index(usize),
}

impl Node {
    /// A value without parts and without a name.
    #[must_use]
    pub fn leaf(span: Range<usize>, scalar: Scalar) -> Self {
        Self { span, name: None, body: Body::Leaf(scalar) }
    }

    /// The entries of a struct or a map.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.body {
            Body::Fields(entries) | Body::Map(entries) => entries,
            Body::Tuple(_) | Body::List(_) | Body::Leaf(_) => &[],
        }
    }

    /// All values directly inside.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match &self.body {
            Body::Fields(entries) | Body::Map(entries) => entries.iter().map(|e| &e.value).collect(),
            Body::Tuple(items) | Body::List(items) => items.iter().collect(),
            Body::Leaf(_) => Vec::new(),
        }
    }

    /// What stands between quotation marks, if it is a text.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Leaf(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether there is nothing in its brackets, or no bracket: `Name`, `Name()` and `()`.
    pub(super) fn is_empty(&self) -> bool {
        match &self.body {
            Body::Leaf(scalar) => matches!(scalar, Scalar::Name | Scalar::Nothing),
            Body::Fields(entries) => entries.is_empty(),
            Body::Tuple(items) => items.is_empty(),
            Body::List(_) | Body::Map(_) => false,
        }
    }

    /// The one value in its brackets; all of it, if there is none or more than one.
    pub(super) fn content(&self) -> &Self {
        match &self.body {
            Body::Tuple(items) if items.len() == 1 => &items[0],
            _ => self,
        }
    }

    /// Where its name stands, or its first letter.
    pub(super) fn head(&self) -> Range<usize> {
        let length = self.name.as_ref().map_or(1, String::len);
        self.span.start..(self.span.start + length).min(self.span.end)
    }
}
