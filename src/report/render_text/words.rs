//! Spans of text as plain text for a terminal.

use super::lines::FIXED;
use crate::report::document::{Span, TextStyle};

/// Spans as plain text, with the numbers of their footnotes.
pub(super) fn words(spans: &[Span]) -> String {
    let one = |span: &Span| {
        let text = match span.look {
            TextStyle::Code => span.text.replace(' ', &FIXED.to_string()),
            TextStyle::Words | TextStyle::Strong | TextStyle::Badge | TextStyle::Infinite => {
                span.text.clone()
            }
        };
        let footnote = span.footnote.map_or_else(String::new, |number| format!(" [{number}]"));
        format!("{text}{footnote}")
    };
    spans.iter().map(one).collect()
}
