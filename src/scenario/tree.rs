//! A RON text as a tree of values with their positions.

use super::diagnostic::{Diagnostic, Place};
use super::{names, nesting};
use ron2::ast::{Expr, NumberKind, StructBody, parse_document};
use std::ops::Range;

/// A value and its bytes in the text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) span: Range<usize>,
    /// Name in front of brackets, as in `Name(..)`, or a bare name.
    pub(super) name: Option<String>,
    pub(super) body: Body,
}

/// What a value consists of.
#[derive(Clone, Debug)]
pub(super) enum Body {
    /// `(field: value, ..)`
    Fields(Vec<Entry>),
    /// `(value, ..)`
    Tuple(Vec<Node>),
    /// `[value, ..]`
    List(Vec<Node>),
    /// `{key: value, ..}`
    Map(Vec<Entry>),
    /// A number, a text, a truth value, nothing, or a bare name.
    Leaf,
}

/// A field of a struct or an entry of a map.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// Name of the field, or the key's text without quotes.
    pub(super) key: String,
    pub(super) key_span: Range<usize>,
    /// From the key to the comma behind the value, if there is one.
    pub(super) span: Range<usize>,
    pub(super) value: Node,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A field, a map key, or the name of an enum variant.
    Name(String),
    /// A position in a list or tuple.
    Index(usize),
}

/// Reads a text. Syntax stops at the first error; duplicate keys and numbers that are not finite are all reported.
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
            Diagnostic::new(Place::Whole, "the file contains no scenario".to_owned())
                .cure("write Scenario(name: .., seed: .., ..); `subrosa list` shows what it may hold"),
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
    let leaf = |name| Node { span: span.clone(), name, body: Body::Leaf };
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
            leaf(None)
        }
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
                let key = match &entry.key {
                    Expr::String(text) => text.value.clone(),
                    other => convert(other, problems).name.unwrap_or_default(),
                };
                let end = entry.comma.as_ref().map_or(entry.value.span().end_offset, |c| c.end_offset);
                let value = convert(&entry.value, problems);
                entries.push(Entry { key, span: key_span.start..end, key_span, value });
            }
            duplicates(&entries, "key", problems);
            Node { span, name: None, body: Body::Map(entries) }
        }
        Expr::AnonStruct(anonymous) => {
            let body = fields(&anonymous.fields, problems);
            Node { span, name: None, body }
        }
        Expr::Struct(named) => {
            let name = Some(named.name.name.clone().into_owned());
            let body = match &named.body {
                Some(StructBody::Fields(body)) => fields(&body.fields, problems),
                Some(StructBody::Tuple(body)) => {
                    Body::Tuple(body.elements.iter().map(|e| convert(&e.expr, problems)).collect())
                }
                None => Body::Leaf,
            };
            Node { span, name, body }
        }
        Expr::Option(option) => match &option.value {
            Some(value) => {
                let inner = convert(&value.expr, problems);
                Node { span, name: Some("Some".to_owned()), body: Body::Tuple(vec![inner]) }
            }
            None => leaf(Some("None".to_owned())),
        },
        Expr::Unit(_)
        | Expr::Bool(_)
        | Expr::Char(_)
        | Expr::Byte(_)
        | Expr::String(_)
        | Expr::Bytes(_)
        | Expr::Error(_) => leaf(None),
    }
}

fn fields(fields: &[ron2::ast::StructField<'_>], problems: &mut Vec<Diagnostic>) -> Body {
    let entries: Vec<Entry> = fields
        .iter()
        .map(|field| {
            let key_span = range(&field.name.span);
            let end = field.comma.as_ref().map_or(field.value.span().end_offset, |c| c.end_offset);
            let value = convert(&field.value, problems);
            Entry { key: field.name.name.clone().into_owned(), span: key_span.start..end, key_span, value }
        })
        .collect();
    duplicates(&entries, "field", problems);
    Body::Fields(entries)
}

fn duplicates(entries: &[Entry], what: &str, problems: &mut Vec<Diagnostic>) {
    for (index, entry) in entries.iter().enumerate() {
        if entries[..index].iter().any(|earlier| earlier.key == entry.key) {
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

impl Node {
    /// The entries of a struct or a map.
    pub(super) fn entries(&self) -> &[Entry] {
        match &self.body {
            Body::Fields(entries) | Body::Map(entries) => entries,
            Body::Tuple(_) | Body::List(_) | Body::Leaf => &[],
        }
    }

    /// All values directly inside.
    pub(super) fn children(&self) -> Vec<&Self> {
        match &self.body {
            Body::Fields(entries) | Body::Map(entries) => entries.iter().map(|e| &e.value).collect(),
            Body::Tuple(items) | Body::List(items) => items.iter().collect(),
            Body::Leaf => Vec::new(),
        }
    }

    /// Follows a path as far as it goes: the value reached, and how many steps were taken. The name of an enum
    /// variant may be written or left out.
    pub(super) fn follow(&self, path: &[Step]) -> (&Self, usize) {
        let Some(step) = path.first() else { return (self, 0) };
        match (step, &self.body) {
            (Step::Name(name), Body::Fields(entries) | Body::Map(entries))
                if entries.iter().any(|entry| entry.key == *name) =>
            {
                let entry = entries.iter().find(|entry| entry.key == *name).expect("just seen");
                let (node, taken) = entry.value.follow(&path[1..]);
                (node, taken + 1)
            }
            (Step::Index(index), Body::List(items) | Body::Tuple(items)) if *index < items.len() => {
                let (node, taken) = items[*index].follow(&path[1..]);
                (node, taken + 1)
            }
            (Step::Name(name), _) if self.name.as_ref() == Some(name) => {
                let rest = &path[1..];
                // `Variant(value)` holds one value in which the path may continue.
                let (node, taken) = match &self.body {
                    Body::Tuple(items) if items.len() == 1 && !rest.is_empty() => items[0].follow(rest),
                    Body::Fields(_) | Body::Tuple(_) | Body::List(_) | Body::Map(_) | Body::Leaf => {
                        self.follow(rest)
                    }
                };
                (node, taken + 1)
            }
            (_, Body::Tuple(items)) if items.len() == 1 && self.name.is_some() => items[0].follow(path),
            _ => (self, 0),
        }
    }
}

/// Reads a path: names, `[3]` for positions, `["key"]` for keys with unusual letters, dots between.
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
