//! The place of a cursor in a scenario: the brackets that are open there, and what may stand at the cursor.

use crate::scenario::catalogue;
use crate::scenario::shape::{Kind as Value, Shape};
use crate::scenario::tokens::{Kind, Token};
use std::sync::OnceLock;

/// The schema of the scenario language. It is made once, since no members can be added after the schema's first use.
pub(super) fn language() -> &'static serde_json::Value {
    static LANGUAGE: OnceLock<serde_json::Value> = OnceLock::new();
    LANGUAGE.get_or_init(catalogue::language)
}

/// A pair of brackets that is open at the cursor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame<'t> {
    /// The opening bracket.
    pub(super) open: &'t str,
    /// The position of the opening bracket among the tokens.
    pub(super) at: usize,
    /// The name in front of the opening bracket.
    pub(super) name: Option<&'t str>,
    /// The token of the key whose value the cursor is in.
    pub(super) key: Option<Token<'t>>,
    /// How many entries end before the cursor.
    index: usize,
}

/// The place of the cursor.
#[derive(Debug)]
pub(super) struct Context<'t> {
    /// The open brackets, the outermost first.
    pub(super) frames: Vec<Frame<'t>>,
    /// The position, among the tokens, of the token that the cursor touches, if this token is a name, a number or a text.
    pub(super) word: Option<usize>,
}

/// What may stand at a place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Expected {
    /// The name of a field of this struct.
    Field(Shape<'static>),
    /// A value of this shape.
    Value(Shape<'static>),
    /// A name of the user's own, or something unknown.
    Unknown,
}

impl<'t> Context<'t> {
    /// The context of a byte of the text; `None` inside of a comment.
    pub(super) fn at(tokens: &[Token<'t>], at: usize) -> Option<Self> {
        let mut frames: Vec<Frame<'t>> = Vec::new();
        for (position, token) in tokens.iter().enumerate() {
            let span = token.span();
            if span.start > at {
                break;
            }
            let is_passed = span.end <= at;
            let before = position.checked_sub(1).map(|before| tokens[before]);
            match token.kind {
                Kind::LineComment if span.start < at && at <= span.end => return None,
                Kind::BlockComment if span.start < at && at < span.end => return None,
                Kind::Atom if at <= span.end => return Some(Self { frames, word: Some(position) }),
                Kind::Open if is_passed => {
                    let named = before.filter(|before| before.kind == Kind::Atom && token.text == "(");
                    let name = named.map(|before| before.text);
                    frames.push(Frame { open: token.text, at: position, name, key: None, index: 0 });
                }
                Kind::Close if is_passed => drop(frames.pop()),
                Kind::Colon if is_passed => {
                    if let Some(frame) = frames.last_mut() {
                        frame.key = before.filter(|before| before.kind == Kind::Atom);
                    }
                }
                Kind::Comma if is_passed => {
                    if let Some(frame) = frames.last_mut() {
                        (frame.key, frame.index) = (None, frame.index + 1);
                    }
                }
                _ => {}
            }
        }
        Some(Self { frames, word: None })
    }

    /// What may stand at the cursor.
    pub(super) fn expected(&self) -> Expected {
        let Some(mut shape) = Shape::of_type(language(), "Scenario") else { return Expected::Unknown };
        let mut each = false;
        let mut expected = Expected::Value(shape);
        for frame in &self.frames {
            let inside = match (frame.open, frame.name) {
                // The values that an `Each` lists may be anything that may stand in place of the `Each`.
                (_, Some("Each")) => {
                    (each, expected) = (true, Expected::Unknown);
                    continue;
                }
                ("[" | "{", _) if each => {
                    each = false;
                    let is_label = frame.open == "{" && frame.key.is_none();
                    expected = if is_label { Expected::Unknown } else { Expected::Value(shape) };
                    continue;
                }
                (_, Some("Some")) => continue,
                ("(", Some(name)) if shape.kind() == Value::Choice => shape.member(name),
                _ => Some(shape),
            };
            each = false;
            let Some(inside) = inside else { return Expected::Unknown };
            expected = within(frame, inside);
            match expected {
                Expected::Value(value) => shape = value,
                Expected::Field(_) | Expected::Unknown => {}
            }
        }
        expected
    }

    /// The shape of the struct whose field the cursor is in, and the token of the field's name.
    pub(super) fn field(&self, tokens: &[Token<'t>]) -> Option<(Shape<'static>, Token<'t>)> {
        if self.is_key(tokens) {
            return Some((self.owner()?, tokens[self.word?]));
        }
        for depth in (0..self.frames.len()).rev() {
            let Some(key) = self.frames[depth].key else { continue };
            let outside = Self { frames: self.frames[..=depth].to_vec(), word: None };
            if let Some(owner) = outside.without_key().owner() {
                return Some((owner, key));
            }
        }
        None
    }

    /// Whether the word at the cursor is the key of an entry.
    pub(super) fn is_key(&self, tokens: &[Token<'_>]) -> bool {
        let next = self.word.and_then(|word| tokens.get(word + 1));
        next.is_some_and(|next| next.kind == Kind::Colon)
    }

    /// The struct, if the name of one of its fields may stand at the cursor.
    pub(super) fn owner(&self) -> Option<Shape<'static>> {
        match self.expected() {
            Expected::Field(owner) => Some(owner),
            Expected::Value(_) | Expected::Unknown => None,
        }
    }

    /// The same place, as if the innermost brackets had no key before the cursor.
    fn without_key(mut self) -> Self {
        if let Some(frame) = self.frames.last_mut() {
            frame.key = None;
        }
        self
    }
}

/// What may stand at the cursor inside of the brackets `frame`, if these brackets hold a value of the shape `content`.
fn within(frame: &Frame<'_>, content: Shape<'static>) -> Expected {
    let value = |shape: Option<Shape<'static>>| shape.map_or(Expected::Unknown, Expected::Value);
    match (frame.open, content.kind(), frame.key) {
        ("(", Value::Struct, None) => Expected::Field(content),
        ("(", Value::Struct, Some(key)) => value(content.field(key.unquoted())),
        ("{", _, Some(_)) => value(content.entry()),
        ("{", _, None) => Expected::Unknown,
        (_, Value::Tuple | Value::List, _) if frame.open == "[" || content.kind() == Value::Tuple => {
            value(content.item(frame.index))
        }
        ("(", _, _) => Expected::Value(content),
        _ => Expected::Unknown,
    }
}
