//! From resolved text to typed values, with every error located in the user's own file.

use super::EXTENSIONS;
use super::diagnostic::{Diagnostic, Place};
use super::suggest::closest;
use super::sweep::Edited;
use super::tree::{self, Body, Node};
use serde::de::DeserializeOwned;
use std::ops::Range;

/// Largest number of errors reported for one text.
const MOST_ERRORS: usize = 20;

/// Reads a text as `T`; the caller has passed it, or the text from which it was made, through [`tree::read`]. After an
/// error the field that caused it is left out and reading continues, so that one call reports many errors; errors that
/// only follow from leaving it out are not reported.
pub(super) fn parse<T: DeserializeOwned>(edited: &Edited) -> Result<T, Vec<Diagnostic>> {
    let mut current = edited.clone();
    let mut problems: Vec<Diagnostic> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    while problems.len() < MOST_ERRORS {
        let failure = match read_typed::<T>(&current.text) {
            Ok(value) if problems.is_empty() => return Ok(value),
            Ok(_) => break,
            Err(failure) => failure,
        };
        let root = match tree::read(&current.text) {
            Ok(root) => root,
            Err(errors) => {
                problems.extend(errors.into_iter().map(|error| placed(error, &current)));
                break;
            }
        };
        let mut entry = culprit(&root, &failure);
        let mut follows = false;
        if let ron::Error::MissingStructField { field, .. } = &failure.code {
            follows = left_out.iter().any(|name| name == field);
        }
        if !follows {
            problems.push(diagnose(&current, &root, &failure, entry.as_ref()));
        }
        if let ron::Error::NoSuchStructField { expected, found, .. } = &failure.code {
            let names: Vec<String> = expected.iter().map(|&name| name.to_owned()).collect();
            left_out.extend(closest(found, &names).map(str::to_owned));
        }
        if matches!(failure.code, ron::Error::MissingStructField { .. }) {
            entry = enclosing(&root, &failure.path);
        }
        let Some(entry) = entry else { break };
        left_out.push(entry.key);
        current = current.without(entry.span);
    }
    Err(problems)
}

/// A failure of the typed reader.
struct Failure {
    code: ron::Error,
    /// Byte where the reader stood.
    byte: usize,
    path: String,
}

fn read_typed<T: DeserializeOwned>(text: &str) -> Result<T, Failure> {
    let options = ron::Options::default().with_default_extension(EXTENSIONS);
    let spanned = |code: ron::Error, byte: usize, path: String| Failure { code, byte, path };
    let mut deserializer = ron::Deserializer::from_str_with_options(text, &options)
        .map_err(|error| spanned(error.code, byte_of(text, &error.span.start), String::new()))?;
    let value: Result<T, _> = serde_path_to_error::deserialize(&mut deserializer);
    value
        .map_err(|error| {
            let path = error.path().to_string();
            let placed = deserializer.span_error(error.into_inner());
            // The reader's position is after the text that it refused; the last byte before it is inside.
            spanned(placed.code, byte_of(text, &placed.span.end), path)
        })
        .and_then(|value| {
            deserializer.end().map_err(|code| {
                let placed = deserializer.span_error(code);
                spanned(placed.code, byte_of(text, &placed.span.start), String::new())
            })?;
            Ok(value)
        })
}

fn byte_of(text: &str, position: &ron::error::Position) -> usize {
    let start: usize = text.split_inclusive('\n').take(position.line.saturating_sub(1)).map(str::len).sum();
    let line = text[start.min(text.len())..].split('\n').next().unwrap_or("");
    let column = position.col.saturating_sub(1);
    let inside = line.char_indices().nth(column).map_or(line.len(), |(byte, _)| byte);
    (start + inside).min(text.len())
}

/// The innermost field that the failure is about: its key and its whole span.
struct Culprit {
    key: String,
    key_span: Range<usize>,
    span: Range<usize>,
    value: Range<usize>,
}

fn culprit(root: &Node, failure: &Failure) -> Option<Culprit> {
    match &failure.code {
        // The reader stops right after the name that it does not know.
        ron::Error::NoSuchStructField { found, .. } => named(root, found, failure.byte),
        ron::Error::MissingStructField { .. } => None,
        _ => innermost(root, failure.byte),
    }
}

/// The innermost field on the way to `path`: the value of a struct that lacks a field, or the field that contains it.
fn enclosing(root: &Node, path: &str) -> Option<Culprit> {
    let (node, _) = root.follow(&tree::path(path)?);
    let mut found = None;
    let mut look = vec![root];
    while let Some(outer) = look.pop() {
        for entry in outer.entries() {
            let holds = entry.value.span.start <= node.span.start && node.span.end <= entry.value.span.end;
            if holds {
                found = Some(entry_of(entry));
            }
        }
        look.extend(
            outer
                .children()
                .into_iter()
                .filter(|child| child.span.start <= node.span.start && node.span.end <= child.span.end),
        );
    }
    found
}

fn entry_of(entry: &tree::Entry) -> Culprit {
    Culprit {
        key: entry.key.clone(),
        key_span: entry.key_span.clone(),
        span: entry.span.clone(),
        value: entry.value.span.clone(),
    }
}

/// The field called `name` that stands closest before `byte`.
fn named(node: &Node, name: &str, byte: usize) -> Option<Culprit> {
    let mut best: Option<Culprit> = None;
    let mut look = vec![node];
    while let Some(node) = look.pop() {
        for entry in node.entries() {
            let closer = best.as_ref().is_none_or(|best| best.key_span.start < entry.key_span.start);
            if entry.key == name && entry.key_span.start <= byte && closer {
                best = Some(entry_of(entry));
            }
        }
        look.extend(node.children());
    }
    best
}

/// The innermost field whose value ends at or behind `byte` and begins before it.
fn innermost(node: &Node, byte: usize) -> Option<Culprit> {
    let within = |span: &Range<usize>| span.start < byte && byte <= span.end;
    for entry in node.entries() {
        if within(&entry.value.span) || within(&(entry.key_span.start..entry.value.span.end)) {
            return innermost(&entry.value, byte).or_else(|| Some(entry_of(entry)));
        }
    }
    node.children().into_iter().filter(|child| within(&child.span)).find_map(|child| innermost(child, byte))
}

fn placed(mut diagnostic: Diagnostic, edited: &Edited) -> Diagnostic {
    if let Place::At(span) = &diagnostic.place {
        diagnostic.place = edited.place(span);
    }
    diagnostic
}

fn diagnose(edited: &Edited, root: &Node, failure: &Failure, culprit: Option<&Culprit>) -> Diagnostic {
    let text = &edited.text;
    let span = match (&failure.code, culprit) {
        (ron::Error::NoSuchStructField { .. }, Some(culprit)) => culprit.key_span.clone(),
        (_, Some(culprit)) => value_at(root, &culprit.value, failure.byte),
        (ron::Error::MissingStructField { .. }, None) => {
            let steps = tree::path(&failure.path).unwrap_or_default();
            let (node, _) = root.follow(&steps);
            let name = node.name.as_ref().map_or(1, String::len);
            node.span.start..node.span.start + name
        }
        (_, None) => failure.byte..(failure.byte + 1).min(text.len()),
    };
    let found = shorten(&text[span.clone()]);
    let new = |message: String| Diagnostic::new(edited.place(&span), message).path(failure.path.clone());
    let list = |names: &[&str]| names.join(", ");
    let suggest = |diagnostic: Diagnostic, found: &str, names: &[&str], otherwise: &str| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        match closest(found, &names) {
            Some(close) => diagnostic.cure(format!("did you mean `{close}`?")),
            None => diagnostic.cure(otherwise),
        }
    };
    match &failure.code {
        ron::Error::NoSuchStructField { expected, found, .. } => {
            let diagnostic = new(format!("unknown field `{found}`"))
                .expected(if expected.is_empty() {
                    "no field".to_owned()
                } else {
                    format!("one of {}", list(expected))
                })
                .found(format!("`{found}`"));
            suggest(diagnostic, found, expected, "remove it; `subrosa list` explains every field")
        }
        ron::Error::NoSuchEnumVariant { expected, found, .. } => {
            let diagnostic = new(format!("unknown name `{found}`"))
                .expected(format!("one of {}", list(expected)))
                .found(format!("`{found}`"));
            suggest(diagnostic, found, expected, "`subrosa list` explains every name")
        }
        ron::Error::MissingStructField { field, outer } => {
            let place = outer.as_ref().map_or_else(String::new, |outer| format!(" of {outer}"));
            new(format!("missing field `{field}`{place}"))
                .expected(format!("a value for `{field}`"))
                .found("none")
                .cure(format!("write {field}: .. inside these brackets"))
        }
        ron::Error::ExpectedDifferentStructName { expected, found } => {
            new(format!("`{found}` instead of `{expected}`"))
                .expected(format!("{expected}(..)"))
                .found(found.clone())
                .cure(format!("write {expected}(..)"))
        }
        ron::Error::Message(message) => message_of(new(message.clone()), message, &found),
        ron::Error::InvalidValueForType { expected, .. } if expected.starts_with("a nonzero ") => {
            let expected = "a whole number above 0";
            new(format!("expected {expected}, found {found}"))
                .expected(expected)
                .found(found)
                .cure("write 1 or more")
        }
        ron::Error::InvalidValueForType { expected, found: what } => {
            new(format!("expected {expected}, found {what}")).expected(expected.clone()).found(found)
        }
        ron::Error::ExpectedString | ron::Error::ExpectedStringEnd => {
            let duration = found.chars().next().is_some_and(|c| c.is_ascii_digit());
            let cure = if duration {
                "write durations with units and in quotation marks, as in \"40ms\""
            } else {
                "put it in quotation marks"
            };
            new("expected a text in quotation marks".to_owned()).expected("a text").found(found).cure(cure)
        }
        // The reader stops at the decimal point.
        ron::Error::ExpectedComma | ron::Error::ExpectedInteger | ron::Error::InvalidIntegerDigit { .. }
            if is_fraction(&found) =>
        {
            let key = culprit.map_or("", |culprit| &culprit.key);
            new("expected a whole number".to_owned())
                .path(failure.path.replace('?', key))
                .expected("a whole number")
                .found(found)
                .cure("write it without a point or an exponent")
        }
        ron::Error::ExpectedFloat | ron::Error::ExpectedInteger | ron::Error::InvalidIntegerDigit { .. } => {
            new("expected a number".to_owned())
                .expected("a number")
                .found(found)
                .cure("write a plain number, without quotation marks or units")
        }
        ron::Error::IntegerOutOfBounds => new("the number does not fit".to_owned())
            .expected("a whole number, 0 or above, below 2^64")
            .found(found)
            .cure("write a smaller number without a sign"),
        ron::Error::ExpectedIdentifier => new("expected a name".to_owned())
            .expected("a name such as Constant(..)")
            .found(found)
            .cure("`subrosa list` shows the names there are"),
        ron::Error::ExpectedMap => new("expected entries in braces".to_owned())
            .expected("{ \"key\": value, .. }")
            .found(found)
            .cure("put the entries in braces"),
        ron::Error::ExpectedArray => new("expected a list in square brackets".to_owned())
            .expected("[value, ..]")
            .found(found)
            .cure("put the values in square brackets"),
        other => {
            let words = other.to_string();
            new(words.clone())
                .expected("a value of the kind that the field asks for")
                .found(found)
                .cure("`subrosa list` shows what each field takes")
        }
    }
}

/// Range errors come as "expected .., found ..".
fn message_of(diagnostic: Diagnostic, message: &str, found: &str) -> Diagnostic {
    match message.split_once(", found ").map(|(expected, _)| expected.trim_start_matches("expected ")) {
        Some(expected) if message.starts_with("expected ") => {
            let cure = format!("write {expected}");
            diagnostic.expected(expected).found(found).cure(cure)
        }
        _ => diagnostic.found(found).cure("`subrosa list` shows what each field takes"),
    }
}

/// The smallest value inside `outer` that ends at or behind `byte`.
fn value_at(root: &Node, outer: &Range<usize>, byte: usize) -> Range<usize> {
    let mut best = outer.clone();
    let mut look = vec![root];
    while let Some(node) = look.pop() {
        let inside = outer.start <= node.span.start && node.span.end <= outer.end;
        let holds = node.span.start < byte && byte <= node.span.end;
        if inside && holds && node.span.len() < best.len() && matches!(node.body, Body::Leaf) {
            best = node.span.clone();
        }
        look.extend(node.children());
    }
    best
}

/// Whether this is a number that has a point or an exponent.
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
