//! Finds and replaces characters that control the display instead of being shown.

use std::borrow::Cow;

/// Whether a character controls the display instead of being shown: control characters, marks of writing direction, and the two
/// noncharacters that XML does not allow.
pub(super) fn controls_display(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{fffe}' | '\u{ffff}')
}

/// A text for a terminal: characters that control the display are replaced by U+FFFD, except newlines and tabs.
#[must_use]
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let bad = |c: char| controls_display(c) && !matches!(c, '\n' | '\t');
    if text.contains(bad) { Cow::Owned(text.replace(bad, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_control_the_display_are_replaced() {
        assert!(matches!(printable("Zürich\n\t→ 東京"), Cow::Borrowed(_)));
        assert_eq!(printable("a\u{1b}[2Jb\r\u{202e}c\u{9b}"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c\u{fffd}");
    }
}
