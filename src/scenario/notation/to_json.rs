//! Writes a scenario in RON as JSON.

use crate::scenario::shape::{Kind, Shape};
use crate::vocab::value::{Body, Entry, Node, Scalar};
use serde_json::{Map, Value};

/// A value that JSON cannot express.
#[derive(Clone, Debug)]
pub(in crate::scenario) struct Inexpressible {
    /// A description of the value.
    pub(in crate::scenario) what: &'static str,
    /// The value, with its place.
    pub(in crate::scenario) node: Node,
}

/// The value in JSON. `shape` describes the type of the value, such as the type of a scenario.
pub(in crate::scenario) fn to_json(node: &Node, shape: Option<Shape<'_>>) -> Result<Value, Inexpressible> {
    let kind = shape.map_or(Kind::Any, Shape::kind);
    let left = |what| Inexpressible { what, node: node.clone() };
    match (&node.body, node.name.as_deref()) {
        (Body::Tuple(arguments), Some("Each")) => each(arguments, shape),
        (Body::Tuple(items), Some("Some")) if items.len() == 1 => to_json(&items[0], shape),
        (Body::Leaf(Scalar::Name), Some("None")) if !names(shape).contains(&"None") => Ok(Value::Null),
        (_, Some(name)) if kind == Kind::Choice => member(node, name, shape),
        (Body::Fields(entries), Some(name)) if kind == Kind::Any => Ok(tagged(name, fields(entries, None)?)),
        (Body::Fields(entries), _) => fields(entries, shape),
        (Body::Map(entries), _) => map(entries, shape.and_then(Shape::entry)),
        // A struct without any field.
        (Body::Tuple(items), _) if items.is_empty() && kind == Kind::Struct => Ok(Value::Object(Map::new())),
        (Body::Leaf(Scalar::Name | Scalar::Nothing), _) if kind == Kind::Struct => {
            Ok(Value::Object(Map::new()))
        }
        (Body::Tuple(items), _) if items.len() == 1 && kind != Kind::Tuple => to_json(&items[0], shape),
        (Body::Tuple(items) | Body::List(items), _) => {
            let item = |(index, item)| to_json(item, shape.and_then(|shape| shape.item(index)));
            items.iter().enumerate().map(item).collect::<Result<_, _>>().map(Value::Array)
        }
        (Body::Leaf(Scalar::Name), Some(name)) => Ok(name.into()),
        (Body::Leaf(scalar), _) => match scalar {
            Scalar::Name | Scalar::Nothing => Ok(Value::Null),
            Scalar::Truth(value) => Ok((*value).into()),
            Scalar::Number(number) => {
                number.json().map(Value::Number).ok_or_else(|| left("a number that JSON cannot write"))
            }
            Scalar::Letter(letter) => Ok(letter.to_string().into()),
            Scalar::Text(text) => Ok(text.as_str().into()),
            Scalar::Bytes(_) => Err(left("bytes, which JSON cannot write")),
        },
    }
}

fn names(shape: Option<Shape<'_>>) -> Vec<&str> {
    shape.map(Shape::members).unwrap_or_default()
}

fn tagged(name: &str, content: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), content)]))
}

fn fields(entries: &[Entry], shape: Option<Shape<'_>>) -> Result<Value, Inexpressible> {
    let field = |entry: &Entry| {
        let shape = shape.and_then(|shape| shape.field(&entry.key));
        Ok((entry.key.clone(), to_json(&entry.value, shape)?))
    };
    entries.iter().map(field).collect::<Result<_, _>>().map(Value::Object)
}

fn map(entries: &[Entry], shape: Option<Shape<'_>>) -> Result<Value, Inexpressible> {
    let entry = |entry: &Entry| Ok((entry.key.clone(), to_json(&entry.value, shape)?));
    entries.iter().map(entry).collect::<Result<_, _>>().map(Value::Object)
}

/// A member of a family: its name alone, or its name with its content.
fn member(node: &Node, name: &str, shape: Option<Shape<'_>>) -> Result<Value, Inexpressible> {
    let Some(content) = shape.and_then(|shape| shape.member(name)) else {
        return match &node.body {
            Body::Fields(entries) => Ok(tagged(name, fields(entries, None)?)),
            Body::Tuple(items) if items.len() == 1 => Ok(tagged(name, to_json(&items[0], None)?)),
            _ => Ok(name.into()),
        };
    };
    let content = match (&node.body, content.kind()) {
        (Body::Tuple(items), kind) if items.len() == 1 && kind != Kind::Tuple => {
            to_json(&items[0], Some(content))?
        }
        // The member's name becomes the key of the object, so the value is only what stands in the
        // member's brackets.
        _ => to_json(&Node { name: None, ..node.clone() }, Some(content))?,
    };
    Ok(tagged(name, content))
}

fn each(arguments: &[Node], shape: Option<Shape<'_>>) -> Result<Value, Inexpressible> {
    let argument = |argument: &Node| match (&argument.body, argument.name.as_deref()) {
        (Body::List(items), _) => {
            items.iter().map(|item| to_json(item, shape)).collect::<Result<_, _>>().map(Value::Array)
        }
        (Body::Map(entries), _) => map(entries, shape),
        (Body::Tuple(bounds), Some(name)) => {
            let bounds = bounds.iter().map(|bound| to_json(bound, None)).collect::<Result<_, _>>();
            Ok(tagged(name, Value::Array(bounds?)))
        }
        _ => to_json(argument, None),
    };
    let arguments = arguments.iter().map(argument).collect::<Result<_, _>>()?;
    Ok(tagged("Each", Value::Array(arguments)))
}
