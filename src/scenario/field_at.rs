//! Finds out which values a field accepts. The search follows the text and the schema together, from the outermost value to
//! the field. The name of the struct that has the field would not suffice, since several types can have the same name.

use super::catalogue::{definition, example_taken, language, reference, takes};
use crate::vocab::value::{Body, Node};
use serde_json::Value;
use std::ops::Range;

/// The values that a field accepts, with an example. `key` is the place of the field's key in the text. `None` if the text
/// is not a scenario, or if the parts of the text around the field do not fit the schema.
pub(super) fn field_at(root: &Node, key: &Range<usize>) -> Option<(String, Option<String>)> {
    if root.name.as_deref().is_some_and(|name| name != "Scenario") {
        return None;
    }
    let language = language();
    let takes = takes(&language, field(&language, definition(&language, "Scenario"), root, key)?);
    let example = example_taken(&takes);
    Some((takes, example))
}

/// The schema of the field whose key is at `key`. The field is inside the value `node`, which has the schema `schema`.
fn field<'a>(language: &'a Value, schema: &'a Value, node: &Node, key: &Range<usize>) -> Option<&'a Value> {
    let holds = |node: &&Node| node.span.start <= key.start && key.end <= node.span.end;
    let inside = |items: &[Node]| items.iter().position(|item| holds(&item));
    if let (Some("Some"), Body::Tuple(items)) = (node.name.as_deref(), &node.body) {
        return field(language, schema, &items[inside(items)?], key);
    }
    let content = content(language, schema, node.name.as_deref())?;
    match &node.body {
        Body::Fields(entries) | Body::Map(entries) => {
            let entry = entries.iter().find(|entry| entry.key_span == *key || holds(&&entry.value))?;
            let named = content.get("properties").and_then(|fields| fields.get(&entry.key));
            let own = named.or_else(|| content.get("additionalProperties"))?;
            if entry.key_span == *key { Some(own) } else { field(language, own, &entry.value, key) }
        }
        Body::List(items) => field(language, content.get("items")?, &items[inside(items)?], key),
        // A member whose brackets contain a value without a field name, such as `Constant("5s")`.
        Body::Tuple(items) => field(language, content, &items[inside(items)?], key),
        Body::Leaf(_) => None,
    }
}

/// The schema of what the brackets of a value contain: references are followed, optional values count as present, and of a
/// family the member `name` is chosen.
fn content<'a>(language: &'a Value, mut schema: &'a Value, mut name: Option<&str>) -> Option<&'a Value> {
    loop {
        let alternatives = |key: &str| schema.get(key).and_then(Value::as_array);
        if let Some(key) = reference(schema) {
            schema = definition(language, key);
        } else if let Some(options) = alternatives("anyOf").or_else(|| alternatives("allOf")) {
            schema = options.iter().find(|option| option["type"] != "null")?;
        } else if let (Some(wanted), Some(members)) = (name, alternatives("oneOf")) {
            schema = members.iter().find_map(|member| member.get("properties")?.get(wanted))?;
            name = None;
        } else {
            return Some(schema);
        }
    }
}
