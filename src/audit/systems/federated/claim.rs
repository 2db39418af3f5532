//! The loss claimed for the sums of a run if late and missing answers are ignored.

use crate::accounting::{Accountant, Composition, Moments};
use crate::privacy::mechanisms::Price;
use crate::vocab::Delta;

/// The planned loss of all broadcasts together, which ignores late and missing answers.
pub(super) fn claimed(prices: &[Price], delta: Delta) -> Option<(f64, String)> {
    let claims = || prices.iter().filter_map(|price| price.claim.as_ref());
    let costs: Composition = claims().filter_map(|claim| claim.cost.as_ref()).map(|cost| (cost, 1)).collect();
    claims().next().map(|claim| (Moments.price(&costs, delta).epsilon, claim.source.clone()))
}
