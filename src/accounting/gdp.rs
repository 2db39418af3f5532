//! Gaussian differential privacy by the central limit theorem, for comparison.

use super::composition::Item;
use super::laws::Direction;
use super::pairs::{self, Exponential};
use super::{Accountant, AccountedEpsilon, Composition, EpsilonKind, single};
use crate::vocab::{Cost, Delta};

/// Approximates the composition by one Gaussian mechanism with parameter mu, the inverse of its noise multiplier. mu^2 is
/// the sum of one term for each release. The term is 1/z^2 for a Gaussian with noise multiplier z, without sampling or
/// with rate 1. The term is q^2 (exp(1/z^2) - 1) for a Gaussian with Poisson sampling at a rate q below 1, and
/// (2 m)^2 / v for a pure mechanism whose privacy loss has mean m and variance v. **Not a bound**, unless all releases are
/// Gaussians without sampling: epsilon can be too small or too large (in two examples, 3.68 for a true epsilon of 3.96,
/// and 19.25 for a true epsilon of 15.71).
///
/// Source: Dong, Roth and Su 2022, Theorem 3.4; Bu et al. 2020, Corollary 4.
#[derive(Clone, Copy, Debug, Default)]
pub struct Gdp;

impl Accountant for Gdp {
    fn name(&self) -> &'static str {
        "gdp"
    }

    fn about(&self) -> &'static str {
        "approximation by one Gaussian (central limit theorem), for comparison (Dong, Roth and Su 2022, Theorem 3.4)"
    }

    fn is_approximation(&self) -> bool {
        true
    }

    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let exact = items.iter().all(|item| matches!(item.cost, Cost::Gaussian { .. }));
        let standing = if exact { EpsilonKind::Bound } else { EpsilonKind::NotABound };
        let squares: Vec<Option<f64>> = items.iter().map(square).collect();
        if squares.iter().any(Option::is_none) {
            let unpriced =
                items.iter().zip(&squares).filter(|(_, square)| square.is_none()).map(|(item, _)| item);
            return AccountedEpsilon::refused(unpriced, standing, composition);
        }
        let total: f64 = squares.into_iter().flatten().sum();
        let epsilon = if total > 0.0 { single::gaussian_epsilon(total.sqrt(), delta.get()) } else { 0.0 };
        AccountedEpsilon::plain(epsilon, standing, composition)
    }
}

/// The sum of the terms of mu^2 for the releases of an item; `None` if the approximation does not cover their cost.
fn square(item: &Item) -> Option<f64> {
    if !pairs::unpriceable(std::slice::from_ref(item)).is_empty() {
        return None;
    }
    let count = item.count as f64;
    match item.cost {
        Cost::Gaussian { noise_multiplier } => Some(count / noise_multiplier / noise_multiplier),
        Cost::PoissonGaussian { rate, noise_multiplier } => {
            if rate == 0.0 {
                return Some(0.0);
            }
            if rate == 1.0 {
                return Some(count / noise_multiplier / noise_multiplier);
            }
            let chi = libm::expm1(1.0 / noise_multiplier / noise_multiplier);
            chi.is_finite().then_some(count * rate * rate * chi)
        }
        Cost::Laplace { .. }
        | Cost::ExponentialMechanism { .. }
        | Cost::RandomizedResponse { .. }
        | Cost::PureDp { .. } => {
            let one = Item { count: 1, ..item.clone() };
            let laws = pairs::laws(&[one], Direction::Remove, Exponential::Fraction(0.5));
            let Some((law, _)) = laws.first() else { return Some(0.0) };
            let loss = law.cumulants(0.0);
            Some(count * 4.0 * loss.mean * loss.mean / loss.variance)
        }
        Cost::FixedSizeGaussian { .. }
        | Cost::ApproximateDp { .. }
        | Cost::ZeroConcentratedDp { .. }
        | Cost::RepeatedGaussian { .. }
        | Cost::PoissonRepeatedGaussian { .. }
        | Cost::Unprotected => None,
    }
}
