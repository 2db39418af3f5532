//! The checks of a study's cells, on several threads.

use super::checked::{CheckedParts, Scenario};
use super::diagnostic::Diagnostic;
use super::draft::Draft;
use super::parse::parse;
use super::placed_problem::diagnostic;
use super::sweep::{Expansion, RawCell};
use crate::objectives::{KeptFiles, Resources};
use crate::vocab::value::Reader;
use crate::vocab::{in_order, in_pool};
use serde::Deserialize;
use std::ops::Range;

/// Smallest number of cells for which a thread of their own saves time.
const PER_THREAD: usize = 100;

/// A cell: its scenario, or what is wrong with it.
pub(super) type CheckedCell = Result<Scenario, Vec<Diagnostic>>;

/// The cells in order. The cells are divided into parts, at most one for each thread. The check of a part stops when the
/// cells of this part have more than `most` problems in all, so some cells may be missing.
pub(super) fn checked_cells(
    expansion: &Expansion<'_>,
    resources: &Resources,
    most: usize,
) -> Vec<CheckedCell> {
    // The contents of a few files are kept, so a file that several cells read in the same way is usually read once.
    let resources = Resources { contents: KeptFiles::kept(), ..resources.clone() };
    let count = expansion.count();
    let threads = usize::try_from(resources.limits.threads).unwrap_or(usize::MAX);
    let size = count.div_ceil(threads.clamp(1, (count / PER_THREAD).max(1)));
    let parts: Vec<Range<usize>> =
        (0..count).step_by(size.max(1)).map(|first| first..count.min(first + size)).collect();
    // A single part is checked by this thread: in a browser there may be no other thread.
    if parts.len() < 2 {
        return parts.into_iter().flat_map(|part| consecutive(expansion, part, &resources, most)).collect();
    }
    let checked = in_pool(threads, || in_order(parts, |part| consecutive(expansion, part, &resources, most)));
    checked.into_iter().flatten().collect()
}

/// Checks consecutive cells, which usually share parties, network and objective, until the cells checked so far have
/// more than `most` problems in all.
fn consecutive(
    expansion: &Expansion<'_>,
    part: Range<usize>,
    resources: &Resources,
    most: usize,
) -> Vec<CheckedCell> {
    let (mut cells, mut known) = (Vec::<CheckedCell>::new(), CheckedParts::new(resources));
    let mut problems = 0;
    for place in part {
        if problems > most {
            break;
        }
        let last = cells.iter().rev().find_map(|cell| cell.as_ref().ok());
        let cell = checked(&expansion.cell(place), &mut known, last);
        problems += cell.as_ref().err().map_or(0, Vec::len);
        cells.push(cell);
    }
    cells
}

/// A cell, parsed into a [`Draft`] and checked. The text of the cell is put together only for messages about errors.
fn checked(raw: &RawCell<'_>, known: &mut CheckedParts<'_>, last: Option<&Scenario>) -> CheckedCell {
    let draft = match Draft::deserialize(Reader::new(&raw.tree())) {
        Ok(draft) => draft,
        Err(_) => parse(&raw.edited())?,
    };
    Scenario::check_with_known_parts(draft, known, last).map_err(|problems| {
        let edited = raw.edited();
        problems.into_iter().map(|problem| diagnostic(&edited, problem)).collect()
    })
}
