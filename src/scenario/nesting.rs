//! How deep a text's brackets go, told before any parser sees it: parsers take a call of the stack per bracket.

use super::diagnostic::{Diagnostic, Place};

/// Deepest nesting of brackets. Scenarios go to about ten; the parser behind [`super::tree`] never
/// ends on some texts from 128 on.
const DEEPEST: usize = 64;

/// Refuses a text whose brackets go too deep, at the first bracket beyond the limit.
pub(super) fn problem(text: &str) -> Option<Diagnostic> {
    let at = too_deep(text)?;
    Some(
        Diagnostic::new(Place::at(at..at + 1), format!("brackets more than {DEEPEST} deep"))
            .expected(format!("at most {DEEPEST} brackets inside each other"))
            .found(format!("bracket number {}", DEEPEST + 1))
            .cure("look for brackets that are never closed"),
    )
}

/// The byte of the first bracket beyond the limit; those in texts and comments do not count.
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
            b'"' => at += quoted(rest),
            b'r' => at += raw(rest).unwrap_or(1),
            // A character such as '('.
            b'\'' if rest.len() > 2 && rest[2] == b'\'' => at += 3,
            b'/' if rest.starts_with(b"//") => {
                at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
            }
            b'/' if rest.starts_with(b"/*") => at += comment(rest),
            _ => at += 1,
        }
    }
    None
}

/// Bytes of a text in quotation marks; all that is left if it is never closed.
fn quoted(rest: &[u8]) -> usize {
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

/// Bytes of a raw text, `r"..."` or `r#"..."#`; `None` if it is none.
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

/// Bytes of a comment in the middle of a line; such comments may hold others.
fn comment(rest: &[u8]) -> usize {
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
        assert_eq!(too_deep(&format!("'[' {}", &deep[1..])), None);
        // What follows a text counts again.
        assert_eq!(too_deep(&format!("r\"(\" \"(\" /* ( */ {deep}")), Some(17 + DEEPEST));
    }
}
