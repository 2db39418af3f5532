//! Accountants: what a list of releases costs, each by its own theorem.
//!
//! All of them read a [`Composition`] (costs, counted) and answer with a [`Priced`]. None of them skips anything: an
//! event that an accountant cannot price makes its answer infinite and is named in the notes.

mod advanced;
mod basic;
pub mod calibration;
mod claims;
mod complex;
mod composition;
mod gdp;
mod guarantees;
mod laws;
mod moments;
mod optimal;
mod pairs;
mod priced;
mod rdp;
pub(crate) mod single;
mod tight;

pub use advanced::Advanced;
pub use basic::Basic;
pub use claims::{Claimed, claims};
pub use composition::{Composition, Item, MOST_RELEASES};
pub use gdp::Gdp;
pub use moments::Moments;
pub use optimal::Optimal;
pub use priced::{Priced, Standing};
pub use rdp::Rdp;
pub use tight::Tight;

use crate::vocab::Delta;

/// A theorem that turns costs into an epsilon at a given delta.
///
/// Promises, checked for every member by one conformance suite: no releases cost 0; the answer is never NaN and never
/// negative; it does not depend on the order of the releases; more releases never cost less; what cannot be priced is
/// infinite and named.
pub trait Accountant: std::fmt::Debug {
    /// One lower-case word, the key in files and tables ("tight").
    fn name(&self) -> &'static str;

    /// What it is and where it is from, in one sentence.
    fn about(&self) -> &'static str;

    /// Epsilon of all releases together, at `delta`.
    fn price(&self, composition: &Composition, delta: Delta) -> Priced;
}

/// Every accountant, the one to quote first.
#[must_use]
pub fn all() -> [&'static dyn Accountant; 7] {
    [&Tight, &Rdp, &Moments, &Optimal, &Advanced, &Basic, &Gdp]
}
