//! The parts of a draft, as JSON, that differ from another draft.

use serde_json::Value;

/// The value without the parts that another value has at the same places. Equal fields of an object
/// are left out; equal items of a list, and a value that is equal as a whole, become `null`. A list whose length differs is
/// returned whole.
pub(super) fn unlike(value: &Value, other: &Value) -> Value {
    match (value, other) {
        (Value::Object(fields), Value::Object(others)) => {
            let field = |(name, value): (&String, &Value)| {
                let part = others.get(name).map_or_else(|| value.clone(), |other| unlike(value, other));
                (!part.is_null()).then(|| (name.clone(), part))
            };
            let parts: serde_json::Map<String, Value> = fields.iter().filter_map(field).collect();
            if parts.is_empty() { Value::Null } else { Value::Object(parts) }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            let parts: Vec<Value> =
                items.iter().zip(others).map(|(item, other)| unlike(item, other)).collect();
            if parts.iter().all(Value::is_null) { Value::Null } else { Value::Array(parts) }
        }
        _ if value == other => Value::Null,
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn differing_parts_keep_their_places() {
        let old = json!({"a": 1, "b": [{"c": 2, "d": 3}, 4], "e": "f"});
        let new = json!({"a": 1, "b": [{"c": 2, "d": 5}, 4], "e": "f", "g": 6});
        assert_eq!(unlike(&new, &old), json!({"b": [{"d": 5}, null], "g": 6}));
        assert_eq!(unlike(&old, &old), Value::Null);
        assert_eq!(unlike(&new, &Value::Null), new);
        assert_eq!(unlike(&json!([1, 2]), &json!([1])), json!([1, 2]));
    }
}
