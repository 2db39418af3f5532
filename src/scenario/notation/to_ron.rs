//! Translates a scenario from JSON to RON, and stores for every byte of the RON its place in the JSON. The schema of the
//! language determines what an object or a text stands for: a struct, a map or a member of a family.

use super::read::read;
use crate::scenario::diagnostic::{Diagnostic, Place};
use crate::scenario::printable::controls_display;
use crate::scenario::shape::{Kind, Shape};
use crate::scenario::sweep::{EditedText, Translation};
use crate::vocab::value::{Body, Entry, Node, Number, Scalar};
use std::ops::Range;

/// A key of the outermost object. Editors read the value of this key, and a run ignores it.
const SCHEMA: &str = "$schema";

/// The document in RON. `root` describes the type of the document, such as the type of a scenario.
pub(in crate::scenario) fn to_ron(
    text: &str,
    root: Option<Shape<'_>>,
) -> Result<EditedText, Vec<Diagnostic>> {
    let mut tree = read(text)?;
    if let Body::Map(entries) = &mut tree.body {
        entries.retain(|entry| entry.key != SCHEMA);
    }
    let mut writer = Writer { out: Translation::default(), problems: Vec::new() };
    writer.value(&tree, root);
    if writer.problems.is_empty() { Ok(writer.out.finish()) } else { Err(writer.problems) }
}

/// Whether RON can write the text as a name, without quotation marks.
fn is_word(text: &str) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        && !["true", "false", "inf", "NaN"].contains(&text)
}

/// A text in quotation marks, as RON writes it.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            letter if controls_display(letter) => out.push_str(&format!("\\u{{{:x}}}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// The bytes inside of the quotation marks of a text or key.
fn inside(span: &Range<usize>) -> Range<usize> {
    span.start + 1..span.end.saturating_sub(1).max(span.start + 1)
}

/// The first byte of a value; for an object and a list, the opening bracket.
fn opening(node: &Node) -> Range<usize> {
    node.span.start..node.span.start + 1
}

/// The last byte of a value; for an object and a list, the closing bracket.
fn closing(node: &Node) -> Range<usize> {
    node.span.end - 1..node.span.end
}

/// The RON that is written so far, and the problems that are found so far.
struct Writer {
    out: Translation,
    problems: Vec<Diagnostic>,
}

impl Writer {
    fn value(&mut self, node: &Node, shape: Option<Shape<'_>>) {
        match &node.body {
            Body::Map(entries) => self.object(node, entries, shape),
            Body::List(items) => {
                let is_tuple = shape.is_some_and(|shape| shape.kind() == Kind::Tuple);
                let (open, close) = if is_tuple { ("(", ")") } else { ("[", "]") };
                self.out.push(open, opening(node));
                for (index, item) in items.iter().enumerate() {
                    self.separate(index, item.span.start);
                    self.value(item, shape.and_then(|shape| shape.item(index)));
                }
                self.out.push(close, closing(node));
            }
            Body::Leaf(scalar) => self.leaf(node, scalar, shape),
            // JSON has neither fields nor tuples.
            Body::Fields(_) | Body::Tuple(_) => {}
        }
    }

    fn separate(&mut self, index: usize, at: usize) {
        if index > 0 {
            self.out.push(", ", at..at);
        }
    }

    fn leaf(&mut self, node: &Node, scalar: &Scalar, shape: Option<Shape<'_>>) {
        let kind = shape.map_or(Kind::Any, Shape::kind);
        let place = node.span.clone();
        match scalar {
            Scalar::Text(text) if kind == Kind::Choice && is_word(text) => {
                self.out.push(text, inside(&place));
            }
            Scalar::Text(text) => self.out.push(&quoted(text), place),
            Scalar::Truth(value) => self.out.push(&value.to_string(), place),
            Scalar::Number(Number::Written(digits)) if kind == Kind::Whole => {
                // Some languages write every number with a decimal point, as in 3.0.
                let whole = digits.split_once('.').filter(|(_, part)| part.bytes().all(|byte| byte == b'0'));
                self.out.push(whole.map_or(digits.as_str(), |(whole, _)| whole), place);
            }
            Scalar::Number(Number::Written(digits)) => self.out.push(digits, place),
            // One of the members is called `None` here, so `None` in RON would be this member, and not an absent value.
            Scalar::Nothing if shape.is_some_and(|shape| shape.members().contains(&"None")) => {
                let names = shape.map(Shape::members).unwrap_or_default();
                self.problems.push(
                    Diagnostic::new(Place::at(place), "expected a name, found null".to_owned())
                        .expected(format!("one of {}", names.join(", ")))
                        .found("null")
                        .cure("write the name in quotation marks, or leave the field out"),
                );
            }
            Scalar::Nothing => self.out.push("None", place),
            // JSON has no other scalars.
            _ => {}
        }
    }

    fn object(&mut self, node: &Node, entries: &[Entry], shape: Option<Shape<'_>>) {
        if let [Entry { key, key_span, value, .. }] = entries
            && key == "Each"
            && let Body::List(arguments) = &value.body
        {
            return self.each(key_span, value, arguments, shape);
        }
        match shape.map_or(Kind::Any, Shape::kind) {
            Kind::Struct => {
                let name = shape.and_then(Shape::name).unwrap_or_default();
                self.out.push(name, opening(node));
                self.fields(node, entries, shape);
            }
            Kind::Choice => match entries {
                [entry] => self.member(entry, shape),
                _ => {
                    let names = shape.map(Shape::members).unwrap_or_default();
                    let found = match entries.len() {
                        0 => "an object without a key".to_owned(),
                        many => format!("an object with {many} keys"),
                    };
                    let message = format!("expected an object with one key, found {found}");
                    self.problems.push(
                        Diagnostic::new(Place::at(opening(node)), message)
                            .expected(format!("one of {} as the only key", names.join(", ")))
                            .found(found)
                            .cure("write {\"Name\": content}; `subrosa list` explains every name"),
                    );
                }
            },
            _ => {
                self.out.push("{", opening(node));
                for (index, entry) in entries.iter().enumerate() {
                    self.separate(index, entry.key_span.start);
                    self.out.push(&quoted(&entry.key), entry.key_span.clone());
                    self.out.push(": ", entry.value.span.start..entry.value.span.start);
                    self.value(&entry.value, shape.and_then(Shape::entry));
                }
                self.out.push("}", closing(node));
            }
        }
    }

    /// The fields of a struct, in brackets.
    fn fields(&mut self, node: &Node, entries: &[Entry], shape: Option<Shape<'_>>) {
        self.out.push("(", opening(node));
        for (index, entry) in entries.iter().enumerate() {
            self.separate(index, entry.key_span.start);
            if !is_word(&entry.key) {
                self.problems.push(
                    Diagnostic::new(
                        Place::at(entry.key_span.clone()),
                        format!("unknown field {:?}", entry.key),
                    )
                    .expected("the name of a field: letters, digits and _")
                    .found(format!("{:?}", entry.key))
                    .cure("remove it; `subrosa list` explains every field"),
                );
            }
            self.out.push(&entry.key, inside(&entry.key_span));
            self.out.push(": ", entry.value.span.start..entry.value.span.start);
            self.value(&entry.value, shape.and_then(|shape| shape.field(&entry.key)));
        }
        self.out.push(")", closing(node));
    }

    /// A member of a family with its content.
    fn member(&mut self, entry: &Entry, shape: Option<Shape<'_>>) {
        if !is_word(&entry.key) {
            let names = shape.map(Shape::members).unwrap_or_default();
            self.problems.push(
                Diagnostic::new(Place::at(entry.key_span.clone()), format!("unknown name {:?}", entry.key))
                    .expected(format!("one of {}", names.join(", ")))
                    .found(format!("{:?}", entry.key))
                    .cure("`subrosa list` explains every name"),
            );
        }
        self.out.push(&entry.key, inside(&entry.key_span));
        let content = shape.and_then(|shape| shape.member(&entry.key));
        let value = &entry.value;
        match (&value.body, content.map_or(Kind::Any, Shape::kind)) {
            (Body::Leaf(Scalar::Nothing), Kind::Nothing | Kind::Any) => {}
            (Body::Map(entries), Kind::Struct) if !is_each(entries) => self.fields(value, entries, content),
            // The fields of a member that is not known.
            (Body::Map(entries), Kind::Any) => self.fields(value, entries, None),
            (Body::List(_), Kind::Tuple) => self.value(value, content),
            _ => {
                self.out.push("(", opening(value));
                self.value(value, content);
                self.out.push(")", closing(value));
            }
        }
    }

    /// An `Each`: its values have the shape of the place where it stands.
    fn each(&mut self, key: &Range<usize>, list: &Node, arguments: &[Node], shape: Option<Shape<'_>>) {
        self.out.push("Each", inside(key));
        self.out.push("(", opening(list));
        for (index, argument) in arguments.iter().enumerate() {
            self.separate(index, argument.span.start);
            match &argument.body {
                Body::List(items) => {
                    self.out.push("[", opening(argument));
                    for (index, item) in items.iter().enumerate() {
                        self.separate(index, item.span.start);
                        self.value(item, shape);
                    }
                    self.out.push("]", closing(argument));
                }
                Body::Map(entries) => match entries.as_slice() {
                    [entry] if ["Range", "LogRange"].contains(&entry.key.as_str()) => self.range(entry),
                    _ => {
                        self.out.push("{", opening(argument));
                        for (index, entry) in entries.iter().enumerate() {
                            self.separate(index, entry.key_span.start);
                            self.out.push(&quoted(&entry.key), entry.key_span.clone());
                            self.out.push(": ", entry.value.span.start..entry.value.span.start);
                            self.value(&entry.value, shape);
                        }
                        self.out.push("}", closing(argument));
                    }
                },
                _ => self.value(argument, None),
            }
        }
        self.out.push(")", closing(list));
    }

    fn range(&mut self, entry: &Entry) {
        self.out.push(&entry.key, inside(&entry.key_span));
        self.out.push("(", opening(&entry.value));
        for (index, bound) in entry.value.children().into_iter().enumerate() {
            self.separate(index, bound.span.start);
            self.value(bound, None);
        }
        self.out.push(")", closing(&entry.value));
    }
}

fn is_each(entries: &[Entry]) -> bool {
    matches!(entries, [entry] if entry.key == "Each" && matches!(entry.value.body, Body::List(_)))
}
