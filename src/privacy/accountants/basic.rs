//! Basic composition: epsilons add up, deltas add up.

use super::{Accountant, Composition, Priced, Standing};
use crate::vocab::{Cost, Delta};

/// Epsilons and deltas add up, for adaptively chosen releases too.
///
/// Source: Dwork and Roth 2014, Theorem 3.16.
#[derive(Clone, Copy, Debug, Default)]
pub struct Basic;

impl Accountant for Basic {
    fn name(&self) -> &'static str {
        "basic"
    }

    fn about(&self) -> &'static str {
        "epsilons and deltas add up (Dwork and Roth 2014, Theorem 3.16)"
    }

    fn price(&self, composition: &Composition, delta: Delta) -> Priced {
        let (mut epsilon, mut spent, mut unpriced) = (0.0, 0.0, Vec::new());
        for item in composition.items() {
            let count = item.count as f64;
            match guarantee(&item.cost) {
                Some((e, d)) => {
                    epsilon += count * e;
                    spent += count * d;
                }
                None => unpriced.push(item),
            }
        }
        if !unpriced.is_empty() || spent > delta.get() {
            return Priced::refused(self.name(), unpriced, Standing::Bound, composition);
        }
        Priced::plain(epsilon, Standing::Bound, composition)
    }
}

/// The (epsilon, delta) of one release, where it has one of its own.
fn guarantee(cost: &Cost) -> Option<(f64, f64)> {
    match *cost {
        Cost::Laplace { scale } => Some((1.0 / scale, 0.0)),
        Cost::ExponentialMechanism { epsilon }
        | Cost::RandomizedResponse { epsilon }
        | Cost::PureDp { epsilon } => Some((epsilon, 0.0)),
        Cost::ApproximateDp { epsilon, delta } => Some((epsilon, delta)),
        Cost::Gaussian { .. }
        | Cost::PoissonGaussian { .. }
        | Cost::FixedSizeGaussian { .. }
        | Cost::Unprotected => None,
    }
}
