//! A document as an HTML page: a single file without dependencies, for screens, phones and paper. The code is independent
//! of which sections exist.

mod figure;
mod growing;
mod table;
mod words;

use super::document::{Block, Document, Drawing, Paragraph, ParagraphKind, Section, Visibility};
use figure::figure;
pub use growing::Refresh;
pub(super) use growing::{growing, waiting};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use table::{scrolling, table};
use words::words;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page as HTML.
pub(super) fn page(document: &Document) -> String {
    let listed = document.sections.iter().filter(|section| !section.name.is_empty());
    // The sections at the beginning that have no name stand above the list of sections.
    let first = document.sections.iter().take_while(|section| section.name.is_empty()).count();
    let (answer, rest) = document.sections.split_at(first);
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                title { (document.title) " · subrosa" }
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content=(format!("subrosa {}", env!("CARGO_PKG_VERSION")));
                // Keeps a browser from requesting an icon from a server.
                link rel="icon" href="data:,";
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    h1 { (document.title) }
                    @if !document.about.is_empty() { p { (document.about) } }
                    (blocks(&document.heading))
                }
                main {
                    @for one in answer { (section(one)) }
                    nav aria-label="On this page" {
                        @for section in listed { a href=(format!("#{}", section.id)) { (section.name) } " " }
                    }
                    @for one in rest { (section(one)) }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    let mut text = markup.into_string();
    text.push('\n');
    text
}

/// An element's id; `None` if the text is empty.
fn id(id: &str) -> Option<&str> {
    (!id.is_empty()).then_some(id)
}

fn section(section: &Section) -> Markup {
    if section.title.is_empty() {
        return html! { @if section.id.is_empty() { (blocks(&section.blocks)) } @else { div id=(section.id) { (blocks(&section.blocks)) } } };
    }
    html! { section id=[id(&section.id)] { h2 { (section.title) } (blocks(&section.blocks)) } }
}

fn blocks(all: &[Block]) -> Markup {
    let figure_of = |block: &Block| matches!(block, Block::Figure(_));
    html! {
        // Consecutive figures stand side by side if the screen is wide enough.
        @for group in all.chunk_by(|a, b| figure_of(a) && figure_of(b)) {
            @if group.iter().all(figure_of) { div.plates { (plates(group)) } }
            @else { @for one in group { (block(one)) } }
        }
    }
}

/// Figures in rows of two. A figure with several charts fills a row. If the number of consecutive figures with one chart
/// each is odd, the last of them also fills a row.
fn plates(group: &[Block]) -> Markup {
    let single: Vec<bool> =
        group.iter().map(|block| matches!(block, Block::Figure(one) if one.charts.len() == 1)).collect();
    let alone = |at: usize| {
        let before = single[..at].iter().rev().take_while(|one| **one).count();
        single[at] && before.is_multiple_of(2) && !single.get(at + 1).copied().unwrap_or(false)
    };
    html! { @for (at, one) in group.iter().enumerate() {
        @if let Block::Figure(one) = one { (figure(one, alone(at))) }
    } }
}

fn block(block: &Block) -> Markup {
    match block {
        Block::Heading { id: name, title } => html! { h3 id=[id(name)] { (title) } },
        Block::Paragraph(told) => paragraph(told),
        Block::Facts(facts) if facts.shown == Visibility::Terminal => html! {},
        Block::Facts(facts) => html! {
            dl.facts { @for (name, value) in &facts.rows { dt { (name) } dd { (words(value)) } } }
        },
        Block::List(list) => html! {
            @if !list.title.is_empty() { h3 id=[id(&list.id)] { (list.title) } }
            ul { @for item in &list.items { li { (words(item)) } } }
        },
        Block::Footnotes(notes) => html! {
            ol.note start=(notes.first) { @for (index, note) in notes.notes.iter().enumerate() {
                li id=(format!("note-{}", notes.first + index)) { (note) }
            } }
        },
        Block::Table(one) if one.shown == Visibility::Terminal => html! {},
        Block::Table(one) => table(one),
        Block::Figure(one) => figure(one, false),
        Block::Drawing(one) => drawing(one),
        Block::Listing { label, text } => html! {
            pre tabindex="0" role="region" aria-label=(label) { code { (text) } }
        },
        Block::Cards(cards) => html! {
            div.cards { @for card in cards {
                section.card id=[id(&card.id)] {
                    h2 { (card.title) }
                    @for sentence in &card.sentences { p { (words(sentence)) } }
                }
            } }
        },
        Block::Folded { title, blocks: inside } => html! { details { summary { (title) } (blocks(inside)) } },
    }
}

fn paragraph(told: &Paragraph) -> Markup {
    let inside = words(&told.words);
    match told.kind {
        _ if told.shown == Visibility::Terminal => html! {},
        ParagraphKind::Statement => html! { p { (inside) } },
        ParagraphKind::Remark | ParagraphKind::Detail => html! { p.note { (inside) } },
        ParagraphKind::Warning => html! { p.warning role="note" { (inside) } },
    }
}

/// A drawing; the text in its SVG elements is already escaped.
fn drawing(drawn: &Drawing) -> Markup {
    html! {
        section {
            h3 { (drawn.title) }
            (scrolling(&drawn.title, html! {
                svg.sequence role="img" aria-label=(drawn.title) width=(drawn.width) height=(drawn.height)
                    viewBox=(format!("0 0 {} {}", drawn.width, drawn.height)) font-family="sans-serif" font-size="11" {
                    (PreEscaped(&drawn.svg))
                }
            }))
            p.note { (words(&drawn.note)) }
        }
    }
}
