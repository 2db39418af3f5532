//! The explanation of what stands at a place: the same words as in `subrosa list`.

use super::context::{Context, Expected, language};
use crate::scenario::catalogue::{Field, Member, family, fields, title};
use crate::scenario::notation::is_json;
use crate::scenario::shape::{Kind, Shape};
use crate::scenario::tokens::tokens;
use std::ops::Range;

/// An explanation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hover {
    /// The bytes that it explains.
    pub bytes: Range<usize>,
    /// Its text in Markdown.
    pub text: String,
}

/// The explanation of the field, member, struct or `Each` at a byte of a scenario in RON. At any other value, the result is
/// the explanation of the field that holds the value.
#[must_use]
pub fn hover(text: &str, at: usize) -> Option<Hover> {
    if is_json(text) {
        return None;
    }
    let tokens = tokens(text);
    let context = Context::at(&tokens, at)?;
    let word = tokens[context.word?];
    let explained = |text| Some(Hover { bytes: word.span(), text });
    if word.text == "Each" {
        return explained(EACH.to_owned());
    }
    if !context.is_key(&tokens)
        && let Expected::Value(shape) = context.expected()
        && let Some(found) = named(shape, word.text)
    {
        return explained(found);
    }
    let (owner, key) = context.field(&tokens)?;
    let field = fields(language(), owner.schema()).into_iter();
    let field = field.into_iter().find(|field| field.name.as_deref() == Some(key.unquoted()))?;
    explained(field_text(&field))
}

const EACH: &str = "**Each**(\"name\", [value, value, ..]) stands in place of any value and makes one cell of a study per \
                    value. Lists of the same name change together; lists of different names give all combinations.\n\n\
                    Example: `Each(\"rounds\", Range(50, 300, 50))`";

/// The explanation of a member or a struct by its name.
fn named(shape: Shape<'_>, name: &str) -> Option<String> {
    let key = shape.key()?;
    let family = family(language(), title(language(), key), key);
    let member = family.members.iter().find(|member| member.name == name)?;
    let alone = if shape.kind() == Kind::Choice { format!(" ({})", family.name) } else { String::new() };
    let about = if member.about.is_empty() { &family.about } else { &member.about };
    Some(format!("**{name}**{alone}\n\n{about}{}", member_text(member)))
}

/// The example and the fields of a member.
pub(super) fn member_text(member: &Member) -> String {
    let mut out = String::new();
    if let Some(example) = &member.example {
        out.push_str(&format!("\n\nExample: `{example}`"));
    }
    let fields: Vec<String> = member.fields.iter().map(|field| format!("* {}", line(field))).collect();
    if !fields.is_empty() {
        out.push_str(&format!("\n\n{}", fields.join("\n")));
    }
    out
}

fn line(field: &Field) -> String {
    let name = field.name.as_deref().unwrap_or("value");
    let need = if field.required { "required" } else { "optional" };
    format!("`{name}`: {}, {need}", field.takes)
}

/// A field with what it takes and its documentation.
pub(super) fn field_text(field: &Field) -> String {
    format!("{}\n\n{}", line(field), field.about)
}
