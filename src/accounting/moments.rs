//! The moments accountant with integer orders, by which the paper on DP-FTS-DE (Dai, Low and Jaillet 2021) computes its
//! losses.

use super::composition::Item;
use super::laws::Direction;
use super::pairs::{self, Exponential};
use super::{Accountant, AccountedEpsilon, Composition, EpsilonKind, renyi, repeated};
use crate::vocab::{Cost, Delta};

/// The moments accountant: epsilon = min over lambda = 1, ..., 32 of
/// (sum of alpha(lambda) over releases - ln delta) / lambda. Here alpha(lambda) is the log moment ln E exp(lambda L) of
/// the loss L of a release. If this moment differs between adding and removing a unit, alpha(lambda) is the larger of the
/// two.
///
/// First, delta is replaced by (delta - f) / (1 - f), where f is the probability that at least one (epsilon, delta)
/// guarantee fails. The orders are integers, and moments are converted to epsilon by the original formula, because the
/// losses published for DP-FTS-DE were computed in this way. For samples drawn without replacement epsilon is infinite,
/// because the analysis is for Poisson sampling.
///
/// Source: Abadi et al. 2016, Theorem 2.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moments;

const ORDERS: u32 = 32;

impl Accountant for Moments {
    fn name(&self) -> &'static str {
        "moments"
    }

    fn about(&self) -> &'static str {
        "moments of integer orders up to 32, as for the losses published for DP-FTS-DE (Abadi et al. 2016, Theorem 2)"
    }

    fn price(&self, composition: &Composition, delta: Delta) -> AccountedEpsilon {
        let items = composition.items();
        let not_poisson =
            |item: &&Item| matches!(item.cost, Cost::FixedSizeGaussian { size, .. } if size > 0);
        let mut unpriced = pairs::unpriceable(items);
        unpriced.extend(items.iter().filter(not_poisson).filter(|item| pairs::is_priceable(&item.cost)));
        if !unpriced.is_empty() {
            return AccountedEpsilon::refused(unpriced, EpsilonKind::Bound, composition);
        }
        let left = match AccountedEpsilon::remaining(composition, delta) {
            Ok(left) => left,
            Err(answer) => return answer,
        };
        let log_delta = libm::log(left);
        let laws = Direction::BOTH.map(|direction| pairs::laws(items, direction, Exponential::Dominating));
        let rho: f64 = items.iter().map(renyi::concentrated).sum();
        let rounding = pairs::rounding(items);
        let alpha = |lambda: f64| -> f64 {
            let worse = laws[0].iter().zip(&laws[1]).map(|((one, count), (other, _))| {
                *count as f64 * one.cumulants(lambda).value.max(other.cumulants(lambda).value)
            });
            let dominating: f64 = worse.sum();
            // A mechanism of bounded range has smaller moments than the pair that dominates it.
            let spared: f64 = items.iter().map(|item| renyi::gain_of_bounded_range(item, lambda)).sum();
            let repeated: f64 = items.iter().map(|item| repeated::moment(item, lambda)).sum();
            dominating - spared + rho * lambda * (lambda + 1.0) + repeated + rounding
        };
        if laws[0].is_empty() && !items.iter().any(renyi::is_known_by_divergence) {
            return AccountedEpsilon::plain(0.0, EpsilonKind::Bound, composition);
        }
        let (epsilon, order) = (1..=ORDERS)
            .map(|lambda| {
                let lambda = f64::from(lambda);
                ((alpha(lambda) - log_delta) / lambda, lambda)
            })
            .fold((f64::INFINITY, 1.0), |best, next| if next.0 < best.0 { next } else { best });
        let mut priced = AccountedEpsilon::plain(epsilon.max(0.0), EpsilonKind::Bound, composition);
        priced.order = Some(order);
        priced
    }
}
