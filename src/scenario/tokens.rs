//! The tokens of a text in RON or JSON; the text may be unfinished.

use super::nesting::{comment, line, quotation};
use std::ops::Range;

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// `(`, `[` or `{`.
    Open,
    /// `)`, `]` or `}`.
    Close,
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// A name, a number, a text in quotation marks.
    Atom,
    /// `// ..`, without the end of the line.
    LineComment,
    /// `/* .. */`
    BlockComment,
}

/// One token.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    pub(super) text: &'a str,
    /// The position of its first byte in the text.
    pub(super) start: usize,
    /// How many lines end between the token before and this token.
    pub(super) newlines: usize,
    /// Whether white space stands before it.
    pub(super) apart: bool,
}

impl<'a> Token<'a> {
    /// The positions of its bytes in the text.
    pub(super) fn span(&self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// Whether it is a text in quotation marks.
    pub(super) fn is_text(&self) -> bool {
        self.kind == Kind::Atom && self.text.starts_with(['"', 'r']) && self.text.contains('"')
    }

    /// For a text, the part between its quotation marks, with escapes as written. Any other token as it is, but without the
    /// prefix `r#` of a raw identifier.
    pub(super) fn unquoted(&self) -> &'a str {
        if self.is_text() {
            let inner = self.text.trim_start_matches('r').trim_matches('#');
            let inner = inner.strip_prefix('"').unwrap_or(inner);
            return inner.strip_suffix('"').unwrap_or(inner);
        }
        self.text.strip_prefix("r#").unwrap_or(self.text)
    }
}

/// All tokens of a text, in order. In a text with errors, everything that looks like a token is
/// one.
pub(super) fn tokens(text: &str) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut newlines, mut apart) = (Vec::new(), 0, 0, false);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        if byte.is_ascii_whitespace() {
            newlines += usize::from(byte == b'\n');
            (at, apart) = (at + 1, true);
            continue;
        }
        let (kind, length) = match byte {
            b'(' | b'[' | b'{' => (Kind::Open, 1),
            b')' | b']' | b'}' => (Kind::Close, 1),
            b',' => (Kind::Comma, 1),
            b':' => (Kind::Colon, 1),
            b'/' if rest.starts_with(b"//") => (Kind::LineComment, line(rest)),
            b'/' if rest.starts_with(b"/*") => (Kind::BlockComment, comment(rest)),
            _ => (Kind::Atom, atom(rest)),
        };
        // The slice below must end inside the text and between two characters, also if the token is never closed.
        let end = text.floor_char_boundary((at + length).min(text.len()));
        let token = &text[at..end];
        let token = if kind == Kind::LineComment { token.trim_end() } else { token };
        found.push(Token { kind, text: token, start: at, newlines, apart });
        (at, newlines, apart) = (end.max(at + 1), 0, false);
    }
    found
}

/// Number of bytes of a name, a number or a text.
fn atom(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(&byte) = rest.get(at) {
        let ends = byte.is_ascii_whitespace() || b"()[]{},:".contains(&byte);
        if ends || rest[at..].starts_with(b"//") || rest[at..].starts_with(b"/*") {
            break;
        }
        at += quotation(&rest[at..]);
        // The closing quotation mark of a text ends the token.
        if at > 0 && rest.get(at - 1) == Some(&b'"') {
            break;
        }
    }
    at
}
