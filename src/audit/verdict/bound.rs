//! The upper bound, proven or conditional, with which a measured lower bound is compared.

use crate::accounting::proven_epsilon;
use crate::privacy::mechanisms::Price;
use crate::vocab::{Basis, Cost};

/// The basis of a bound without conditions, in words.
pub(super) const PROVEN: &str = "proven";

/// The upper bound on epsilon at `delta` that follows from the costs of releases, and the different bases of these costs
/// in words (each is "proven", or "holds with" and the conditions). `prices` has pairs of a price and the number of
/// releases with this price. At delta 0 the bound is the sum of the pure epsilons. `None` if the basis of a price is as
/// published, refuted or unprotected, or if the bound is infinite.
#[must_use]
pub fn upper_bound(prices: &[(&Price, u64)], delta: f64) -> Option<(f64, String)> {
    let mut costs: Vec<(&Cost, u64)> = Vec::with_capacity(prices.len());
    let mut bases: Vec<String> = Vec::new();
    for (price, times) in prices {
        let basis = match &price.basis {
            Basis::Proven => PROVEN.to_owned(),
            Basis::Conditional { on } => format!("holds with {on}"),
            // A cost as published is a claim, not a proof.
            Basis::AsPublished | Basis::Refuted { .. } | Basis::Unprotected => return None,
        };
        if !bases.contains(&basis) {
            bases.push(basis);
        }
        costs.push((&price.cost, *times));
    }
    let epsilon = proven_epsilon(&costs, delta);
    epsilon.is_finite().then(|| (epsilon, bases.join("; ")))
}
