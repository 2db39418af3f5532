//! The marks of privacy figures: badges, epsilons without a finite bound, and numbered footnotes.

use crate::accounting::{Loss, LossBasis, multiple};
use crate::report::document::{Block, Footnotes, Look, Span};
use crate::report::number::epsilon;
use crate::report::words::rests_on;
use crate::vocab::Arithmetic;

/// Footnotes, numbered as they first occur.
#[derive(Debug, Default)]
pub(super) struct Notes {
    all: Vec<String>,
    printed: usize,
}

impl Notes {
    /// The number of a note; `None` for an empty one.
    pub(super) fn number(&mut self, note: &str) -> Option<usize> {
        if note.is_empty() {
            return None;
        }
        let known = self.all.iter().position(|known| known == note);
        let index = known.unwrap_or_else(|| {
            self.all.push(note.to_owned());
            self.all.len() - 1
        });
        Some(index + 1)
    }

    /// The notes that no block contains yet.
    pub(super) fn further(&mut self) -> Option<Block> {
        let notes = self.all[self.printed..].to_vec();
        let first = self.printed + 1;
        self.printed = self.all.len();
        (!notes.is_empty()).then_some(Block::Footnotes(Footnotes { first, notes }))
    }
}

/// The basis of a figure.
pub(super) fn badge(basis: LossBasis, arithmetic: Option<Arithmetic>) -> Span {
    Span::badge(rests_on(basis, arithmetic, None))
        .loud(matches!(basis, LossBasis::Refuted | LossBasis::Unprotected))
}

/// A warning mark if a loss is above the claim.
pub(super) fn exceeded(loss: &Loss) -> Option<Span> {
    loss.times_claim.map(|times| Span::badge(format!("{} the claim", multiple(times))).loud(true))
}

/// An epsilon.
pub(super) fn figure(value: f64) -> Span {
    let look = if value.is_infinite() { Look::Infinite } else { Look::Words };
    Span { look, ..Span::plain(epsilon(value)) }
}
