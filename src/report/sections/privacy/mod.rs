//! The section on privacy: losses about protected units by observer, the epsilon of every accountant, and the facts that are
//! taken as public.

mod alike;
mod losses;
mod marks;
mod observers;
mod over_rounds;
mod persons;
mod public_facts;
mod published;
mod relations;
mod whole_study;

use super::cells::merged;
use super::shown_replication::ShownReplication;
use crate::report::document::{Block, Section};
use crate::report::words::arithmetic;
use crate::study::Summary;
pub(super) use marks::Notes;
pub(super) use over_rounds::figures;
pub(super) use public_facts::brief as public_in_brief;
pub(super) use published::losses as published;
pub(super) use relations::{relations, relations_of};

/// The section, with charts of the replication that the page shows, if there is one; `None` if nothing was released and
/// nothing is taken as public.
pub(super) fn section(summary: &Summary, first: Option<&ShownReplication<'_>>) -> Option<Section> {
    let entries = merged(summary);
    let public = public_facts::list(summary);
    if entries.is_empty() && public.is_none() {
        return None;
    }
    let mut notes = Notes::default();
    let mut blocks = Vec::new();
    if !entries.is_empty() {
        // The table of all accountants is made first, because footnotes are numbered in the order in which they occur in it.
        let every = losses::table(summary, &mut notes);
        blocks.push(Block::Table(observers::table(summary, &mut notes)));
        blocks.extend(persons::table(summary, &mut notes).map(Block::Table));
        let title = "Every accountant".to_owned();
        blocks.push(Block::Folded { title, blocks: vec![Block::Table(every)] });
        let told = relations(summary).into_iter();
        blocks.extend(told.map(|relation| Block::remark(format!("neighbours, {relation}"))));
        let told = entries.iter().flat_map(|(entry, _)| &entry.losses).filter_map(|loss| loss.arithmetic);
        blocks.extend(arithmetic(told).map(Block::remark));
        blocks.extend(notes.further());
    }
    blocks.extend(public.map(Block::List));
    blocks.extend(published(summary).map(Block::Table));
    blocks.extend(first.into_iter().flat_map(|first| figures(summary, first)).map(Block::Figure));
    blocks.extend(whole_study::blocks(summary, &mut notes));
    blocks.extend(notes.further());
    Some(Section::new("privacy", "Privacy", "Privacy: who learned what about whom", blocks))
}
