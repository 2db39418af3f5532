//! What an accountant is: a theorem that turns costs into an epsilon.

use super::{AccountedEpsilon, Composition};
use crate::vocab::Delta;

/// A theorem that turns costs into an epsilon at a given delta.
///
/// One conformance suite checks for every accountant: for no releases epsilon is 0; epsilon is never NaN and never
/// negative; it does not depend on the order of the releases; up to 0.1 %, it does not decrease if delta decreases, and all
/// releases together have no smaller epsilon than one of them; for an unprotected release epsilon is infinite; a note
/// explains every infinite epsilon; a bound is no smaller than the tight accountant's proven lower bound.
pub trait Accountant: std::fmt::Debug + Send + Sync {
    /// One lower-case word, the key in files and tables ("tight").
    fn name(&self) -> &'static str;

    /// Its theorem and the theorem's source, in one sentence.
    fn about(&self) -> &'static str;

    /// Whether its epsilons are for comparison only and never count as upper bounds, even where they happen to be
    /// exact.
    fn is_approximation(&self) -> bool {
        false
    }

    /// Epsilon (natural logarithm of a likelihood ratio) of all releases together at `delta`, in (0, 1): at least 0,
    /// infinite if the theorem does not cover a release.
    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon;
}
