//! Words as HTML: emphasis, badges, footnotes.

use crate::report::document::{Look, Span, Tone};
use maud::{Markup, html};

/// Some words.
pub(super) fn words(spans: &[Span]) -> Markup {
    html! { @for one in spans { (span(one)) } }
}

fn span(span: &Span) -> Markup {
    let text = &span.text;
    let loud = span.tone == Tone::Warning;
    let asked = (!span.explanation.is_empty()).then_some(span.explanation.as_str());
    html! {
        @match (span.look, span.tone) {
            (Look::Code, _) => code { (text) },
            (Look::Badge, _) => span.badge.warning[loud] title=[asked] { (text) },
            (Look::Infinite, _) => span.infinite title=[asked] { "∞" },
            (Look::Words, Tone::Warning) => span.warning title=[asked] { (text) },
            (Look::Words, Tone::Quiet) => span.note title=[asked] { (text) },
            (Look::Words, Tone::Plain) => @if asked.is_some() { span title=[asked] { (text) } } @else { (text) },
        }
        @if let Some(number) = span.footnote { " " a href=(format!("#note-{number}")) { "[" (number) "]" } }
    }
}
