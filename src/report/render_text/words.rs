//! Spans of text as plain text for a terminal.

use super::lines::FIXED;
use crate::report::document::{Look, Span};

/// Spans as plain text, with the numbers of their footnotes.
pub(super) fn words(spans: &[Span]) -> String {
    let one = |span: &Span| {
        let text = match span.look {
            Look::Code => span.text.replace(' ', &FIXED.to_string()),
            Look::Words | Look::Strong | Look::Badge | Look::Infinite => span.text.clone(),
        };
        let footnote = span.footnote.map_or_else(String::new, |number| format!(" [{number}]"));
        format!("{text}{footnote}")
    };
    spans.iter().map(one).collect()
}
