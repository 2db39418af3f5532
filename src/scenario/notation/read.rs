//! Reads JSON into a tree of values with their places in the text.

use crate::scenario::diagnostic::{Diagnostic, Place};
use crate::scenario::tree::duplicates;
use crate::scenario::{names, nesting};
use crate::vocab::value::{Body, Entry, Key, Node, Number, Scalar};

/// Reads a text. Reports only the first syntax error. If there is no syntax error, reports every duplicate key.
pub(super) fn read(text: &str) -> Result<Node, Vec<Diagnostic>> {
    if let Some(problem) = names::hidden(text).or_else(|| nesting::problem(text)) {
        return Err(vec![problem]);
    }
    // A text with a syntax error is refused here, so `Cursor` reads only valid JSON.
    if let Err(error) = serde_json::from_str::<serde_json::Value>(text) {
        return Err(vec![syntax_error(text, &error)]);
    }
    let mut cursor = Cursor { text, at: 0, problems: Vec::new() };
    let root = cursor.value();
    if cursor.problems.is_empty() { Ok(root) } else { Err(cursor.problems) }
}

fn syntax_error(text: &str, error: &serde_json::Error) -> Diagnostic {
    let before: usize = text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    // The column of the error is that of the byte that `serde_json` read last, counted from 1.
    let at = text.floor_char_boundary((before + error.column().saturating_sub(1)).min(text.len()));
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or_default();
    Diagnostic::new(Place::at(at..at + length), format!("not valid JSON: {what}"))
        .cure("look for a missing bracket, comma or quotation mark here or just before; JSON has no comments")
}

/// A position in a text that is valid JSON.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
    problems: Vec<Diagnostic>,
}

impl Cursor<'_> {
    /// Skips white space, and returns the next byte; 0 at the end.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        bytes.get(self.at).copied().unwrap_or(0)
    }

    fn value(&mut self) -> Node {
        match self.peek() {
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' => {
                let start = self.at;
                let text = self.quoted();
                Node::leaf(start..self.at, Scalar::Text(text))
            }
            _ => self.word(),
        }
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Node {
        let start = self.at;
        let rest = &self.text.as_bytes()[start..];
        let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b']' | b'}');
        self.at += rest.iter().position(ends).unwrap_or(rest.len());
        let scalar = match &self.text[start..self.at] {
            "true" => Scalar::Truth(true),
            "false" => Scalar::Truth(false),
            "null" => Scalar::Nothing,
            number => Scalar::Number(Number::Written(number.to_owned())),
        };
        Node::leaf(start..self.at, scalar)
    }

    fn quoted(&mut self) -> String {
        let start = self.at;
        self.at += nesting::quoted(&self.text.as_bytes()[start..]);
        serde_json::from_str(&self.text[start..self.at]).unwrap_or_default()
    }

    fn object(&mut self) -> Node {
        let start = self.at;
        let mut entries = Vec::new();
        self.at += 1;
        while self.peek() != b'}' && self.at < self.text.len() {
            let begin = self.at;
            let key = self.quoted();
            let key_span = begin..self.at;
            // Skips the colon.
            self.peek();
            self.at += 1;
            let value = self.value();
            let end = self.comma();
            entries.push(Entry { key, kind: Key::Text, span: begin..end, key_span, value });
        }
        self.at += 1;
        duplicates(&entries, "key", &mut self.problems);
        Node { span: start..self.at, name: None, body: Body::Map(entries) }
    }

    fn array(&mut self) -> Node {
        let start = self.at;
        let mut items = Vec::new();
        self.at += 1;
        while self.peek() != b']' && self.at < self.text.len() {
            items.push(self.value());
            self.comma();
        }
        self.at += 1;
        Node { span: start..self.at, name: None, body: Body::List(items) }
    }

    /// Skips white space, and a comma if one follows. Returns the end of the comma; if none follows, the position before the
    /// white space.
    fn comma(&mut self) -> usize {
        let end = self.at;
        if self.peek() == b',' {
            self.at += 1;
            return self.at;
        }
        end
    }
}
