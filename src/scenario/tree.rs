//! Parses RON text into a tree of values with their positions.

use super::diagnostic::{Diagnostic, Place};
use super::{names, nesting};
use crate::vocab::value::{Body, Entry, Key, Node, Number, Scalar, Step};
use ron2::ast::{Expr, NumberKind, StructBody, parse_document};
use std::ops::Range;

/// The message for a text without a value.
const NO_VALUE: &str = "there is no value";

/// Reads a text. Reports only the first syntax error. If there is no syntax error, reports every duplicate key and every
/// number that is not finite.
pub(super) fn read(text: &str) -> Result<Node, Vec<Diagnostic>> {
    if let Some(problem) = names::hidden(text).or_else(|| nesting::problem(text)) {
        return Err(vec![problem]);
    }
    let document = parse_document(text).map_err(|error| {
        let span = error.span();
        let start = span.start_offset.min(text.len());
        let message = format!("not valid RON: {}", error.kind());
        vec![
            Diagnostic::new(Place::at(start..span.end_offset.clamp(start, text.len())), message)
                .cure("look for a missing bracket, comma or quotation mark here or just before"),
        ]
    })?;
    let Some(value) = &document.value else {
        return Err(vec![
            Diagnostic::new(Place::Whole, NO_VALUE.to_owned())
                .expected("a value, such as Scenario(name: .., seed: .., ..)")
                .found("nothing but spaces and comments")
                .cure("write the value; `subrosa list` shows what a scenario may contain"),
        ]);
    };
    let mut problems = Vec::new();
    let node = convert(value, &mut problems);
    if problems.is_empty() { Ok(node) } else { Err(problems) }
}

fn range(span: &ron2::error::Span) -> Range<usize> {
    span.start_offset..span.end_offset
}

fn convert(expr: &Expr<'_>, problems: &mut Vec<Diagnostic>) -> Node {
    let span = range(expr.span());
    let leaf = |scalar| Node::leaf(span.clone(), scalar);
    let named = |name: &str, body| Node { span: span.clone(), name: Some(name.to_owned()), body };
    match expr {
        Expr::Number(number) => {
            if number.kind == NumberKind::SpecialFloat {
                problems.push(
                    Diagnostic::new(Place::at(span.clone()), "not a finite number".to_owned())
                        .expected("a finite number")
                        .found(number.raw.as_ref())
                        .cure("write the number out"),
                );
            }
            leaf(Scalar::Number(Number::Written(number.raw.clone().into_owned())))
        }
        Expr::Byte(byte) => leaf(Scalar::Number(Number::Unsigned(byte.value.into()))),
        Expr::Seq(list) => {
            let items = list.items.iter().map(|item| convert(&item.expr, problems)).collect();
            Node { span, name: None, body: Body::List(items) }
        }
        Expr::Tuple(tuple) => {
            let items = tuple.elements.iter().map(|item| convert(&item.expr, problems)).collect();
            Node { span, name: None, body: Body::Tuple(items) }
        }
        Expr::Map(map) => {
            let mut entries = Vec::new();
            for entry in &map.entries {
                let key_span = range(entry.key.span());
                let (key, kind) = match &entry.key {
                    Expr::String(text) => (text.value.clone(), Key::Text),
                    other => {
                        let node = convert(other, problems);
                        let kind = if matches!(node.body, Body::Leaf(Scalar::Name)) {
                            Key::Name
                        } else {
                            Key::Other
                        };
                        (node.name.unwrap_or_default(), kind)
                    }
                };
                let end = entry.comma.as_ref().map_or(entry.value.span().end_offset, |c| c.end_offset);
                let value = convert(&entry.value, problems);
                entries.push(Entry { key, kind, span: key_span.start..end, key_span, value });
            }
            duplicates(&entries, "key", problems);
            Node { span, name: None, body: Body::Map(entries) }
        }
        Expr::AnonStruct(anonymous) => {
            let body = fields(&anonymous.fields, problems);
            Node { span, name: None, body }
        }
        Expr::Struct(written) => {
            let body = match &written.body {
                Some(StructBody::Fields(body)) => fields(&body.fields, problems),
                Some(StructBody::Tuple(body)) => {
                    Body::Tuple(body.elements.iter().map(|e| convert(&e.expr, problems)).collect())
                }
                None => Body::Leaf(Scalar::Name),
            };
            named(plain(&written.name.name), body)
        }
        Expr::Option(option) => match &option.value {
            Some(value) => {
                let inner = convert(&value.expr, problems);
                named("Some", Body::Tuple(vec![inner]))
            }
            None => named("None", Body::Leaf(Scalar::Name)),
        },
        Expr::String(text) => leaf(Scalar::Text(text.value.clone())),
        Expr::Bytes(bytes) => leaf(Scalar::Bytes(bytes.value.clone())),
        Expr::Char(letter) => leaf(Scalar::Letter(letter.value)),
        Expr::Bool(truth) => leaf(Scalar::Truth(truth.value)),
        // `Expr::Error` does not occur, since the parser returns errors instead of a tree.
        Expr::Unit(_) | Expr::Error(_) => leaf(Scalar::Nothing),
    }
}

/// A name without the prefix of raw identifiers, as in `r#type`.
fn plain(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

fn fields(fields: &[ron2::ast::StructField<'_>], problems: &mut Vec<Diagnostic>) -> Body {
    let entries: Vec<Entry> = fields
        .iter()
        .map(|field| {
            let key_span = range(&field.name.span);
            let end = field.comma.as_ref().map_or(field.value.span().end_offset, |c| c.end_offset);
            let value = convert(&field.value, problems);
            let key = plain(&field.name.name).to_owned();
            Entry { key, kind: Key::Name, span: key_span.start..end, key_span, value }
        })
        .collect();
    duplicates(&entries, "field", problems);
    Body::Fields(entries)
}

/// Reports every key that occurs a second time.
pub(super) fn duplicates(entries: &[Entry], what: &str, problems: &mut Vec<Diagnostic>) {
    for (index, entry) in entries.iter().enumerate() {
        // Keys that are neither texts nor names are not compared, because their contents are not stored in the tree.
        // Such a key is refused when the map is read into its type.
        let same = |earlier: &Entry| earlier.kind != Key::Other && earlier.key == entry.key;
        if entry.kind != Key::Other && entries[..index].iter().any(same) {
            problems.push(
                Diagnostic::new(
                    Place::at(entry.key_span.clone()),
                    format!("duplicate {what} `{}`", entry.key),
                )
                .expected(format!("each {what} once"))
                .found(format!("`{}` a second time", entry.key))
                .cure("keep one of the two"),
            );
        }
    }
}

/// Whether the value has a field called `name` that holds the same text as the argument `name`.
fn has_name(node: &Node, name: &str) -> bool {
    node.entries().iter().any(|entry| entry.key == "name" && entry.value.text() == Some(name))
}

/// Follows a path as far as possible, and returns the value reached and the number of steps taken. A path may leave out the
/// names of enum variants.
pub(super) fn follow<'a>(node: &'a Node, path: &[Step]) -> (&'a Node, usize) {
    let Some(step) = path.first() else { return (node, 0) };
    let on = |inner: &'a Node| {
        let (reached, taken) = follow(inner, &path[1..]);
        (reached, taken + 1)
    };
    match (step, &node.body) {
        (Step::Name(name), Body::Fields(entries) | Body::Map(entries))
            if entries.iter().any(|entry| entry.key == *name) =>
        {
            on(&entries.iter().find(|entry| entry.key == *name).expect("just seen").value)
        }
        // An item of a list by the text of its field `name`: `series["open"]`.
        (Step::Name(name), Body::List(items)) if items.iter().any(|item| has_name(item, name)) => {
            on(items.iter().find(|item| has_name(item, name)).expect("just seen"))
        }
        (Step::Index(index), Body::List(items) | Body::Tuple(items)) if *index < items.len() => {
            on(&items[*index])
        }
        (Step::Name(name), _) if node.name.as_ref() == Some(name) => match &node.body {
            // `Variant(value)` has one value, in which the rest of the path may continue.
            Body::Tuple(items) if items.len() == 1 && path.len() > 1 => on(&items[0]),
            Body::Fields(_) | Body::Tuple(_) | Body::List(_) | Body::Map(_) | Body::Leaf(_) => on(node),
        },
        (_, Body::Tuple(items)) if items.len() == 1 && node.name.is_some() => follow(&items[0], path),
        _ => (node, 0),
    }
}

/// Reads a path: names separated by dots, `[3]` for positions, and `["key"]` for keys with special characters. `None` if
/// the text is not a path.
pub(super) fn path(text: &str) -> Option<Vec<Step>> {
    let mut steps = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        if let Some(inner) = rest.strip_prefix('[') {
            if let Some(quoted) = inner.strip_prefix('"') {
                let (key, after) = quoted.split_once("\"]")?;
                steps.push(Step::Name(key.to_owned()));
                rest = after;
            } else {
                let (number, after) = inner.split_once(']')?;
                steps.push(Step::Index(number.trim().parse().ok()?));
                rest = after;
            }
            rest = rest.strip_prefix('.').unwrap_or(rest);
            continue;
        }
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let name = &rest[..end];
        if name.is_empty() || name == "?" {
            return None;
        }
        steps.push(Step::Name(name.to_owned()));
        rest = &rest[end..];
        rest = rest.strip_prefix('.').unwrap_or(rest);
    }
    Some(steps)
}
