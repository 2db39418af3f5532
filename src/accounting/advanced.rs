//! Advanced composition, for releases with different guarantees.

use super::guarantees::{self, Guarantees};
use super::{Accountant, AccountedEpsilon, Composition, EpsilonKind, pairs};
use crate::vocab::Delta;

/// The accountant by advanced composition. Let x_i be the epsilon of release i, V the sum of all x_i^2, and the slack
/// the requested delta minus the deltas of all releases. The bound is the sum of x_i (exp(x_i) - 1) / (exp(x_i) + 1),
/// plus the smaller of sqrt(2 V ln(1/slack)) and sqrt(2 V ln(exp(1) + sqrt(V)/slack)). If basic composition gives a
/// smaller epsilon, that epsilon is returned. Releases whose cost is not an (epsilon, delta) guarantee, such as
/// Gaussians, have no delta of their own. The other releases' own deltas leave some of the requested delta. A part of
/// what they leave is divided equally among the releases without a delta, and the rest is the slack. Several sizes of
/// this part are tried, and the smallest bound counts.
///
/// Source: Dwork, Rothblum and Vadhan 2010, in the form of Kairouz, Oh and Viswanath 2015, Theorem 3.5.
#[derive(Clone, Copy, Debug, Default)]
pub struct Advanced;

impl Accountant for Advanced {
    fn name(&self) -> &'static str {
        "advanced"
    }

    fn about(&self) -> &'static str {
        "a bound from the sum of the squared epsilons (Kairouz, Oh and Viswanath 2015, Theorem 3.5)"
    }

    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let unpriced = pairs::unpriceable(items);
        if !unpriced.is_empty() {
            return AccountedEpsilon::refused(unpriced, EpsilonKind::Bound, composition);
        }
        let basic = super::Basic.price(composition, delta).epsilon;
        let best = guarantees::divisions(items, delta.get())
            .iter()
            .map(|guarantees| bound(guarantees, delta.get() - guarantees.delta))
            .fold(basic, f64::min);
        if best.is_infinite() {
            return AccountedEpsilon::delta_used_up(guarantees::own_deltas(items), delta, composition);
        }
        AccountedEpsilon::plain(best, EpsilonKind::Bound, composition)
    }
}

/// The bound for given guarantees of the releases; infinite if `slack` is not above 0.
fn bound(guarantees: &Guarantees, slack: f64) -> f64 {
    let (mut drift, mut squares) = (0.0, 0.0);
    for &(epsilon, count) in &guarantees.pairs {
        drift += count as f64 * epsilon * libm::tanh(0.5 * epsilon);
        squares += count as f64 * epsilon * epsilon;
    }
    if slack <= 0.0 {
        return f64::INFINITY;
    }
    let classical = (2.0 * squares * -libm::log(slack)).sqrt();
    let improved = (2.0 * squares * libm::log(std::f64::consts::E + squares.sqrt() / slack)).sqrt();
    drift + classical.min(improved)
}
