//! Reads a value of any self-describing format, such as JSON, into a tree.

use super::node::{Body, Entry, Key, Node, Number, Scalar};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// The tree of a value that is written in another format than RON. In this tree, the name of an enum variant is a text or a
/// key, and all spans (places in the source text) are unknown: `0..0`.
pub(super) struct Foreign(pub(super) Node);

impl<'de> Deserialize<'de> for Foreign {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyVisitor).map(Self)
    }
}

/// A visitor that accepts any value.
struct AnyVisitor;

fn leaf<E>(scalar: Scalar) -> Result<Node, E> {
    Ok(Node::leaf(0..0, scalar))
}

impl<'de> Visitor<'de> for AnyVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Node, E> {
        leaf(Scalar::Truth(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node, E> {
        leaf(Scalar::Number(Number::Unsigned(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
        leaf(Scalar::Number(u64::try_from(value).map_or(Number::Signed(value), Number::Unsigned)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        leaf(Scalar::Number(Number::Float(value)))
    }

    fn visit_char<E: de::Error>(self, value: char) -> Result<Node, E> {
        leaf(Scalar::Text(value.to_string()))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
        leaf(Scalar::Text(value.to_owned()))
    }

    fn visit_bytes<E: de::Error>(self, value: &[u8]) -> Result<Node, E> {
        leaf(Scalar::Bytes(value.to_owned()))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        leaf(Scalar::Nothing)
    }

    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        leaf(Scalar::Nothing)
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<Node, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, from: D) -> Result<Node, D::Error> {
        from.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut all = Vec::new();
        while let Some(Foreign(item)) = items.next_element()? {
            all.push(item);
        }
        Ok(Node { span: 0..0, name: None, body: Body::List(all) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Node, A::Error> {
        let mut all = Vec::new();
        while let Some((key, Foreign(value))) = entries.next_entry::<String, Foreign>()? {
            all.push(Entry { key, kind: Key::Text, key_span: 0..0, span: 0..0, value });
        }
        Ok(Node { span: 0..0, name: None, body: Body::Map(all) })
    }
}
