//! An accountant that adds up the epsilons of pure guarantees, and refuses all other releases.

use subrosa::accounting::{Accountant, AccountedEpsilon, Composition, EpsilonKind, Item};
use subrosa::vocab::{Cost, Delta};

/// Epsilons of pure guarantees add up; any other release makes the epsilon infinite.
///
/// Source: Dwork and Roth 2014, Corollary 3.15.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pure;

fn epsilon(item: &Item) -> Option<f64> {
    match item.cost {
        Cost::PureDp { epsilon } | Cost::RandomizedResponse { epsilon } => Some(epsilon),
        Cost::Laplace { scale } => Some(1.0 / scale),
        _ => None,
    }
}

impl Accountant for Pure {
    fn name(&self) -> &'static str {
        "pure"
    }

    fn about(&self) -> &'static str {
        "epsilons of pure guarantees add up (Dwork and Roth 2014, Corollary 3.15)"
    }

    fn price(&self, composition: &Composition, _: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let unpriced: Vec<&Item> = items.iter().filter(|item| epsilon(item).is_none()).collect();
        if !unpriced.is_empty() {
            return AccountedEpsilon::refused(unpriced, EpsilonKind::Bound, composition);
        }
        let each = items.iter().filter_map(|item| Some(epsilon(item)? * item.count as f64));
        AccountedEpsilon::plain(each.sum::<f64>() + 0.0, EpsilonKind::Bound, composition)
    }
}
