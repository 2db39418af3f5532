//! Basic composition: epsilons add up, deltas add up.

use super::guarantees::{self, Guarantees};
use super::{Accountant, AccountedEpsilon, Composition, EpsilonKind, pairs};
use crate::vocab::Delta;

/// The accountant by basic composition: epsilons and deltas add up, also for adaptively chosen releases. The deltas of
/// (epsilon, delta) guarantees are subtracted from the requested delta. Releases whose cost states neither a pure nor an
/// (epsilon, delta) guarantee (Gaussians, for example) share the rest of delta equally. Each release with a share counts
/// with its epsilon at this share. This epsilon is exact for a Gaussian with or without Poisson sampling, and an upper
/// bound for the other costs that need a share.
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

    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let unpriced = pairs::unpriceable(items);
        if !unpriced.is_empty() {
            return AccountedEpsilon::refused(unpriced, EpsilonKind::Bound, composition);
        }
        let spent = guarantees::own_deltas(items);
        // A total of exactly delta is allowed; the tolerance keeps rounding from refusing it.
        if spent > delta.get() * (1.0 + 1e-12) {
            return AccountedEpsilon::delta_used_up(spent, delta, composition);
        }
        let epsilon = match guarantees::at_share(items, delta.get() - spent) {
            Some(Guarantees { pairs, .. }) => {
                // A sum of no terms is -0; adding 0 makes it 0.
                pairs.iter().map(|(epsilon, count)| epsilon * *count as f64).sum::<f64>() + 0.0
            }
            None => return AccountedEpsilon::delta_used_up(spent, delta, composition),
        };
        AccountedEpsilon::plain(epsilon, EpsilonKind::Bound, composition)
    }
}

impl AccountedEpsilon {
    /// The delta that is left for the losses of the releases, given that no (epsilon, delta) guarantee fails. The delta
    /// left is (delta - f) / (1 - f), above 0, where f is the probability that at least one of these guarantees fails.
    ///
    /// # Errors
    /// If no delta is left: the answer that the accountant should return.
    pub(super) fn remaining(composition: &Composition, delta: Delta) -> Result<f64, Self> {
        let failure = pairs::failure(composition.items());
        pairs::remaining(delta.get(), failure).ok_or_else(|| Self::used_up(failure, delta, composition))
    }

    /// The answer of an accountant if `failure`, the probability that at least one guarantee fails, uses up the whole
    /// delta. If basic composition has a finite epsilon at `delta`, the answer is this epsilon, a sum of the releases'
    /// epsilons. Otherwise the answer is infinite.
    fn used_up(failure: f64, delta: Delta, composition: &Composition) -> Self {
        let mut priced = Basic.price(composition, delta);
        if priced.epsilon.is_infinite() {
            return Self::delta_used_up(failure, delta, composition);
        }
        let note = "the deltas of the releases leave nothing of the requested delta, so their epsilons are added up, by basic composition";
        priced.notes.insert(0, note.to_owned());
        priced
    }
}
