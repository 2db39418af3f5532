//! The tree of a value as written, with names, brackets, fields, and places in the text.

use std::ops::Range;

/// A value with its place in the text.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The bytes of the value in the text; `0..0` if the value does not come from a text.
    pub span: Range<usize>,
    /// The name in front of the brackets, as in `Name(..)`, or a name without brackets.
    pub name: Option<String>,
    /// The content of the value.
    pub body: Body,
}

/// The content of a value.
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
    /// A name without brackets, which is [`Node::name`].
    Name,
    /// `()`, or JSON's `null`.
    Nothing,
    /// `true` or `false`.
    Truth(bool),
    /// A number.
    Number(Number),
    /// A character in single quotes.
    Letter(char),
    /// A text, without its quotation marks and with escapes replaced.
    Text(String),
    /// Bytes, as in `b"..."`.
    Bytes(Vec<u8>),
}

/// A number before its type is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Number {
    /// As written: `4_000`, `0xff`, `1e-5`.
    Written(String),
    /// A whole number, 0 or above.
    Unsigned(u64),
    /// A whole number below 0.
    Signed(i64),
    /// A floating-point number.
    Float(f64),
}

/// A field of a struct or an entry of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The name of the field, or the key's text without quotes. For a key of any other kind: its name if it has one, else
    /// empty.
    pub key: String,
    /// The kind of the key.
    pub kind: Key,
    /// The bytes of the key in the text.
    pub key_span: Range<usize>,
    /// The bytes from the key to the end of the value, or to the end of the comma after the value if there is a comma.
    pub span: Range<usize>,
    /// The value.
    pub value: Node,
}

/// The kind of an entry's key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// The name of a field, or another name without quotes.
    Name,
    /// A text in quotation marks.
    Text,
    /// Any other value.
    Other,
}

/// The input of a reader: a whole value, or only the content of the brackets after its name.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    pub(super) node: &'a Node,
    /// Whether only the content of the brackets is read.
    pub(super) inside: bool,
    /// Whether the value comes from a format, such as JSON, in which the names of variants are texts or keys.
    pub(super) is_data: bool,
}

impl<'a> Part<'a> {
    /// A whole value.
    pub(super) fn whole(node: &'a Node, is_data: bool) -> Self {
        Self { node, inside: false, is_data }
    }

    /// Whether this is a text in quotation marks, or a variant that holds one.
    pub(crate) fn is_text(self) -> bool {
        let node = match &self.node.body {
            Body::Tuple(items) if self.inside && items.len() == 1 => &items[0],
            _ => self.node,
        };
        node.name.is_none() && matches!(node.body, Body::Leaf(Scalar::Text(_)))
    }

    /// Whether this is a list, or a variant that holds one.
    pub(crate) fn is_list(self) -> bool {
        let node = match &self.node.body {
            Body::Tuple(items) if self.inside && items.len() == 1 => &items[0],
            _ => self.node,
        };
        node.name.is_none() && matches!(node.body, Body::List(_))
    }

    /// The content of the brackets after the name of a variant in a scenario's text.
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

    /// The values directly inside.
    #[must_use]
    pub fn children(&self) -> Vec<&Self> {
        match &self.body {
            Body::Fields(entries) | Body::Map(entries) => entries.iter().map(|e| &e.value).collect(),
            Body::Tuple(items) | Body::List(items) => items.iter().collect(),
            Body::Leaf(_) => Vec::new(),
        }
    }

    /// The text, if the value is one.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            Body::Leaf(Scalar::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether the value has no content: `Name`, `Name()` and `()`.
    pub(super) fn is_empty(&self) -> bool {
        match &self.body {
            Body::Leaf(scalar) => matches!(scalar, Scalar::Name | Scalar::Nothing),
            Body::Fields(entries) => entries.is_empty(),
            Body::Tuple(items) => items.is_empty(),
            Body::List(_) | Body::Map(_) => false,
        }
    }

    /// The only value in the brackets; the whole node if there is none or more than one.
    pub(super) fn content(&self) -> &Self {
        match &self.body {
            Body::Tuple(items) if items.len() == 1 => &items[0],
            _ => self,
        }
    }

    /// The range of bytes of the name in the text; the first byte of the value if it has no name.
    pub(super) fn head(&self) -> Range<usize> {
        let length = self.name.as_ref().map_or(1, String::len);
        self.span.start..(self.span.start + length).min(self.span.end)
    }
}
