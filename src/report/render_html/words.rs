//! Words as HTML: emphasis, badges, footnotes.

use crate::report::document::{Look, Span, Tone};
use maud::{Markup, html};

/// Some words.
pub(super) fn words(spans: &[Span]) -> Markup {
    html! { @for one in spans { (span(one)) } }
}

/// Something with an explanation that opens where it stands, by pointer, touch or keyboard; as it is without one.
pub(super) fn explained(explanation: &str, inside: Markup) -> Markup {
    if explanation.is_empty() {
        return inside;
    }
    html! { span.term tabindex="0" { (inside) span.told role="note" { (explanation) } } }
}

fn span(span: &Span) -> Markup {
    let text = &span.text;
    let loud = span.tone == Tone::Warning;
    let inside = html! {
        @match (span.look, span.tone) {
            (Look::Code, _) => code { (text) },
            (Look::Badge, _) => span.badge.warning[loud] { (text) },
            (Look::Infinite, _) => span.infinite { "∞" },
            (Look::Strong, _) => strong.warning[loud] { (text) },
            (Look::Words, Tone::Warning) => span.warning { (text) },
            (Look::Words, Tone::Quiet) => span.note { (text) },
            (Look::Words, Tone::Plain) => (text),
        }
    };
    html! {
        (explained(&span.explanation, inside))
        @if let Some(number) = span.footnote { " " a href=(format!("#note-{number}")) { "[" (number) "]" } }
    }
}
