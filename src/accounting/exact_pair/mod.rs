//! The loss, at any delta of at least 0, of one pair of neighbouring data sets with known output distributions: exact where
//! there is a closed form, otherwise the tight accountant's upper and lower bound.

mod curve;
mod discrete;

use super::guarantees::pure_sum;
use super::{Accountant, AccountedEpsilon, Composition, Tight, single};
use crate::vocab::{Cost, Delta};
pub(crate) use curve::Curve;
pub(crate) use discrete::Discrete;

/// A lower and an upper bound, each at least 0, on the smallest epsilon that holds at `delta` in both directions for several
/// independent releases together; infinite if no epsilon holds. With a closed form both are the smallest epsilon, otherwise
/// they are the tight accountant's bounds. `costs` has each cost with its count. The output distributions of a release on
/// the pair of data sets must be exactly those that the cost of the release describes (Gaussian, Laplace,
/// Poisson-subsampled Gaussian).
pub(crate) fn composed(costs: &[(Cost, u64)], delta: f64) -> (f64, f64) {
    if let Some(epsilon) = closed_form(costs, delta) {
        return (epsilon, epsilon);
    }
    priced(costs, delta).map_or((0.0, 0.0), |priced| (priced.lower.unwrap_or(0.0), priced.epsilon))
}

/// The epsilon of a single Gaussian or Laplace release at any `delta`, or of any releases at a `delta` of 0; `None` in all
/// other cases.
fn closed_form(costs: &[(Cost, u64)], delta: f64) -> Option<f64> {
    match costs {
        [(Cost::Gaussian { noise_multiplier }, 1)] if delta > 0.0 => {
            Some(single::gaussian_epsilon(1.0 / noise_multiplier, delta))
        }
        [(Cost::Gaussian { .. }, 1)] => Some(f64::INFINITY),
        [(Cost::Laplace { scale }, 1)] if delta < 1.0 => Some(single::laplace_epsilon(*scale, delta)),
        [(Cost::Laplace { .. }, 1)] => Some(0.0),
        _ if delta <= 0.0 => Some(pure_sum(costs.iter().map(|(cost, count)| (cost, *count)))),
        _ => None,
    }
}

/// The tight accountant's epsilon. `None` for a delta of 1 or more, which `Delta` does not accept: epsilon 0 then holds.
fn priced(costs: &[(Cost, u64)], delta: f64) -> Option<AccountedEpsilon> {
    let composition: Composition = costs.iter().map(|(cost, count)| (cost, *count)).collect();
    Delta::new(delta).ok().map(|delta| Tight.price(&composition, delta))
}

/// The smallest epsilon at `delta`, at least 0, for a mixture of Gaussians of which the observer sees the component that
/// was drawn. `cases` has two numbers for each component: its probability, and the distance between the component's
/// means for the two neighbours, in standard deviations.
pub(crate) fn gaussian_mixture(cases: &[(f64, f64)], delta: f64) -> f64 {
    root(delta, |epsilon| cases.iter().map(|(weight, mu)| weight * gaussian(*mu, epsilon)).sum())
}

fn gaussian(mu: f64, epsilon: f64) -> f64 {
    if mu > 0.0 { single::gaussian_delta(mu, epsilon) } else { 0.0 }
}

/// The epsilon at which `curve`, a decreasing function of epsilon, reaches `delta`. It is 0 if the curve's value at 0 is
/// at most `delta`. Otherwise it is infinite if `delta` is not above 0, or if the curve is still above `delta` at 512.
pub(crate) fn root(delta: f64, curve: impl Fn(f64) -> f64) -> f64 {
    if curve(0.0) <= delta {
        return 0.0;
    }
    if delta <= 0.0 {
        return f64::INFINITY;
    }
    let mut most = 1.0;
    while curve(most) > delta {
        most *= 2.0;
        if most > 700.0 {
            return f64::INFINITY;
        }
    }
    single::decreasing_root(0.0, most, |epsilon| curve(epsilon) - delta)
}
