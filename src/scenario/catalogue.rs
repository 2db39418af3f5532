//! Everything that a scenario may name, derived from the types themselves: families, members and
//! fields, with their descriptions, ranges and examples.

use super::account::Account;
use super::draft::Draft;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::Serialize;
use serde_json::{Value, json};

/// A family, or a plain structure of the language.
#[derive(Clone, Debug, Serialize)]
pub struct Family {
    /// Its name. An entry of [`families`] has a name in lower case ("latency", "party"). An entry of [`parts`] has the name
    /// that a scenario writes ("LinkRule"), followed, if several parts have this name, by the member that uses the part
    /// ("Series of Local").
    pub name: String,
    /// Its description.
    pub about: String,
    /// Its members.
    pub members: Vec<Member>,
}

/// A member of a family.
#[derive(Clone, Debug, Serialize)]
pub struct Member {
    /// Its name in a scenario.
    pub name: String,
    /// Its description, from its documentation.
    pub about: String,
    /// Its fields.
    pub fields: Vec<Field>,
    /// How a scenario may write it: the `Example:` of its documentation, else the member without any field. `None` if there
    /// is no `Example:` and a field is required.
    pub example: Option<String>,
}

impl Member {
    /// A member with the documentation `about`. A paragraph of `about` that begins with `Example:` becomes the member's
    /// example, and is left out of the description. `alone` is how the member is written without any field: the example if
    /// `about` has none and no field is required.
    fn documented(name: String, about: &str, fields: Vec<Field>, alone: String) -> Self {
        let (examples, rest): (Vec<&str>, Vec<&str>) =
            about.split("\n\n").partition(|paragraph| paragraph.starts_with(EXAMPLE));
        let stated = examples.first().map(|paragraph| {
            let code = paragraph[EXAMPLE.len()..].trim().trim_end_matches('.').trim_matches('`');
            code.split_whitespace().collect::<Vec<_>>().join(" ")
        });
        let example = stated.or_else(|| fields.iter().all(|field| !field.required).then_some(alone));
        Self { name, about: rest.join("\n\n"), fields, example }
    }
}

/// The beginning of the paragraph with an example.
const EXAMPLE: &str = "Example:";

/// A field of a member.
#[derive(Clone, Debug, Serialize)]
pub struct Field {
    /// Its name; `None` for a value without a name, as in `Constant("40ms")`.
    pub name: Option<String>,
    /// Its description, with unit and default.
    pub about: String,
    /// The values that it accepts.
    pub takes: String,
    /// Whether it must be written.
    pub required: bool,
}

/// The main families and structures, in the order in which they occur in a scenario, then those of the file that
/// `subrosa account` reads. [`parts`] has all further types of a scenario.
#[must_use]
pub fn families() -> Vec<Family> {
    let root = language();
    let account = language_of::<Account>();
    let of_account = ACCOUNT.iter().map(|(name, key)| family(&account, name, key));
    FAMILIES.iter().map(|(name, key)| family(&root, name, key)).chain(of_account).collect()
}

/// All further types that a scenario may use inside members of families: structures, choices and smaller families, in
/// the order of their first use in [`families`]. Types with the same name are distinguished by the member that uses them
/// ("Series of Local"). If the members that use them have the same name too, as `Mixture` of latency and `Mixture` of
/// noise, two entries have the same [`Family::name`].
#[must_use]
pub fn parts() -> Vec<Family> {
    let root = language();
    let listed: Vec<&str> = FAMILIES.iter().map(|(_, key)| *key).collect();
    let mut met: Vec<UsedPart> = Vec::new();
    for key in &listed {
        let definition = definition(&root, key);
        for (owner, inner) in owners(definition, key) {
            collect_parts(&root, &owner, inner, &listed, &mut met);
        }
    }
    let shared = |name: &str| met.iter().filter(|other| written(&root, &other.key) == name).count() > 1;
    met.iter()
        .map(|part| {
            let name = written(&root, &part.key);
            let title = if shared(name) { format!("{name} of {}", part.owner) } else { name.to_owned() };
            family(&root, &title, &part.key)
        })
        .collect()
}

/// A part, and the member that uses it first.
struct UsedPart {
    key: String,
    owner: String,
}

/// The values that the field `key` of the structure or member `owner` accepts, with an example. If several types are called
/// `owner`, the first one with this field is taken.
pub(super) fn field_of(owner: &str, key: &str) -> Option<(String, Option<String>)> {
    let (families, parts) = (families(), parts());
    let field = families
        .iter()
        .chain(&parts)
        .flat_map(|family| family.members.iter().filter(|member| member.name == owner))
        .flat_map(|member| &member.fields)
        .find(|field| field.name.as_deref() == Some(key))?;
    Some((field.takes.clone(), example_taken(&field.takes)))
}

/// An example of a value that a field accepts; `takes` is the [`Field::takes`] of this field.
pub(super) fn example_taken(takes: &str) -> Option<String> {
    let (families, parts) = (families(), parts());
    let all = || families.iter().chain(&parts);
    let member = |name: &str| all().flat_map(|family| &family.members).find(|member| member.name == name);
    let example = match takes.strip_prefix("one of the family ") {
        Some(family) => all().find(|known| known.name == family).and_then(|known| known.members.first()),
        None => match takes.split_once(": ") {
            Some((_, names)) => names.split(" or ").next().and_then(member),
            None => takes.strip_suffix("(..)").and_then(member),
        },
    };
    example.and_then(|member| member.example.clone())
}

/// An example of the first member called `name` in any family or part.
pub(super) fn example_of(name: &str) -> Option<String> {
    let (families, parts) = (families(), parts());
    let mut members = families.iter().chain(&parts).flat_map(|family| &family.members);
    members.find(|member| member.name == name)?.example.clone()
}

/// The families and structures of a scenario that [`families`] lists, by name, each with the schema key of its type.
const FAMILIES: &[(&str, &str)] = &[
    ("scenario", "Scenario"),
    ("network", "Network"),
    ("party", "Party"),
    ("link", "Link"),
    ("bandwidth", "Bandwidth"),
    ("access", "Access"),
    ("throughput", "ThroughputModel"),
    ("topology", "TopologyModel"),
    ("latency", "LatencyModel"),
    ("loss", "LossModel"),
    ("availability", "AvailabilityModel"),
    ("compute", "ComputeModel"),
    ("outage", "OutageModel"),
    ("objective", "ObjectiveModel"),
    ("noise", "NoiseModel"),
    ("protocol", "ProtocolModel"),
    ("release", "InputRelease"),
    ("outcomes", "OutcomeRelease"),
    ("publication", "PublicationModel"),
    ("learner", "LearnerModel"),
    ("popularity", "PopularityModel"),
    ("arrivals", "ArrivalModel"),
];

/// The types of the file that `subrosa account` reads, which is not a scenario.
const ACCOUNT: &[(&str, &str)] = &[("account", "Account"), ("event", "Event")];

/// The schema of the whole language: every type under `$defs`, the scenario itself included.
pub(super) fn language() -> Value {
    language_of::<Draft>()
}

pub(super) fn language_of<T: JsonSchema>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    generator.subschema_for::<T>();
    json!({ "$defs": generator.take_definitions(true) })
}

pub(super) fn definition<'a>(root: &'a Value, key: &str) -> &'a Value {
    &root["$defs"][key]
}

/// The name of a type in a scenario: the schema key without the number that schemars appends if another type has the
/// same name.
pub(super) fn written<'a>(root: &Value, key: &'a str) -> &'a str {
    let bare = key.trim_end_matches(|last: char| last.is_ascii_digit());
    if root["$defs"].get(bare).is_some() { bare } else { key }
}

pub(super) fn family(root: &Value, title: &str, key: &str) -> Family {
    let definition = definition(root, key);
    let members = match definition.get("oneOf").and_then(Value::as_array) {
        Some(variants) => variants.iter().flat_map(|variant| members(root, variant)).collect(),
        None if definition.get("enum").is_some() => members(root, definition),
        None => {
            let name = written(root, key).to_owned();
            let alone = format!("{name}()");
            let about = text(definition, "description");
            let member = Member::documented(name, &about, fields(root, definition), alone);
            let family = member.about.clone();
            return Family {
                name: title.to_owned(),
                about: family,
                members: vec![Member { about: String::new(), ..member }],
            };
        }
    };
    Family { name: title.to_owned(), about: text(definition, "description"), members }
}

/// The schema of the content of each member of a family, with the member's name; members without content are left out. For
/// a type without `oneOf`, such as a structure: the schema of the type, with `name`.
fn owners<'a>(definition: &'a Value, name: &str) -> Vec<(String, &'a Value)> {
    match definition.get("oneOf").and_then(Value::as_array) {
        Some(variants) => variants
            .iter()
            .filter_map(|variant| variant.get("properties")?.as_object())
            .flatten()
            .map(|(member, inner)| (member.clone(), inner))
            .collect(),
        None => vec![(name.to_owned(), definition)],
    }
}

/// Follows every reference of a schema, depth first, and adds to `met`, once each, the types that have fields or
/// alternatives. `owner` is the member to which the schema belongs. Types in `listed`, and types with the name `owner`, are
/// not added.
fn collect_parts(root: &Value, owner: &str, schema: &Value, listed: &[&str], met: &mut Vec<UsedPart>) {
    if let Some(key) = reference(schema) {
        if listed.contains(&key) || met.iter().any(|part| part.key == key) {
            return;
        }
        let inner = definition(root, key);
        // The type of a member is described with the member, and a range-checked number is described by its range.
        let explained = written(root, key) == owner;
        let speaks = ["properties", "oneOf", "enum"].iter().any(|part| inner.get(part).is_some());
        if speaks && !explained {
            met.push(UsedPart { key: key.to_owned(), owner: owner.to_owned() });
            for (member, inner) in owners(inner, owner) {
                let choice = inner.get("$ref").is_some();
                collect_parts(root, if choice { &member } else { owner }, inner, listed, met);
            }
        } else if explained {
            collect_parts(root, owner, inner, listed, met);
        }
        return;
    }
    match schema {
        Value::Object(map) => map.values().for_each(|inner| collect_parts(root, owner, inner, listed, met)),
        Value::Array(items) => items.iter().for_each(|inner| collect_parts(root, owner, inner, listed, met)),
        _ => {}
    }
}

/// The members in one branch of the schema: one newtype variant, or one or several names without content.
fn members(root: &Value, variant: &Value) -> Vec<Member> {
    let bare = |name: &Value| {
        let name = name.as_str().unwrap_or_default().to_owned();
        Member::documented(name.clone(), &text(variant, "description"), Vec::new(), name)
    };
    if let Some(name) = variant.get("const") {
        return vec![bare(name)];
    }
    if let Some(names) = variant.get("enum").and_then(Value::as_array) {
        return names.iter().map(bare).collect();
    }
    let Some(properties) = variant.get("properties").and_then(Value::as_object) else { return Vec::new() };
    properties
        .iter()
        .map(|(name, inner)| {
            let inner_resolved = resolve(root, inner);
            let own = text(&inner_resolved, "description");
            // The description of a range-checked number explains the number type, not this member.
            let speaks = inner_resolved.get("properties").is_some() || inner_resolved["type"] == "object";
            let outer = text(variant, "description");
            let about = if speaks || outer.is_empty() { [own, outer] } else { [outer, own] };
            let about = about.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
            let fields = if speaks { fields(root, &inner_resolved) } else { fields(root, inner) };
            Member::documented(name.clone(), &about, fields, format!("{name}()"))
        })
        .collect()
}

pub(super) fn fields(root: &Value, object: &Value) -> Vec<Field> {
    let Some(properties) = object.get("properties").and_then(Value::as_object) else {
        if object.get("type").and_then(Value::as_str) == Some("object") {
            return Vec::new();
        }
        return vec![Field { name: None, about: String::new(), takes: takes(root, object), required: true }];
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
            takes: takes(root, inner),
            required: required.contains(&name.as_str()),
        })
        .collect()
}

/// The values that a schema accepts, in words.
pub(super) fn takes(root: &Value, schema: &Value) -> String {
    if let Some(key) = reference(schema) {
        return type_text(root, key);
    }
    if let Some(format) = schema.get("format").and_then(Value::as_str)
        && format.contains(' ')
    {
        return format.to_owned();
    }
    if let Some(first) =
        ["anyOf", "oneOf", "allOf"].iter().find_map(|key| schema.get(key)?.as_array()?.first())
    {
        return takes(root, first);
    }
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.first().and_then(Value::as_str),
        Some(kind) => kind.as_str(),
        None => None,
    };
    match kind {
        Some("array") => {
            let item = schema.get("items").map_or_else(|| "values".to_owned(), |item| takes(root, item));
            format!("a list: {item}")
        }
        Some("object") => match schema.get("additionalProperties") {
            Some(value) if value.is_object() => format!("a map from names to {}", takes(root, value)),
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

/// A type in words: a family as in "one of the family latency", a choice by its members, a structure by its name.
fn type_text(root: &Value, key: &str) -> String {
    if let Some((family, _)) = FAMILIES
        .iter()
        .chain(ACCOUNT)
        .find(|(_, listed)| *listed == key && definition(root, key).get("oneOf").is_some())
    {
        return format!("one of the family {family}");
    }
    let definition = definition(root, key);
    let name = written(root, key);
    match family(root, name, key).members.as_slice() {
        _ if definition.get("properties").is_some() => format!("{name}(..)"),
        members if definition.get("oneOf").is_some() || definition.get("enum").is_some() => {
            let names: Vec<&str> = members.iter().map(|member| member.name.as_str()).collect();
            format!("{name}: {}", names.join(" or "))
        }
        _ => takes(root, definition),
    }
}

pub(super) fn reference(schema: &Value) -> Option<&str> {
    schema.get("$ref")?.as_str()?.rsplit('/').next()
}

/// The name of the family that has this schema key; for any other type, the type's name in a scenario.
pub(super) fn title<'a>(root: &Value, key: &'a str) -> &'a str {
    let listed = FAMILIES.iter().find(|(_, known)| *known == key);
    listed.map_or_else(|| written(root, key), |(name, _)| name)
}

fn resolve(root: &Value, schema: &Value) -> Value {
    reference(schema).and_then(|name| root.get("$defs")?.get(name)).cloned().unwrap_or_else(|| schema.clone())
}

fn text(schema: &Value, key: &str) -> String {
    schema.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
