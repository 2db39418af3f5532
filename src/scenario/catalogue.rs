//! What a scenario may name, read off the types themselves: the families, their members, fields, ranges, sources.

use super::draft::{Draft, PartyDraft};
use crate::learners::LearnerModel;
use crate::network::availability::AvailabilityModel;
use crate::network::compute::ComputeModel;
use crate::network::latency::LatencyModel;
use crate::network::loss::LossModel;
use crate::network::outage::OutageModel;
use crate::network::{Access, Bandwidth, Link, Network, TopologyModel};
use crate::objectives::ObjectiveModel;
use crate::protocols::ProtocolModel;
use crate::protocols::outsourced::{InputRelease, OutcomeRelease};
use crate::protocols::release::PublicationModel;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::Serialize;
use serde_json::Value;

/// A family, or a plain structure of the language.
#[derive(Clone, Debug, Serialize)]
pub struct Family {
    /// Name, lower case ("latency").
    pub name: String,
    /// What it is.
    pub about: String,
    /// Its members.
    pub members: Vec<Member>,
}

/// A member of a family.
#[derive(Clone, Debug, Serialize)]
pub struct Member {
    /// The name a scenario writes.
    pub name: String,
    /// What it is, as its documentation has it.
    pub about: String,
    /// Its fields.
    pub fields: Vec<Field>,
}

/// A field of a member.
#[derive(Clone, Debug, Serialize)]
pub struct Field {
    /// Its name; absent for a value without one, as in `Constant("40ms")`.
    pub name: Option<String>,
    /// What it is, with unit and default.
    pub about: String,
    /// What values it takes.
    pub takes: String,
    /// Whether it must be written.
    pub required: bool,
}

/// All families, in the order in which a scenario meets them.
#[must_use]
pub fn families() -> Vec<Family> {
    vec![
        structure::<Draft>("scenario", "Scenario"),
        structure::<Network>("network", "Network"),
        structure::<PartyDraft>("party", "Party"),
        structure::<Link>("link", "Link"),
        structure::<Bandwidth>("bandwidth", "Bandwidth"),
        structure::<Access>("access", "Access"),
        family::<TopologyModel>("topology"),
        family::<LatencyModel>("latency"),
        family::<LossModel>("loss"),
        family::<AvailabilityModel>("availability"),
        family::<ComputeModel>("compute"),
        family::<OutageModel>("outage"),
        family::<ObjectiveModel>("objective"),
        family::<ProtocolModel>("protocol"),
        family::<InputRelease>("release"),
        family::<OutcomeRelease>("outcomes"),
        family::<PublicationModel>("publication"),
        family::<LearnerModel>("learner"),
    ]
}

fn schema<T: JsonSchema>() -> Value {
    SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value()
}

fn structure<T: JsonSchema>(name: &str, written: &str) -> Family {
    let root = schema::<T>();
    let about = text(&root, "description");
    let member = Member { name: written.to_owned(), about: String::new(), fields: fields(&root) };
    Family { name: name.to_owned(), about, members: vec![member] }
}

fn family<T: JsonSchema>(name: &str) -> Family {
    let root = schema::<T>();
    let variants = root.get("oneOf").and_then(Value::as_array).cloned().unwrap_or_default();
    let members = variants.iter().flat_map(|variant| members(&root, variant)).collect();
    Family { name: name.to_owned(), about: text(&root, "description"), members }
}

/// The members that one branch of the schema describes: one newtype variant, or several bare names.
fn members(root: &Value, variant: &Value) -> Vec<Member> {
    if let Some(names) = variant.get("enum").and_then(Value::as_array) {
        let member = |name: &Value| Member {
            name: name.as_str().unwrap_or_default().to_owned(),
            about: text(variant, "description"),
            fields: Vec::new(),
        };
        return names.iter().map(member).collect();
    }
    let Some(properties) = variant.get("properties").and_then(Value::as_object) else { return Vec::new() };
    properties
        .iter()
        .map(|(name, inner)| {
            let inner_resolved = resolve(root, inner);
            let about = [text(&inner_resolved, "description"), text(variant, "description")]
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or_default();
            Member { name: name.clone(), about, fields: fields(&inner_resolved) }
        })
        .collect()
}

fn fields(object: &Value) -> Vec<Field> {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        if object.get("type").and_then(Value::as_str) == Some("object") {
            return Vec::new();
        }
        return vec![Field { name: None, about: String::new(), takes: takes(object), required: true }];
    };
    let required: Vec<&str> = object
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    properties
        .iter()
        .map(|(name, inner)| Field {
            name: Some(name.clone()),
            about: text(inner, "description"),
            takes: takes(inner),
            required: required.contains(&name.as_str()),
        })
        .collect()
}

/// What values a schema lets through, in words.
fn takes(schema: &Value) -> String {
    if let Some(name) = reference(schema) {
        return spoken(name);
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && format.contains(' ')
    {
        return format.to_owned();
    }
    if let Some(first) =
        ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key)?.as_array()?.first())
    {
        return takes(first);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None => None,
    };
    match kind {
        Some("array") => {
            let item = schema.get("items").map_or_else(|| "values".to_owned(), takes);
            format!("a list: {item}")
        }
        Some("object") => match schema.get("additionalProperties") {
            Some(value) if value.is_object() => format!("a map from names: {}", takes(value)),
            _ => "named fields".to_owned(),
        },
        Some("integer") if schema.get("minimum").and_then(Value::as_u64) == Some(1) => {
            "a whole number, 1 or above".to_owned()
        }
        Some("integer") => "a whole number, 0 or above".to_owned(),
        Some("number") => "a number".to_owned(),
        Some("string") => "a text".to_owned(),
        Some("boolean") => "true or false".to_owned(),
        Some(other) => other.to_owned(),
        None => "a value".to_owned(),
    }
}

/// `LatencyModel` is spoken of as "a latency", other types by their names.
fn spoken(name: &str) -> String {
    match name.strip_suffix("Model") {
        Some(family) => format!("one of the family {}", family.to_lowercase()),
        None => format!("{name}(..)"),
    }
}

fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

fn resolve(root: &Value, schema: &Value) -> Value {
    reference(schema).and_then(|name| root.get("$defs")?.get(name)).cloned().unwrap_or_else(|| schema.clone())
}

fn text(schema: &Value, key: &str) -> String {
    schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
