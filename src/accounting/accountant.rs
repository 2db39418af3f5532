//! What an accountant is: a method that computes one epsilon from the costs of many releases.

use super::{AccountedEpsilon, Composition};
use crate::vocab::Delta;

/// A method that computes one epsilon at a given delta from the costs of many releases. It is a theorem that gives an upper
/// bound, or an approximation ([`Self::is_approximation`]).
///
/// The conformance suite tests that every accountant obeys the following rules. Epsilon is never NaN or negative. It is 0
/// for no releases and infinite for an unprotected release, and does not depend on the order of the releases. A note
/// explains every infinite epsilon. Three further rules hold up to a tolerance of 0.1 %: epsilon does not decrease if delta
/// decreases; the epsilon of all releases together is no smaller than the epsilon of one of them; and a bound is no
/// smaller than the tight accountant's proven lower bound.
pub trait Accountant: std::fmt::Debug + Send + Sync {
    /// The accountant's name: one word of lower-case letters and digits, by which files and tables name the accountant
    /// ("tight").
    fn name(&self) -> &'static str;

    /// How the accountant computes epsilon, with the source in brackets, in a few words.
    fn about(&self) -> &'static str;

    /// Whether the accountant only approximates, so that its epsilons are for comparison only. If so, reports never count
    /// these epsilons as upper bounds, even where they happen to be exact.
    fn is_approximation(&self) -> bool {
        false
    }

    /// Epsilon (natural logarithm of a likelihood ratio) at `delta`, which is in (0, 1), of all releases in `composition`
    /// together. Epsilon is at least 0. It is infinite if the accountant has no epsilon for one of the releases, or if the
    /// deltas of the releases' own (epsilon, delta) guarantees use up `delta`.
    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon;
}
