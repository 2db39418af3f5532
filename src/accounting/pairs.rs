//! Converts costs to distributions of the privacy loss, and decides which costs can be priced.

use super::composition::{Item, MAX_RELEASES};
use super::laws::{
    BoundedRange, Direction, FixedSizeGaussian, Gaussian, Laplace, Law, PoissonGaussian, TwoAtoms,
};
use crate::vocab::Cost;

/// Which law represents an exponential mechanism.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Exponential {
    /// The law of the dominating pair, which holds for adaptively chosen releases too.
    Dominating,
    /// The law of a mechanism that is fixed in advance and has two losses, of which the larger is this fraction of the
    /// mechanism's range.
    Fraction(f64),
}

/// Largest epsilon of a release. A larger one protects nothing in practice, and its exponential could overflow.
const LARGEST_EPSILON: f64 = 700.0;
/// Smallest noise multiplier; the square of a smaller one could underflow.
const MIN_NOISE: f64 = 1e-100;

/// Whether a cost's numbers are in range and the release is protected at all.
pub(super) fn is_priceable(cost: &Cost) -> bool {
    let positive = |v: f64| v.is_finite() && v > 0.0;
    let noise = |v: f64| v.is_finite() && v >= MIN_NOISE;
    let guarantee = |e: f64| (0.0..=LARGEST_EPSILON).contains(&e);
    match *cost {
        Cost::Gaussian { noise_multiplier } => noise(noise_multiplier),
        Cost::Laplace { scale } => positive(scale) && scale >= 1.0 / LARGEST_EPSILON,
        Cost::ExponentialMechanism { epsilon }
        | Cost::RandomizedResponse { epsilon }
        | Cost::PureDp { epsilon } => guarantee(epsilon),
        Cost::ApproximateDp { epsilon, delta } => guarantee(epsilon) && (0.0..1.0).contains(&delta),
        Cost::PoissonGaussian { rate, noise_multiplier } => {
            (0.0..=1.0).contains(&rate) && (noise(noise_multiplier) || rate == 0.0)
        }
        Cost::FixedSizeGaussian { population, size, noise_multiplier } => {
            size <= population && (noise(noise_multiplier) || size == 0)
        }
        Cost::ZeroConcentratedDp { rho } => rho.is_finite() && rho >= 0.0,
        Cost::RepeatedGaussian { noise_multiplier, shape, mean } => {
            noise(noise_multiplier) && shape.is_finite() && shape > -1.0 && mean.is_finite() && mean > 1.0
        }
        Cost::PoissonRepeatedGaussian { noise_multiplier, mean } => noise(noise_multiplier) && positive(mean),
        Cost::Unprotected => false,
    }
}

/// Items whose cost is out of range or unprotected, or whose count is too large.
pub(super) fn unpriceable(items: &[Item]) -> Vec<&Item> {
    items.iter().filter(|item| !is_priceable(&item.cost) || item.count > MAX_RELEASES).collect()
}

/// A bound on the rounding error of the sum of all items' log moments; 0 up to a million releases, where it is negligible.
pub(super) fn rounding(items: &[Item]) -> f64 {
    let releases: f64 = items.iter().map(|item| item.count as f64).sum();
    if releases > 1e6 { 4e-15 * releases } else { 0.0 }
}

/// Probability that the guarantee of at least one release with an (epsilon, delta) guarantee fails: 1 minus the product
/// of 1 - delta over these releases.
pub(super) fn failure(items: &[Item]) -> f64 {
    let log: f64 = items.iter().map(|item| item.count as f64 * libm::log1p(-item.cost.own_delta())).sum();
    -libm::expm1(log)
}

/// The delta that is left for the losses of the releases, given that no (epsilon, delta) guarantee fails. `failure` is
/// the probability that at least one guarantee fails. `None` if no delta is left.
pub(super) fn remaining(delta: f64, failure: f64) -> Option<f64> {
    let left = (delta - failure) / (1.0 - failure);
    (left > 0.0).then_some(left)
}

/// The laws of priceable items in one direction, with counts; all Gaussians are merged into one law. An (epsilon, delta)
/// guarantee has the law for the case that it does not fail. Items without loss, and items of which only bounds on Renyi
/// divergences are known, have no law.
pub(super) fn laws(
    items: &[Item],
    direction: Direction,
    exponential: Exponential,
) -> Vec<(Box<dyn Law>, u64)> {
    let mut squares = 0.0;
    let mut laws: Vec<(Box<dyn Law>, u64)> = Vec::new();
    for item in items {
        let mut put = |law: Box<dyn Law>| laws.push((law, item.count));
        match item.cost {
            Cost::Gaussian { noise_multiplier } => {
                squares += item.count as f64 / noise_multiplier / noise_multiplier
            }
            Cost::Laplace { scale } => put(Box::new(Laplace { u: 1.0 / scale })),
            Cost::ExponentialMechanism { epsilon } if epsilon > 0.0 => match exponential {
                Exponential::Dominating => put(Box::new(BoundedRange { epsilon })),
                Exponential::Fraction(f) => put(Box::new(TwoAtoms::bounded_range(epsilon, f * epsilon))),
            },
            Cost::RandomizedResponse { epsilon }
            | Cost::PureDp { epsilon }
            | Cost::ApproximateDp { epsilon, .. }
                if epsilon > 0.0 =>
            {
                put(Box::new(TwoAtoms::randomized_response(epsilon)));
            }
            Cost::PoissonGaussian { rate, noise_multiplier } => {
                if rate >= 1.0 {
                    squares += item.count as f64 / noise_multiplier / noise_multiplier;
                } else if rate > 0.0 {
                    put(Box::new(PoissonGaussian::new(rate, noise_multiplier, direction)));
                }
            }
            Cost::FixedSizeGaussian { population, size, noise_multiplier } => {
                if size == population && size > 0 {
                    // The sample is the whole population, and replacing a record moves the sum by up to twice the largest
                    // norm of a record.
                    squares += item.count as f64 * 4.0 / noise_multiplier / noise_multiplier;
                } else if size > 0 {
                    put(Box::new(FixedSizeGaussian::new(size as f64 / population as f64, noise_multiplier)));
                }
            }
            Cost::ExponentialMechanism { .. }
            | Cost::RandomizedResponse { .. }
            | Cost::PureDp { .. }
            | Cost::ApproximateDp { .. }
            | Cost::ZeroConcentratedDp { .. }
            | Cost::RepeatedGaussian { .. }
            | Cost::PoissonRepeatedGaussian { .. }
            | Cost::Unprotected => {}
        }
    }
    if squares > 0.0 {
        laws.push((Box::new(Gaussian { mu: squares.sqrt() }), 1));
    }
    laws
}

/// An upper bound on the total variation distance of the composition, which is its delta at epsilon 0: the sum of the
/// items' distances, where every (epsilon, delta) guarantee is assumed not to fail. Infinite if only a bound on Renyi
/// divergences is known for an item.
pub(super) fn total_variation(items: &[Item]) -> f64 {
    let normal = |mu: f64| libm::erf(mu / 8f64.sqrt());
    let of = |cost: &Cost| match *cost {
        Cost::Gaussian { noise_multiplier } => normal(1.0 / noise_multiplier),
        Cost::PoissonGaussian { rate, .. } if rate <= 0.0 => 0.0,
        Cost::PoissonGaussian { rate, noise_multiplier } => rate * normal(1.0 / noise_multiplier),
        Cost::FixedSizeGaussian { size: 0, .. } => 0.0,
        Cost::FixedSizeGaussian { population, size, noise_multiplier } => {
            size as f64 / population as f64 * normal(2.0 / noise_multiplier)
        }
        Cost::Laplace { scale } => -libm::expm1(-0.5 / scale),
        Cost::RandomizedResponse { epsilon }
        | Cost::PureDp { epsilon }
        | Cost::ApproximateDp { epsilon, .. } => libm::tanh(0.5 * epsilon),
        Cost::ExponentialMechanism { epsilon } => libm::tanh(0.25 * epsilon),
        Cost::ZeroConcentratedDp { .. }
        | Cost::RepeatedGaussian { .. }
        | Cost::PoissonRepeatedGaussian { .. }
        | Cost::Unprotected => f64::INFINITY,
    };
    // The factor covers the rounding error of the sum.
    items.iter().map(|item| item.count as f64 * of(&item.cost)).sum::<f64>() * (1.0 + 1e-12)
}

/// Whether adding a unit and removing one have different losses.
pub(super) fn is_asymmetric(items: &[Item]) -> bool {
    items
        .iter()
        .any(|item| matches!(item.cost, Cost::PoissonGaussian { rate, .. } if rate > 0.0 && rate < 1.0))
}

/// The sum of the epsilons, which bounds the total loss if no (epsilon, delta) guarantee fails; infinite if an item has
/// neither a pure nor an (epsilon, delta) guarantee.
pub(super) fn pure_total(items: &[Item]) -> f64 {
    items
        .iter()
        .map(|item| match item.cost {
            Cost::Laplace { scale } => item.count as f64 / scale,
            Cost::ExponentialMechanism { epsilon }
            | Cost::RandomizedResponse { epsilon }
            | Cost::PureDp { epsilon }
            | Cost::ApproximateDp { epsilon, .. } => item.count as f64 * epsilon,
            Cost::Gaussian { .. }
            | Cost::PoissonGaussian { .. }
            | Cost::FixedSizeGaussian { .. }
            | Cost::ZeroConcentratedDp { .. }
            | Cost::RepeatedGaussian { .. }
            | Cost::PoissonRepeatedGaussian { .. }
            | Cost::Unprotected => f64::INFINITY,
        })
        .sum()
}
