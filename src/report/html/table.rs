//! Tables that scroll on a small screen and read aloud in order.

use maud::{Markup, html};

/// A table of texts; columns from `first_number` on stand to the right, those before it head their row.
pub(super) fn table(caption: &str, header: &[String], rows: &[Vec<String>], first_number: usize) -> Markup {
    html! {
        (scrolling(caption, html! {
            table {
                caption { span { (caption) } }
                thead { tr { @for (column, name) in header.iter().enumerate() {
                    th scope="col" .number[column >= first_number] { (name) }
                } } }
                tbody { @for row in rows { tr { @for (column, text) in row.iter().enumerate() {
                    @if column < first_number { th scope="row" { (text) } } @else { td.number { (text) } }
                } } } }
            }
        }))
    }
}

/// A frame that scrolls sideways by finger, mouse or key.
pub(super) fn scrolling(label: &str, inside: Markup) -> Markup {
    html! { div.scroll tabindex="0" role="region" aria-label=(label) { (inside) } }
}
