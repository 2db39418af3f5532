//! Spans of text as HTML: emphasis, badges, footnotes and explanations.

use crate::report::document::{Emphasis, Span, TextStyle};
use maud::{Markup, html};

/// Spans of text as HTML.
pub(super) fn words(spans: &[Span]) -> Markup {
    html! { @for one in spans { (span(one)) } }
}

/// An element with an explanation that opens beside it by pointer, touch or keyboard; unchanged if the explanation is empty.
pub(super) fn explained(explanation: &str, inside: Markup) -> Markup {
    if explanation.is_empty() {
        return inside;
    }
    html! { span.term tabindex="0" { (inside) span.told role="note" { (explanation) } } }
}

fn span(span: &Span) -> Markup {
    let text = &span.text;
    let loud = span.tone == Emphasis::Warning;
    let inside = html! {
        @match (span.look, span.tone) {
            (TextStyle::Code, _) => code { (text) },
            (TextStyle::Badge, _) => span.badge.warning[loud] { (text) },
            (TextStyle::Infinite, _) => span.infinite { "∞" },
            (TextStyle::Strong, _) => strong.warning[loud] { (text) },
            (TextStyle::Words, Emphasis::Warning) => span.warning { (text) },
            (TextStyle::Words, Emphasis::Quiet) => span.note { (text) },
            (TextStyle::Words, Emphasis::Plain) => (text),
        }
    };
    html! {
        (explained(&span.explanation, inside))
        @if let Some(number) = span.footnote { " " a href=(format!("#note-{number}")) { "[" (number) "]" } }
    }
}
