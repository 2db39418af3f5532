//! A document as text for a terminal of a given width, without colour. The code is independent of which sections exist.

mod lines;
mod table;
mod words;

use super::document::{Block, Document, Paragraph, ParagraphKind, Section, Visibility};
pub use lines::WIDTH;
pub(super) use lines::folded;
use lines::{FIXED, Lines};
use words::words;

/// A whole document, with urgent sections at the end, just above the prompt.
pub(super) fn document(document: &Document, width: usize) -> String {
    let mut out = Lines::new(width);
    blocks(&mut out, &document.heading);
    let (urgent, others): (Vec<&Section>, Vec<&Section>) =
        document.sections.iter().partition(|section| section.urgent);
    others.into_iter().chain(urgent).for_each(|section| blocks(&mut out, &section.blocks));
    begun(out.text)
}

/// One section.
pub(super) fn section(section: &Section, width: usize) -> String {
    let mut out = Lines::new(width);
    blocks(&mut out, &section.blocks);
    begun(out.text)
}

/// A message of several lines, each broken between words.
pub(super) fn message(text: &str, width: usize) -> String {
    let mut out = Lines::new(width);
    for line in text.lines() {
        let indent = line.chars().take_while(|c| *c == ' ').count();
        out.wrapped(indent, line);
    }
    out.text
}

/// The text without empty lines at its beginning.
fn begun(text: String) -> String {
    text.trim_start_matches('\n').to_owned()
}

fn blocks(out: &mut Lines, all: &[Block]) {
    for block in all {
        match block {
            // Tables have their own titles; pictures and cards are only for a page.
            Block::Heading { .. } | Block::Figure(_) | Block::Drawing(_) | Block::Cards(_) => {}
            Block::Paragraph(Paragraph { shown: Visibility::Page, .. }) => {}
            Block::Paragraph(told) => {
                let indent = match told.kind {
                    ParagraphKind::Statement | ParagraphKind::Warning => 0,
                    ParagraphKind::Remark => 2,
                    ParagraphKind::Detail => 4,
                };
                out.wrapped(indent, &words(&told.words));
            }
            Block::Facts(facts) if facts.shown != Visibility::Page => {
                for (name, value) in &facts.rows {
                    // A name is not broken, and stays on one line with the beginning of its value.
                    let name =
                        format!("{name:<width$}", width = facts.width).replace(' ', &FIXED.to_string());
                    out.wrapped(facts.indent, &format!("{name}{}", words(value)));
                }
            }
            Block::List(list) => {
                out.line("");
                out.wrapped(0, &list.title);
                list.items.iter().for_each(|item| out.wrapped(2, &words(item)));
            }
            Block::Footnotes(notes) => {
                for (index, note) in notes.notes.iter().enumerate() {
                    out.wrapped(2, &format!("[{}] {note}", notes.first + index));
                }
            }
            Block::Table(one) if one.shown != Visibility::Page => table::table(out, one),
            Block::Facts(_) | Block::Table(_) => {}
            Block::Listing { text, .. } => text.lines().for_each(|one| out.line(one)),
            Block::Folded { blocks: inside, .. } => blocks(out, inside),
        }
    }
}
