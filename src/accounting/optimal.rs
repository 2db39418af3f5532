//! Optimal composition of releases from their (epsilon, delta) guarantees alone.

use super::guarantees::{self, Guarantees};
use super::pairs::Exponential;
use super::tight;
use super::{Accountant, AccountedEpsilon, Composition, EpsilonKind, pairs};
use crate::vocab::{Cost, Delta};

/// Optimal composition of (epsilon, delta) guarantees: each release is replaced by randomised response with the epsilon
/// of the release's guarantee. Randomised responses are composed exactly (by binomial sums) if their epsilons are equal
/// and there are not too many of them for such sums. In all other cases the composition is approximated by an upper bound.
///
/// Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3; Murtagh and Vadhan 2016 for different epsilons.
#[derive(Clone, Copy, Debug, Default)]
pub struct Optimal;

impl Accountant for Optimal {
    fn name(&self) -> &'static str {
        "optimal"
    }

    fn about(&self) -> &'static str {
        "the best bound from (epsilon, delta) of each release (Kairouz, Oh and Viswanath 2015, Theorem 3.3)"
    }

    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let unpriced = pairs::unpriceable(items);
        if !unpriced.is_empty() {
            return AccountedEpsilon::refused(unpriced, EpsilonKind::Bound, composition);
        }
        let best = Self::below(composition, delta, f64::INFINITY);
        if best.is_infinite() {
            return AccountedEpsilon::delta_used_up(guarantees::own_deltas(items), delta, composition);
        }
        AccountedEpsilon::plain(best, EpsilonKind::Bound, composition)
    }
}

impl Optimal {
    /// The epsilon of a composition of priceable items. If this epsilon is larger than `ceiling`, the result may be any
    /// value above `ceiling`.
    pub(super) fn below(composition: &Composition, delta: Delta, ceiling: f64) -> f64 {
        let basic = super::Basic.price(composition, delta).epsilon;
        guarantees::divisions(composition.items(), delta.get()).iter().fold(basic, |best, guarantees| {
            let found = worst_case(guarantees, delta.get() - guarantees.delta, ceiling.min(best));
            best.min(found.unwrap_or(f64::INFINITY))
        })
    }
}

/// Epsilon of randomised responses with the epsilons of these guarantees, at the delta `slack`. If this epsilon is larger
/// than `ceiling`, the result may be any value above `ceiling`. `None` if the slack is not above 0, or if an epsilon
/// is above the largest for which a distribution of the privacy loss is computed.
fn worst_case(guarantees: &Guarantees, slack: f64, ceiling: f64) -> Option<f64> {
    let mut responses = Composition::new();
    for &(epsilon, count) in &guarantees.pairs {
        responses.add(&Cost::RandomizedResponse { epsilon }, count);
    }
    // If an epsilon is too large (see `is_priceable`), there is no result here. `Optimal::below` then has the results of
    // the other divisions of delta and of basic composition.
    let expressible = responses.items().iter().all(|item| pairs::is_priceable(&item.cost));
    // The composition has the delta 1 - (1 - slack) (1 - d_1) .. (1 - d_n), where d_1 to d_n are the deltas of the
    // guarantees. This is at most slack + d_1 + .. + d_n, which is the delta that `Optimal::below` was given.
    (slack > 0.0 && expressible)
        .then(|| tight::curve_below(responses.items(), Exponential::Dominating, slack, ceiling).upper)
}
