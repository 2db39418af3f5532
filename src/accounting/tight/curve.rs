//! A lower and an upper bound (the two "ends") on the epsilon of a composition at one delta, from the laws of its
//! dominating pairs.

use super::contour::{self, EpsilonBounds};
use super::{binomial, steps};
use crate::accounting::laws::{Direction, TwoAtoms};
use crate::accounting::pairs::{self, Exponential};
use crate::accounting::{Item, renyi, single};
use crate::vocab::Cost;

/// Largest relative distance of ends that are accepted without trying another method.
pub(super) const CLOSE: f64 = 1e-6;

/// Relative distance of the two ends above which a longer contour is tried. The longer contour is the last of three
/// attempts: the first is the integral along a usual contour ([`contour`]), and the second uses lattices or grids
/// ([`steps`]).
const RESOLUTION: f64 = 1e-3;
/// `effort` of [`contour::epsilon`] for this longer contour.
const LAST_EFFORT: f64 = 20.0;

/// Below this delta, sums of probabilities in doubles are not trusted.
const MIN_DELTA: f64 = 1e-30;

/// Both ends of epsilon (at least 0) for priceable items, in the worse of the two directions (a unit is removed, or a unit
/// is added). An end is replaced by a simpler bound if the computation fails or the simpler bound is tighter. The upper end
/// is replaced by the bound by Renyi divergences or by the sum of the epsilons of all items, and the lower end by the
/// epsilon of one item alone.
pub(super) fn curve(items: &[Item], exponential: Exponential, delta: f64) -> EpsilonBounds {
    curve_below(items, exponential, delta, f64::INFINITY)
}

/// The same as [`curve`], faster: if epsilon is at least `ceiling`, the ends need not be close.
pub(in crate::accounting) fn curve_below(
    items: &[Item],
    exponential: Exponential,
    delta: f64,
    ceiling: f64,
) -> EpsilonBounds {
    curve_between(items, exponential, delta, (0.0, ceiling))
}

/// The same as [`curve_below`], faster: the ends need not be close if epsilon is at most `floor` or at least `ceiling`.
pub(super) fn curve_between(
    items: &[Item],
    exponential: Exponential,
    delta: f64,
    (floor, ceiling): (f64, f64),
) -> EpsilonBounds {
    if pairs::total_variation(items) <= delta {
        return EpsilonBounds { lower: 0.0, upper: 0.0 };
    }
    if let Some(epsilon) = closed_form(items, delta) {
        return EpsilonBounds { lower: epsilon, upper: epsilon };
    }
    let total = pairs::pure_total(items);
    let part = |item: &Item| closed_form(std::slice::from_ref(item), delta).unwrap_or(0.0);
    let least = items.iter().map(part).fold(0.0, f64::max).min(total);
    if least > ceiling {
        return EpsilonBounds { lower: least, upper: total };
    }
    // The upper bound by Renyi divergences. It is computed at most once, and only if delta is very small or if lattices are
    // tried.
    let mut known: Option<f64> = None;
    let mut other =
        || *known.get_or_insert_with(|| renyi::epsilon(items, delta).map_or(0.0, |found| found.0));
    if delta < MIN_DELTA {
        // Sums of probabilities in double precision do not resolve such a small delta; Renyi divergences do.
        return EpsilonBounds { lower: least, upper: other().min(total).max(least) };
    }
    let directions = if pairs::is_asymmetric(items) { &Direction::BOTH[..] } else { &Direction::BOTH[..1] };
    directions.iter().fold(EpsilonBounds { lower: least, upper: least }, |worst, &direction| {
        let laws = pairs::laws(items, direction, exponential);
        if laws.is_empty() {
            return worst;
        }
        let line = contour::epsilon(&laws, delta, 1.0)
            .filter(|ends| ends.upper.is_finite() && ends.lower.is_finite());
        let ends = match line {
            Some(ends)
                if ends.upper - ends.lower <= CLOSE * ends.upper.max(0.0)
                    || ends.upper <= worst.upper.max(floor)
                    || ends.lower >= ceiling =>
            {
                ends
            }
            line => {
                let mut most = other().min(total);
                if let Some(ends) = line {
                    most = most.min(ends.upper.max(0.0));
                }
                let mut ends = steps::epsilon(&laws, delta, most, worst.upper.max(floor), ceiling);
                ends.lower = line.map_or(0.0, |line| line.lower).max(ends.lower).min(ends.upper);
                let is_of_interest = ends.upper > worst.upper.max(floor) && ends.lower < ceiling;
                if is_of_interest && ends.upper - ends.lower > RESOLUTION * ends.upper {
                    // The two ends are still not close; a longer contour may bring them closer.
                    let line = contour::epsilon(&laws, delta, LAST_EFFORT)
                        .filter(|line| line.upper.is_finite() && line.lower.is_finite());
                    if let Some(line) = line {
                        ends.upper = ends.upper.min(line.upper.max(0.0));
                        ends.lower = ends.lower.max(line.lower).min(ends.upper);
                    }
                }
                ends
            }
        };
        let upper = worst.upper.max(ends.upper.min(total));
        EpsilonBounds { lower: worst.lower.max(ends.lower).min(upper), upper }
    })
}

/// Epsilon at `delta` in closed form or by binomial sums; `None` if the items have neither. For one Gaussian on a sample of
/// fixed size, it is the epsilon of the dominating pair, an upper bound on the true one.
fn closed_form(items: &[Item], delta: f64) -> Option<f64> {
    if let [item] = items {
        match item.cost {
            Cost::PoissonGaussian { rate, noise_multiplier }
                if item.count == 1 && rate > 0.0 && rate < 1.0 =>
            {
                return Some(single::poisson_epsilon(rate, noise_multiplier, delta));
            }
            Cost::Laplace { scale } if item.count == 1 => {
                return Some(single::laplace_epsilon(scale, delta));
            }
            Cost::FixedSizeGaussian { population, size, noise_multiplier } if item.count == 1 && size > 0 => {
                let rate = size as f64 / population as f64;
                return Some(single::fixed_size_epsilon(rate, noise_multiplier, delta));
            }
            Cost::RandomizedResponse { epsilon }
            | Cost::PureDp { epsilon }
            | Cost::ApproximateDp { epsilon, .. }
                if epsilon > 0.0 && item.count <= binomial::MOST =>
            {
                return Some(binomial::epsilon(&TwoAtoms::randomized_response(epsilon), item.count, delta));
            }
            Cost::Gaussian { .. }
            | Cost::Laplace { .. }
            | Cost::ExponentialMechanism { .. }
            | Cost::RandomizedResponse { .. }
            | Cost::PoissonGaussian { .. }
            | Cost::FixedSizeGaussian { .. }
            | Cost::PureDp { .. }
            | Cost::ApproximateDp { .. }
            | Cost::ZeroConcentratedDp { .. }
            | Cost::RepeatedGaussian { .. }
            | Cost::PoissonRepeatedGaussian { .. }
            | Cost::Unprotected => {}
        }
    }
    let squares: Option<f64> = items
        .iter()
        .map(|item| match item.cost {
            Cost::Gaussian { noise_multiplier } => {
                Some(item.count as f64 / noise_multiplier / noise_multiplier)
            }
            _ => None,
        })
        .sum();
    match squares {
        Some(0.0) => Some(0.0),
        Some(squares) => Some(single::gaussian_epsilon(squares.sqrt(), delta)),
        None => None,
    }
}
