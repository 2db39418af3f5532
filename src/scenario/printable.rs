//! Finds and replaces characters that control the display instead of being shown.

use std::borrow::Cow;

/// Whether a character controls the display instead of being shown. Such characters are control characters, marks of
/// writing direction, characters without width or shape, and the two noncharacters that XML does not allow. Two names
/// that look alike could differ by characters without width or shape.
pub(super) fn controls_display(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(
            c,
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'
                ..='\u{180f}'
        )
        || matches!(c, '\u{200b}'..='\u{200d}' | '\u{2028}' | '\u{2029}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}')
        || matches!(c, '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
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
        assert_eq!(printable("lab\u{200b}\u{ad}\u{feff}\u{e0041}"), "lab\u{fffd}\u{fffd}\u{fffd}\u{fffd}");
        assert_eq!(printable("a\u{1b}[2Jb\r\u{202e}c\u{9b}"), "a\u{fffd}[2Jb\u{fffd}\u{fffd}c\u{fffd}");
    }
}
