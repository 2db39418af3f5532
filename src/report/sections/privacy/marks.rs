//! The marks of epsilons: badges, the sign for an infinite epsilon, and numbered footnotes.

use super::alike::differences;
use crate::accounting::{Loss, LossBasis, multiple};
use crate::report::document::{Block, Footnotes, Span, TextStyle};
use crate::report::number::{epsilon, three_digits_up};
use crate::report::words::basis_words;
use crate::vocab::Arithmetic;

/// Footnotes, numbered in the order in which they first occur.
#[derive(Debug, Default)]
pub(in crate::report::sections) struct Notes {
    all: Vec<Note>,
    printed: usize,
}

#[derive(Debug)]
struct Note {
    /// The whole note, by which notes are compared.
    whole: String,
    /// The part of the note that is printed.
    shown: String,
}

impl Notes {
    /// The number of a note; `None` for an empty one. Of a long note that is nearly the same as an earlier one, only the
    /// parts that differ are printed.
    pub(in crate::report::sections) fn number(&mut self, note: &str) -> Option<usize> {
        let shown = self.like_an_earlier_one(note).unwrap_or_else(|| note.to_owned());
        self.number_cut(note, |_| shown.clone())
    }

    /// The note as its differences from an earlier note that is printed in full; `None` if the note is short, or if it is
    /// not similar to any earlier note that is printed in full.
    fn like_an_earlier_one(&self, note: &str) -> Option<String> {
        let full = self.all.iter().enumerate().filter(|(_, known)| known.shown == known.whole);
        let told = full.filter_map(|(index, known)| Some((index, differences(&known.whole, note)?)));
        let (index, told) = told.min_by_key(|(_, told)| told.iter().map(String::len).sum::<usize>())?;
        Some(format!("as [{}], but with {}", index + 1, told.join(" and ")))
    }

    /// The number of a note of which only the part that `cut` returns is printed; `None` for an empty note.
    pub(in crate::report::sections) fn number_cut(
        &mut self,
        note: &str,
        cut: impl Fn(&str) -> String,
    ) -> Option<usize> {
        if note.is_empty() {
            return None;
        }
        let known = self.all.iter().position(|known| known.whole == note);
        let index = known.unwrap_or_else(|| {
            self.all.push(Note { whole: note.to_owned(), shown: cut(note) });
            self.all.len() - 1
        });
        Some(index + 1)
    }

    /// The notes since the last call as a block; `None` if there are none.
    pub(in crate::report::sections) fn further(&mut self) -> Option<Block> {
        let notes: Vec<String> = self.all[self.printed..].iter().map(|note| note.shown.clone()).collect();
        let first = self.printed + 1;
        self.printed = self.all.len();
        (!notes.is_empty()).then_some(Block::Footnotes(Footnotes { first, notes }))
    }
}

/// The basis of an epsilon as a badge.
pub(super) fn badge(basis: LossBasis, arithmetic: Option<Arithmetic>) -> Span {
    Span::badge(basis_words(basis, arithmetic, None))
        .emphasised(matches!(basis, LossBasis::Refuted | LossBasis::Unprotected))
}

/// A warning that a loss exceeds its claim; `None` if it does not.
pub(super) fn exceeded(loss: &Loss) -> Option<Span> {
    loss.times_claim.map(|times| Span::badge(format!("{} the claim", multiple(times))).emphasised(true))
}

/// An epsilon with three digits, rounded up.
pub(super) fn short_figure(value: f64) -> Span {
    Span { text: three_digits_up(value), ..figure(value) }
}

/// An epsilon with four decimal places.
pub(super) fn figure(value: f64) -> Span {
    let look = if value.is_infinite() { TextStyle::Infinite } else { TextStyle::Words };
    Span { look, ..Span::plain(epsilon(value)) }
}
