//! The JSON Schema of scenarios, for editors and for programs that write scenarios.

use super::catalogue::language;
use serde_json::{Map, Value, json};

/// Name of the definition of `Each`.
const EACH: &str = "Each";
/// Keywords of a schema that explain a value to the reader. If an `Each` is allowed as an alternative to the value, these
/// keywords stand beside the `anyOf` that lists both alternatives.
const ABOUT_THE_PLACE: [&str; 2] = ["description", "default"];

/// The JSON Schema (draft 2020-12) of scenarios that are written in JSON, with all members of this
/// program's catalogue. It accepts a little more than `check` does: the values of an `Each` may be of
/// any kind, and ranges of numbers are stated only in descriptions.
#[must_use]
pub fn schema() -> Value {
    let mut language = language();
    let mut definitions = language["$defs"].take();
    if let Some(definitions) = definitions.as_object_mut() {
        definitions.values_mut().for_each(allow_each);
        definitions.insert(EACH.to_owned(), each());
    }
    if let Some(fields) = definitions["Scenario"]["properties"].as_object_mut() {
        let about = "The address of this schema, for editors; it has no effect on a run. Default: none.";
        fields.insert("$schema".to_owned(), json!({ "description": about, "type": "string" }));
    }
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("A scenario of subrosa {}", env!("CARGO_PKG_VERSION")),
        "$ref": "#/$defs/Scenario",
        "$defs": definitions,
    })
}

/// The schema of an `Each`.
fn each() -> Value {
    let numbers = |kind: &str, least: usize| {
        let number = json!({ "type": kind });
        json!({ "type": "array", "items": number, "minItems": least, "maxItems": 3 })
    };
    let object = |name: &str, content: Value| {
        let fields = Map::from_iter([(name.to_owned(), content)]);
        json!({ "type": "object", "properties": fields, "required": [name], "additionalProperties": false })
    };
    let values = json!({ "anyOf": [
        { "description": "The values.", "type": "array" },
        object("Range", numbers("integer", 2)),
        object("LogRange", numbers("number", 3)),
        { "description": "Values with labels, which tables show.", "type": "object" },
    ] });
    let arguments = json!({ "anyOf": [
        { "type": "array", "prefixItems": [values], "minItems": 1, "maxItems": 1 },
        { "type": "array", "prefixItems": [{ "type": "string" }, values], "minItems": 2, "maxItems": 2 },
    ] });
    let mut schema = object(EACH, arguments);
    schema["description"] = "Stands in place of any value and makes one cell of a study per value: {\"Each\": [\"name\", [1, \
                             2, 3]]}. Lists of the same name change together; lists of different names give all combinations."
        .into();
    schema
}

/// Changes a schema so that an `Each` is accepted in place of every value inside the value that the schema describes.
fn allow_each(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    for (key, inner) in fields {
        match (key.as_str(), inner) {
            ("properties", Value::Object(values)) => values.values_mut().for_each(or_each),
            ("prefixItems", Value::Array(values)) => values.iter_mut().for_each(or_each),
            ("items" | "additionalProperties", value @ Value::Object(_)) => or_each(value),
            ("oneOf" | "anyOf" | "allOf", Value::Array(options)) => options.iter_mut().for_each(allow_each),
            _ => {}
        }
    }
}

/// As [`allow_each`]; an `Each` is also accepted in place of the value itself.
fn or_each(schema: &mut Value) {
    allow_each(schema);
    let Some(fields) = schema.as_object_mut() else { return };
    let mut place = Map::new();
    for key in ABOUT_THE_PLACE {
        place.extend(fields.shift_remove_entry(key));
    }
    let own = std::mem::take(fields);
    let each = json!({ "$ref": format!("#/$defs/{EACH}") });
    place.insert("anyOf".to_owned(), Value::Array(vec![Value::Object(own), each]));
    *fields = place;
}
