//! The proven epsilon of releases at any delta, 0 included.

use super::guarantees::pure_sum;
use super::{Accountant, Composition, Tight};
use crate::vocab::{Cost, Delta};

/// An upper bound on the epsilon (natural logarithm of a likelihood ratio) of releases at `delta`. `costs` has each
/// cost with its count. For a delta above 0, the bound is the tight accountant's upper bound; at delta 0, it is the sum
/// of the pure epsilons. The bound is infinite if no finite epsilon is proven, or if `delta` is not in [0, 1).
#[must_use]
pub fn proven_epsilon(costs: &[(&Cost, u64)], delta: f64) -> f64 {
    if delta == 0.0 {
        return pure_sum(costs.iter().copied());
    }
    let Ok(delta) = Delta::new(delta) else { return f64::INFINITY };
    let composition: Composition = costs.iter().copied().collect();
    let priced = Tight.price(&composition, delta);
    priced.upper.unwrap_or(priced.epsilon)
}
