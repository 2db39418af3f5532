//! What may stand at a place of a scenario, read from the schema of the language: fields, members, entries.

use super::catalogue::{definition, reference, written};
use serde_json::Value;

/// The schema of a place of a scenario. References are followed, and an optional value counts as present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape<'a> {
    language: &'a Value,
    schema: &'a Value,
    /// The key of the type under `$defs`, if the place has a type with a name.
    key: Option<&'a str>,
}

/// The kind of value that a shape describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Named fields.
    Struct,
    /// Entries with keys of the user's own.
    Map,
    /// One of several members: a family, or a type with alternatives.
    Choice,
    /// A fixed number of values without names.
    Tuple,
    /// Any number of values.
    List,
    /// A text.
    Text,
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// True or false.
    Truth,
    /// No content.
    Nothing,
    /// Not known.
    Any,
}

impl<'a> Shape<'a> {
    /// The type with this key, such as `Scenario`.
    pub(super) fn of_type(language: &'a Value, key: &str) -> Option<Self> {
        let (key, schema) = language["$defs"].as_object()?.get_key_value(key)?;
        Some(Self { language, schema, key: Some(key) }.followed())
    }

    fn of_schema(self, schema: &'a Value) -> Self {
        Self { schema, key: None, ..self }.followed()
    }

    /// Follows references and optional values.
    fn followed(mut self) -> Self {
        loop {
            let alternatives = |key: &str| self.schema.get(key).and_then(Value::as_array);
            if let Some(key) = reference(self.schema) {
                (self.schema, self.key) = (definition(self.language, key), Some(key));
            } else if let Some(options) = alternatives("anyOf").or_else(|| alternatives("allOf"))
                && let Some(present) = options.iter().find(|option| option["type"] != "null")
            {
                self.schema = present;
            } else {
                return self;
            }
        }
    }

    /// The key of its type under `$defs`.
    pub(super) fn key(self) -> Option<&'a str> {
        self.key
    }

    /// Its schema.
    pub(super) fn schema(self) -> &'a Value {
        self.schema
    }

    /// The name of its type in a scenario.
    pub(super) fn name(self) -> Option<&'a str> {
        self.key.map(|key| written(self.language, key))
    }

    /// Its kind.
    pub(super) fn kind(self) -> Kind {
        let has = |key: &str| self.schema.get(key).is_some();
        let kind = match &self.schema["type"] {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str),
            kind => kind.as_str(),
        };
        match kind {
            _ if has("oneOf") || has("enum") || has("const") => Kind::Choice,
            Some("object") if self.schema["additionalProperties"].is_object() => Kind::Map,
            Some("object") => Kind::Struct,
            Some("array") if has("prefixItems") || self.has_fixed_length() => Kind::Tuple,
            Some("array") => Kind::List,
            Some("string") => Kind::Text,
            Some("integer") => Kind::Whole,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Truth,
            Some("null") => Kind::Nothing,
            _ => Kind::Any,
        }
    }

    fn has_fixed_length(self) -> bool {
        self.schema.get("minItems").is_some_and(|least| self.schema.get("maxItems") == Some(least))
    }

    /// What a field of a struct accepts.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        Some(self.of_schema(self.schema.get("properties")?.get(name)?))
    }

    /// What an entry of a map accepts.
    pub(super) fn entry(self) -> Option<Self> {
        let schema = self.schema.get("additionalProperties").filter(|schema| schema.is_object())?;
        Some(self.of_schema(schema))
    }

    /// What a list or a tuple accepts at a position.
    pub(super) fn item(self, index: usize) -> Option<Self> {
        let placed = self.schema.get("prefixItems").and_then(|items| items.get(index));
        let any = self.schema.get("items").filter(|schema| schema.is_object());
        Some(self.of_schema(placed.or(any)?))
    }

    /// What a member of a choice accepts in its brackets; `None` if the member is unknown or is a name alone.
    pub(super) fn member(self, name: &str) -> Option<Self> {
        let members = self.schema.get("oneOf")?.as_array()?;
        members
            .iter()
            .find_map(|member| member.get("properties")?.get(name))
            .map(|content| self.of_schema(content))
    }

    /// The names of the members of a choice.
    pub(super) fn members(self) -> Vec<&'a str> {
        let own = std::slice::from_ref(self.schema).iter();
        let inner = self.schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        let names = own.chain(inner).flat_map(|schema| {
            let properties = schema.get("properties").and_then(Value::as_object).into_iter();
            let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
            let bare = listed.chain(schema.get("const")).filter_map(Value::as_str);
            properties.flat_map(|members| members.keys().map(String::as_str)).chain(bare)
        });
        names.collect()
    }

    /// The format that a text must have, such as a duration with its unit; `None` if any text is accepted.
    pub(super) fn format(self) -> Option<&'a str> {
        self.schema.get("format").and_then(Value::as_str)
    }
}
