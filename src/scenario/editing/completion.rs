//! Completions: the fields, members and names that may be written at a place.

use super::context::{Context, Expected, language};
use super::hover::{field_text, member_text};
use super::names::{Sort, defined, keys};
use crate::scenario::catalogue::{family, fields, title};
use crate::scenario::notation::is_json;
use crate::scenario::shape::{Kind, Shape};
use crate::scenario::tokens::{Token, tokens};
use crate::vocab::{GROUP, PARTY, PARTY_OR_GROUP, SERIES};
use std::ops::Range;

/// A text that may be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// Its kind.
    pub what: What,
    /// Its name in a list of choices.
    pub label: String,
    /// For a field, the values that it accepts; for a member, the family to which it belongs; for a name, its kind
    /// ("party"); empty for a value.
    pub detail: String,
    /// Its explanation in Markdown.
    pub about: String,
    /// The bytes that it replaces: the part that is already typed.
    pub bytes: Range<usize>,
    /// The new text.
    pub new: String,
}

/// The kind of a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A field that must be written.
    Required,
    /// A field that may be left out.
    Optional,
    /// A member of a family, or a struct.
    Member,
    /// `true` or `false`.
    Value,
    /// The name of a party, of a group or of a series.
    Name,
}

/// Everything that may be written at a byte of a scenario in RON, in the order of the documentation.
#[must_use]
pub fn completions(text: &str, at: usize) -> Vec<Completion> {
    if is_json(text) {
        return Vec::new();
    }
    let tokens = tokens(text);
    let Some(context) = Context::at(&tokens, at) else { return Vec::new() };
    let word = context.word.map(|word| tokens[word]);
    let bytes = word.map_or(at..at, |word| word.span());
    let place = |what, label: &str, detail: String, about, new: String| Completion {
        what,
        label: label.to_owned(),
        detail,
        about,
        bytes: bytes.clone(),
        new,
    };
    match context.expected() {
        Expected::Field(owner) => {
            let written = context.frames.last().map_or(Vec::new(), |frame| keys(&tokens, frame.at));
            let is_key = context.is_key(&tokens);
            let here = word.map(|word| word.unquoted()).filter(|_| is_key);
            let fields = fields(language(), owner.schema()).into_iter();
            fields
                .filter_map(|field| Some((field.name.clone()?, field)))
                .filter(|(name, _)| here == Some(name) || !written.contains(&name.as_str()))
                .map(|(name, field)| {
                    let what = if field.required { What::Required } else { What::Optional };
                    let new = if is_key { name.clone() } else { format!("{name}: ") };
                    place(what, &name, field.takes.clone(), field_text(&field), new)
                })
                .collect()
        }
        Expected::Value(shape) if context.is_key(&tokens) || shape.kind() == Kind::Nothing => Vec::new(),
        Expected::Value(shape) => match shape.kind() {
            Kind::Choice | Kind::Struct => members(shape)
                .into_iter()
                .map(|(label, about, new)| {
                    let family = shape.key().map_or("", |key| title(language(), key));
                    place(What::Member, &label, family.to_owned(), about, new)
                })
                .collect(),
            Kind::Truth => ["true", "false"]
                .map(|value| place(What::Value, value, String::new(), String::new(), value.to_owned()))
                .into(),
            Kind::Text => {
                let names = texts(shape, &tokens).into_iter();
                names
                    .map(|(name, detail)| {
                        place(What::Name, name, detail.to_owned(), String::new(), format!("\"{name}\""))
                    })
                    .collect()
            }
            _ => Vec::new(),
        },
        Expected::Unknown => Vec::new(),
    }
}

/// Label, explanation and text of every member of a choice; for a struct, those of the struct itself.
fn members(shape: Shape<'_>) -> Vec<(String, String, String)> {
    let Some(key) = shape.key() else {
        return shape
            .members()
            .into_iter()
            .map(|name| (name.to_owned(), String::new(), name.to_owned()))
            .collect();
    };
    let family = family(language(), title(language(), key), key);
    let members = family.members.into_iter().map(|member| {
        let about = if member.about.is_empty() { &family.about } else { &member.about };
        let about = format!("{about}{}", member_text(&member));
        // A long example has many values that might not fit this scenario, so it is not inserted.
        let short = |example: &String| example.len() <= LONGEST && !example.contains("..");
        let bare = if member.fields.is_empty() { member.name.clone() } else { format!("{}()", member.name) };
        let new = member.example.clone().filter(short).unwrap_or(bare);
        (member.name, about, new)
    });
    members.collect()
}

/// Longest example that is written by a completion, in bytes.
const LONGEST: usize = 100;

/// The names that may be written as a text of this shape, each with its kind.
fn texts<'t>(shape: Shape<'_>, tokens: &'t [Token<'t>]) -> Vec<(&'t str, &'static str)> {
    let wanted: &[Sort] = match shape.format() {
        Some(PARTY) => &[Sort::Party],
        Some(PARTY_OR_GROUP) => &[Sort::Party, Sort::Group],
        Some(GROUP) => &[Sort::Group, Sort::Party],
        Some(SERIES) => &[Sort::Series],
        _ => return Vec::new(),
    };
    let mut found: Vec<(&str, &str)> = Vec::new();
    for known in defined(tokens).iter().filter(|known| wanted.contains(&known.sort)) {
        let sort = match known.sort {
            Sort::Party => "party",
            Sort::Group => "group",
            Sort::Series => "series",
        };
        if !found.iter().any(|(name, _)| *name == known.name) {
            found.push((known.name, sort));
        }
    }
    found
}
