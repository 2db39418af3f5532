//! Turns errors of reading a value into diagnostics: what was expected, what was found, and how to correct the error.

use super::catalogue::{example_of, field_of};
use super::diagnostic::Diagnostic;
use super::field_at::field_at;
use super::suggest::closest;
use super::sweep::EditedText;
use crate::vocab::value::{Entry, Fault, Node, ReadError};
use std::ops::Range;

/// The diagnostic for an error. `culprit` is the innermost field that contains the error, if any does.
pub(super) fn diagnose(
    edited: &EditedText,
    root: &Node,
    error: &ReadError,
    culprit: Option<&Entry>,
) -> Diagnostic {
    let mut span = error.place();
    // If an unknown name has brackets, only the name is marked, not the contents of the brackets.
    if let Fault::UnknownName { found, .. } | Fault::OtherName { found, .. } = error.fault()
        && edited.text[span.clone()].starts_with(found.as_str())
    {
        span.end = span.start + found.len();
    }
    let found = shorten(&edited.text[span.clone()]);
    let new = |message: String| Diagnostic::new(edited.place(&span), message).path(error.path());
    match error.fault() {
        Fault::UnknownField { found, known } => {
            let one = format!("one of {}", known.join(", "));
            let expected = if known.is_empty() { "no field".to_owned() } else { one };
            let diagnostic =
                new(format!("unknown field `{found}`")).expected(expected).found(format!("`{found}`"));
            suggest(diagnostic, found, known, "remove it; `subrosa list` explains every field")
        }
        Fault::UnknownName { found, known } => {
            let diagnostic = new(format!("unknown name `{found}`"))
                .expected(format!("one of {}", known.join(", ")))
                .found(format!("`{found}`"));
            suggest(diagnostic, found, known, "`subrosa list` explains every name")
        }
        Fault::MissingField { field, owner } => {
            let place = owner.as_ref().map_or_else(String::new, |owner| format!(" of {owner}"));
            let inside = if is_name(&found) {
                format!("inside the brackets of {found}")
            } else {
                "inside these brackets".to_owned()
            };
            new(format!("missing field `{field}`{place}"))
                .expected(format!("a value for `{field}`"))
                .found("none")
                .cure(format!("write {field}: .. {inside}"))
        }
        Fault::OtherName { expected, found } => new(format!("`{found}` instead of `{expected}`"))
            .expected(format!("{expected}(..)"))
            .found(found.clone())
            .cure(format!("write {expected}(..)")),
        Fault::Refused(message) => message_of(new(message.clone()), message, &found),
        Fault::Unfit { expected, .. } if expected.starts_with("a nonzero ") => {
            let expected = "a whole number above 0";
            new(format!("expected {expected}, found {found}"))
                .expected(expected)
                .found(found)
                .cure("write 1 or more")
        }
        Fault::Unfit { expected, found: what } => {
            new(format!("expected {expected}, found {what}")).expected(expected.clone()).found(found)
        }
        Fault::NoText => {
            let duration = found.chars().next().is_some_and(|c| c.is_ascii_digit());
            let cure = if duration {
                "put it in quotation marks; a duration also has a unit, as in \"40ms\""
            } else {
                "put it in quotation marks"
            };
            new("expected a text in quotation marks".to_owned()).expected("a text").found(found).cure(cure)
        }
        Fault::NotWhole if is_fraction(&found) => new("expected a whole number".to_owned())
            .expected("a whole number")
            .found(found)
            .cure("write it without a point or an exponent"),
        Fault::NotWhole | Fault::NoNumber => new("expected a number".to_owned())
            .expected("a number")
            .found(found)
            .cure("write a plain number, without quotation marks or units"),
        Fault::OutsideRange { least, most } => {
            let expected = format!("a whole number from {least} to {most}");
            new(format!("expected {expected}"))
                .expected(expected)
                .found(found)
                .cure("write a number of this range")
        }
        Fault::NoMap => new("expected entries in braces".to_owned())
            .expected("{ \"key\": value, .. }")
            .found(found)
            .cure("put the entries in braces"),
        Fault::NoList => new("expected a list in square brackets".to_owned())
            .expected("[value, ..]")
            .found(found)
            .cure("put the values in square brackets"),
        Fault::NeedsContent(name) => {
            let example = example_of(name).unwrap_or_else(|| format!("{name}(..)"));
            new(format!("`{name}` needs something in brackets"))
                .expected(format!("{name} followed by brackets"))
                .found(format!("`{name}` alone"))
                .cure(format!("write it as in {example}; `subrosa list {name}` explains what it takes"))
        }
        Fault::NeedsNames(name) => {
            let example = example_of(name).unwrap_or_else(|| format!("{name}(field: value, ..)"));
            new(format!("`{name}` takes fields with their names"))
                .expected(format!("{name}(field: value, ..)"))
                .found(found)
                .cure(format!("write it as in {example}; `subrosa list {name}` explains its fields"))
        }
        Fault::TakesNothing(name) => new(format!("`{name}` takes nothing in brackets"))
            .expected(format!("`{name}` alone"))
            .found(found)
            .cure(format!("write {name}")),
        Fault::NoFields(name) if span == root.span => new(format!("expected {name}(..)"))
            .expected(format!("{name}(..)"))
            .found(found)
            .cure(format!("write {name}(field: value, ..); `subrosa list {name}` explains its fields")),
        _ => misfit(new, root, culprit, found),
    }
}

fn suggest(diagnostic: Diagnostic, found: &str, names: &[&str], otherwise: &str) -> Diagnostic {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    match closest(found, &names) {
        Some(close) => diagnostic.cure(format!("did you mean `{close}`?")),
        None => diagnostic.cure(otherwise),
    }
}

/// The diagnostic for a value of another kind than its field accepts. The accepted values and the example come from the
/// schema at the place of the field or, if the text does not fit the schema, from the catalogue by the names of the field
/// and its owner.
fn misfit(
    new: impl Fn(String) -> Diagnostic,
    root: &Node,
    culprit: Option<&Entry>,
    found: String,
) -> Diagnostic {
    let Some(culprit) = culprit else {
        return new("a value that cannot stand here".to_owned())
            .expected("a comma, or the closing bracket of what was opened before")
            .found(found)
            .cure("look for a comma or a bracket that is missing just before, or for one too many");
    };
    let key = &culprit.key;
    let owner = owner_of(root, &culprit.key_span);
    let taken = |owner: &str| field_at(root, &culprit.key_span).or_else(|| field_of(owner, key));
    match owner.as_ref().and_then(|owner| Some((owner, taken(owner)?))) {
        Some((owner, (takes, example))) => {
            let cure = match (example, takes.as_str()) {
                (Some(example), _) => format!("write {key}: {example}, for example; "),
                (None, "a text") => "put the text in quotation marks; ".to_owned(),
                (None, "true or false") => format!("write {key}: true or {key}: false; "),
                (None, _) => String::new(),
            };
            new(format!("`{key}` of {owner} takes something else"))
                .expected(takes)
                .found(found)
                .cure(format!("{cure}`subrosa list {owner}` explains its fields"))
        }
        None => new(format!("`{key}` takes something else"))
            .expected("a value of the kind that the field asks for")
            .found(found)
            .cure("`subrosa list` shows what each field takes"),
    }
}

/// The name in front of the brackets that contain a field.
fn owner_of(root: &Node, key: &Range<usize>) -> Option<String> {
    let mut best: Option<&Node> = None;
    let mut look = vec![root];
    while let Some(node) = look.pop() {
        let holds = node.entries().iter().any(|entry| entry.key_span == *key);
        if holds {
            best = Some(node);
        }
        look.extend(node.children());
    }
    best?.name.clone()
}

/// Whether the text could be the name of a member: whether it begins with a capital letter.
fn is_name(text: &str) -> bool {
    text.chars().next().is_some_and(char::is_uppercase)
}

/// Completes the diagnostic of a value that its type has refused with the text `message`. Messages of range errors have the
/// form "expected .., found ..".
fn message_of(diagnostic: Diagnostic, message: &str, found: &str) -> Diagnostic {
    match message.split_once(", found ").map(|(expected, _)| expected.trim_start_matches("expected ")) {
        Some(expected) if message.starts_with("expected ") => {
            let cure = format!("write {expected}");
            diagnostic.expected(expected).found(found).cure(cure)
        }
        _ => diagnostic.found(found).cure("`subrosa list` shows what each field takes"),
    }
}

/// Whether the text is a number that has a point or an exponent.
fn is_fraction(text: &str) -> bool {
    text.contains(['.', 'e', 'E']) && text.parse::<f64>().is_ok_and(f64::is_finite)
}

fn shorten(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = text.trim().lines().next().unwrap_or("");
    if line.chars().count() <= LONGEST && line.len() == text.trim().len() {
        return line.to_owned();
    }
    let start: String = line.chars().take(LONGEST).collect();
    format!("{start} ..")
}
