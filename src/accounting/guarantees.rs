//! The (epsilon, delta) guarantee of each release, for composition theorems that use nothing else.

use super::composition::Item;
use super::{renyi, single};
use crate::vocab::Cost;

/// The epsilons of all releases, and the sum of their deltas.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Guarantees {
    /// Epsilons with their counts.
    pub(super) pairs: Vec<(f64, u64)>,
    /// Sum of all deltas.
    pub(super) delta: f64,
}

/// Epsilon (natural logarithm of a likelihood ratio) at delta 0 of one release, at least 0; infinite for every kind of
/// cost that is not a pure guarantee.
#[must_use]
pub fn pure_epsilon(cost: &Cost) -> f64 {
    match cost {
        Cost::Laplace { scale } => 1.0 / scale,
        Cost::ExponentialMechanism { epsilon }
        | Cost::RandomizedResponse { epsilon }
        | Cost::PureDp { epsilon } => *epsilon,
        Cost::Gaussian { .. }
        | Cost::PoissonGaussian { .. }
        | Cost::FixedSizeGaussian { .. }
        | Cost::ZeroConcentratedDp { .. }
        | Cost::RepeatedGaussian { .. }
        | Cost::PoissonRepeatedGaussian { .. }
        | Cost::ApproximateDp { .. }
        | Cost::Unprotected => f64::INFINITY,
    }
}

/// Sum of the epsilons at delta 0 of several releases. `releases` has each cost with its count.
pub(super) fn pure_sum<'a>(releases: impl IntoIterator<Item = (&'a Cost, u64)>) -> f64 {
    // Costs with a count of 0 are left out, because 0 times infinity is not a number.
    let any = releases.into_iter().filter(|(_, count)| *count > 0);
    any.map(|(cost, count)| count as f64 * pure_epsilon(cost)).sum()
}

/// Sum of the deltas of the releases whose cost is an (epsilon, delta) guarantee.
pub(super) fn own_deltas(items: &[Item]) -> f64 {
    items.iter().map(|item| item.count as f64 * item.cost.own_delta()).sum()
}

/// Whether a release needs a share of delta: its cost implies a finite epsilon at a given delta, but does not state an
/// (epsilon, delta) guarantee. False for a release without protection, whose epsilon is infinite at every delta.
pub(super) fn needs_share(item: &Item) -> bool {
    matches!(
        item.cost,
        Cost::Gaussian { .. }
            | Cost::PoissonGaussian { .. }
            | Cost::FixedSizeGaussian { .. }
            | Cost::ZeroConcentratedDp { .. }
            | Cost::RepeatedGaussian { .. }
            | Cost::PoissonRepeatedGaussian { .. }
    )
}

/// The guarantees if `share`, a part of delta, is divided equally among the releases for which [`needs_share`] is true;
/// `None` if there are such releases and `share` is not above 0. All costs must be in range and protected
/// (`pairs::is_priceable`).
pub(super) fn at_share(items: &[Item], share: f64) -> Option<Guarantees> {
    let needy = items.iter().filter(|item| needs_share(item)).map(|item| item.count as f64).sum::<f64>();
    if needy > 0.0 && share <= 0.0 {
        return None;
    }
    let each = if needy > 0.0 { share / needy } else { 0.0 };
    let epsilon = |item: &Item| match item.cost {
        Cost::Laplace { scale } => 1.0 / scale,
        Cost::ExponentialMechanism { epsilon }
        | Cost::RandomizedResponse { epsilon }
        | Cost::PureDp { epsilon }
        | Cost::ApproximateDp { epsilon, .. } => epsilon,
        Cost::Gaussian { noise_multiplier } => single::gaussian_epsilon(1.0 / noise_multiplier, each),
        Cost::PoissonGaussian { rate, noise_multiplier } if rate > 0.0 => {
            single::poisson_epsilon(rate, noise_multiplier, each)
        }
        Cost::FixedSizeGaussian { population, size, noise_multiplier } if size > 0 => {
            single::fixed_size_epsilon(size as f64 / population as f64, noise_multiplier, each)
        }
        Cost::PoissonGaussian { .. } | Cost::FixedSizeGaussian { .. } => 0.0,
        // For these costs only a bound on Renyi divergences is known. Epsilon is computed from this bound, at the best
        // order.
        Cost::ZeroConcentratedDp { .. }
        | Cost::RepeatedGaussian { .. }
        | Cost::PoissonRepeatedGaussian { .. } => {
            let one = Item { count: 1, ..item.clone() };
            renyi::epsilon(&[one], each).map_or(0.0, |(epsilon, _)| epsilon)
        }
        Cost::Unprotected => f64::INFINITY,
    };
    let pairs = items.iter().map(|item| (epsilon(item), item.count)).collect();
    Some(Guarantees { pairs, delta: own_deltas(items) + if needy > 0.0 { share } else { 0.0 } })
}

/// The guarantees for several ways to divide what the releases' own deltas leave of `delta`. One part goes to the
/// releases that need a share, the rest is the slack of a composition theorem. There is one way if no release needs a
/// share, and none if the releases' own deltas leave nothing.
pub(super) fn divisions(items: &[Item], delta: f64) -> Vec<Guarantees> {
    let left = delta - own_deltas(items);
    if left <= 0.0 {
        return Vec::new();
    }
    let parts: &[f64] = if items.iter().any(needs_share) { &[0.01, 0.1, 0.5, 0.9] } else { &[0.0] };
    parts.iter().filter_map(|part| at_share(items, part * left)).collect()
}
