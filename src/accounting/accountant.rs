//! What an accountant is: a theorem that turns costs into an epsilon.

use super::{AccountedEpsilon, Composition};
use crate::vocab::Delta;

/// A theorem that turns costs into an epsilon at a given delta.
///
/// One conformance suite tests that every accountant obeys these rules. Epsilon is never NaN or negative. It is 0 for no
/// releases and infinite for an unprotected release, and does not depend on the order of the releases. A note explains
/// every infinite epsilon. Three further rules hold up to a tolerance of 0.1 %: epsilon does not decrease if delta
/// decreases; the epsilon of all releases together is no smaller than the epsilon of one of them; and a bound is no
/// smaller than the tight accountant's proven lower bound.
pub trait Accountant: std::fmt::Debug + Send + Sync {
    /// The accountant's name: one lower-case word, the key in files and tables ("tight").
    fn name(&self) -> &'static str;

    /// The theorem that the accountant uses and its source, in one sentence.
    fn about(&self) -> &'static str;

    /// Whether the accountant's epsilons are for comparison only. Reports then never count them as upper bounds, even
    /// where they happen to be exact.
    fn is_approximation(&self) -> bool {
        false
    }

    /// Epsilon (natural logarithm of a likelihood ratio) of all releases together at `delta`, which is in (0, 1).
    /// Epsilon is at least 0, and infinite if the theorem does not cover a release.
    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon;
}
