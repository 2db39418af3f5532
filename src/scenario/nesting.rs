//! Finds comments, and limits the nesting of brackets before a parser reads the text, since parsers recurse once per
//! bracket.

use super::diagnostic::{Diagnostic, Place};
use std::ops::Range;

/// Deepest nesting of brackets. Scenarios have roughly ten levels. On some texts with 128 levels or more, the parser of
/// [`super::tree`] does not terminate.
const DEEPEST: usize = 64;

/// The error of a text that is nested too deeply, at the first bracket beyond the limit.
pub(super) fn problem(text: &str) -> Option<Diagnostic> {
    let at = too_deep(text)?;
    Some(
        Diagnostic::new(Place::at(at..at + 1), format!("brackets more than {DEEPEST} deep"))
            .expected(format!("at most {DEEPEST} brackets inside each other"))
            .found(format!("at least {}", DEEPEST + 1))
            .cure("look for brackets that are never closed"),
    )
}

/// The positions of the comments of a text; the newline after a line comment is not included.
pub(super) fn comments(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        let length = match byte {
            b'/' if rest.starts_with(b"//") => line(rest),
            b'/' if rest.starts_with(b"/*") => comment(rest),
            _ => {
                at += quotation(rest);
                continue;
            }
        };
        found.push(at..at + length);
        at += length;
    }
    found
}

/// Number of bytes to skip where no comment begins: a whole text in quotation marks, a character in single quotes, or one
/// byte.
pub(super) fn quotation(rest: &[u8]) -> usize {
    match rest[0] {
        b'"' => quoted(rest),
        b'r' => raw(rest).unwrap_or(1),
        b'\'' => character(rest).unwrap_or(1),
        _ => 1,
    }
}

/// Number of bytes of a character in single quotes, such as `'('`, `'"'` or `'\u{28}'`; `None` if none begins here.
fn character(rest: &[u8]) -> Option<usize> {
    /// Number of bytes of the longest such character: a quote, `\u{10ffff}` and a quote.
    const LONGEST: usize = 12;
    let escaped = rest.get(1) == Some(&b'\\');
    // An escaped quote does not end the character.
    let first = if escaped { 3 } else { 2 };
    let end = (first..rest.len().min(LONGEST)).find(|&at| rest[at] == b'\'')?;
    // Without a backslash, there must be exactly one character between the quotes.
    let one = escaped || std::str::from_utf8(&rest[1..end]).is_ok_and(|text| text.chars().count() == 1);
    one.then_some(end + 1)
}

/// Number of bytes of a line comment, without the newline.
pub(super) fn line(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len())
}

/// The position of the first bracket beyond the limit; brackets in texts and comments do not count.
fn too_deep(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0usize);
    while let Some(&byte) = bytes.get(at) {
        let rest = &bytes[at..];
        match byte {
            b'(' | b'[' | b'{' => {
                if depth == DEEPEST {
                    return Some(at);
                }
                depth += 1;
                at += 1;
            }
            b')' | b']' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'/' if rest.starts_with(b"//") => at += line(rest),
            b'/' if rest.starts_with(b"/*") => at += comment(rest),
            _ => at += quotation(rest),
        }
    }
    None
}

/// Number of bytes of a text in quotation marks; all remaining bytes if it is never closed.
pub(super) fn quoted(rest: &[u8]) -> usize {
    let mut at = 1;
    while let Some(&byte) = rest.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    rest.len()
}

/// Number of bytes of a raw text, `r"..."` or `r#"..."#`; `None` if no raw text begins here.
fn raw(rest: &[u8]) -> Option<usize> {
    let marks = rest[1..].iter().take_while(|&&byte| byte == b'#').count();
    if rest.get(1 + marks) != Some(&b'"') {
        return None;
    }
    let begin = 2 + marks;
    let ends =
        |at: &usize| rest[*at] == b'"' && rest[at + 1..].iter().take(marks).eq([b'#'].repeat(marks).iter());
    Some((begin..rest.len()).find(ends).map_or(rest.len(), |end| end + 1 + marks))
}

/// Number of bytes of a block comment; block comments may be nested.
pub(super) fn comment(rest: &[u8]) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            (at, depth) = (at + 2, depth + 1);
        } else if rest[at..].starts_with(b"*/") {
            (at, depth) = (at + 2, depth - 1);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_distinguished_from_texts() {
        let text = "a // b\n\"// c\" r#\"/* d\"# '\"' /* e /* f */ */ g // h";
        let found: Vec<&str> = comments(text).into_iter().map(|span| &text[span]).collect();
        assert_eq!(found, ["// b", "/* e /* f */ */", "// h"]);
    }

    #[test]
    fn only_brackets_of_the_language_count() {
        let deep = "[".repeat(DEEPEST + 1);
        assert_eq!(too_deep(&deep), Some(DEEPEST));
        assert_eq!(too_deep(&deep[1..]), None);
        assert_eq!(too_deep(&"[]".repeat(DEEPEST + 1)), None);
        for (open, close) in
            [("\"\\\" ", "\""), ("r#\"\" ", "\"#"), ("// ", "\n"), ("/* /* */", "*/"), ("\"", ""), ("/*", "")]
        {
            assert_eq!(too_deep(&format!("{open}{deep}{close}")), None, "{open}");
        }
        for letter in ["'['", "'\\\"'", "'\\''", "'\"'", "'ä'", "'\\u{5b}'", "'\\\\'", "'/'"] {
            assert_eq!(too_deep(&format!("{letter} {}", &deep[1..])), None, "{letter}");
            // Brackets after a character count again.
            assert_eq!(too_deep(&format!("{letter} {deep}")), Some(letter.len() + 1 + DEEPEST), "{letter}");
        }
        // Brackets after a text count again.
        assert_eq!(too_deep(&format!("r\"(\" \"(\" /* ( */ {deep}")), Some(17 + DEEPEST));
    }
}
