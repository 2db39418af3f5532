//! Renyi divergences of a composition, and the epsilon that the best order gives.

use super::composition::Item;
use super::laws::{BoundedRange, Direction, Law};
use super::pairs::{self, Exponential};
use super::repeated;
use crate::vocab::Cost;

/// Smallest and largest s that the search considers; the Renyi order is s + 1.
const LEAST: f64 = 1e-3;
const MOST: f64 = 999.0;

/// Epsilon by the best order, and this order, for priceable items, in the direction with the larger epsilon; `None` if no
/// item has a loss.
pub(super) fn epsilon(items: &[Item], delta: f64) -> Option<(f64, f64)> {
    let directions = if pairs::is_asymmetric(items) { &Direction::BOTH[..] } else { &Direction::BOTH[..1] };
    let (exponential, others): (Vec<Item>, Vec<Item>) =
        items.iter().cloned().partition(|item| matches!(item.cost, Cost::ExponentialMechanism { .. }));
    let mut worst: Option<(f64, f64)> = None;
    for &direction in directions {
        let laws = pairs::laws(&others, direction, Exponential::Dominating);
        let rho: f64 = others.iter().map(concentrated).sum();
        if laws.is_empty() && !others.iter().any(is_known_by_divergence) && exponential.iter().all(is_free) {
            continue;
        }
        let rounding = pairs::rounding(items);
        let moment = |s: f64| {
            let laws: f64 = laws.iter().map(|(law, count)| *count as f64 * law.cumulants(s).value).sum();
            let ranges: f64 = exponential.iter().map(|item| item.count as f64 * bounded_range(item, s)).sum();
            // Every term except `rounding` is s times a divergence of order s + 1, or a bound on this product. With
            // zero-concentrated DP, the divergence of order s + 1 is at most rho (s + 1).
            let repeated: f64 = others.iter().map(|item| repeated::moment(item, s)).sum();
            laws + ranges + rho * s * (s + 1.0) + repeated + rounding
        };
        let (epsilon, order) = best_order(moment, delta);
        if worst.is_none_or(|(most, _)| epsilon > most) {
            worst = Some((epsilon, order));
        }
    }
    worst
}

/// The smallest epsilon over the orders a = 1 + s, at least 0, and the order that gives this epsilon. `moment` maps s to
/// ln E exp(s L) of the privacy loss L.
fn best_order(moment: impl Fn(f64) -> f64, delta: f64) -> (f64, f64) {
    let log_delta = libm::log(delta);
    let epsilon = |log_s: f64| {
        let s = libm::exp(log_s);
        let a = 1.0 + s;
        (moment(s) - log_delta - libm::log(a)) / s + libm::log(s / a)
    };
    let (low, high) = (libm::log(LEAST), libm::log(MOST));
    const COARSE: u32 = 20;
    let place = |k: u32| low + (high - low) * f64::from(k) / f64::from(COARSE);
    let best =
        (0..=COARSE).map(|k| (k, epsilon(place(k)))).min_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(k, _)| k);
    // Golden-section search between the neighbours of the best coarse point. Any order gives a bound, so a missed minimum
    // only makes the bound less tight.
    let (mut left, mut right) = (place(best.saturating_sub(1)), place((best + 1).min(COARSE)));
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut x, mut y) = (right - GOLDEN * (right - left), left + GOLDEN * (right - left));
    let (mut at_x, mut at_y) = (epsilon(x), epsilon(y));
    while right - left > 1e-7 {
        if at_x <= at_y {
            (right, y, at_y) = (y, x, at_x);
            x = right - GOLDEN * (right - left);
            at_x = epsilon(x);
        } else {
            (left, x, at_x) = (x, y, at_y);
            y = left + GOLDEN * (right - left);
            at_y = epsilon(y);
        }
    }
    let (log_s, found) = [(x, at_x), (y, at_y), (place(best), epsilon(place(best)))]
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .unwrap_or((x, at_x));
    (found.max(0.0), 1.0 + libm::exp(log_s))
}

/// rho of an item times its count, if its cost is zero-concentrated DP; else 0.
pub(super) fn concentrated(item: &Item) -> f64 {
    match item.cost {
        Cost::ZeroConcentratedDp { rho } => item.count as f64 * rho,
        _ => 0.0,
    }
}

/// Whether an item has a loss above 0 of which only bounds on Renyi divergences are known.
pub(super) fn is_known_by_divergence(item: &Item) -> bool {
    match item.cost {
        Cost::ZeroConcentratedDp { rho } => rho > 0.0,
        Cost::RepeatedGaussian { .. } | Cost::PoissonRepeatedGaussian { .. } => true,
        _ => false,
    }
}

fn is_free(item: &Item) -> bool {
    matches!(item.cost, Cost::ExponentialMechanism { epsilon } if epsilon <= 0.0)
}

/// The maximum over t in [0, r] of ln E exp(s L), for one release whose privacy loss L is t or t - r, where r is the
/// range.
///
/// The maximum is at e^t = s (e^r - e^{-s r}) / ((s + 1) (1 - e^{-s r})), where ln E exp(s L) equals
/// s t + ln((e^r - e^{-s r}) / ((s + 1) (e^r - 1))). The sum of the maxima of all releases is a bound for adaptively chosen
/// releases too, because each maximum bounds its release whatever was released before.
fn bounded_range(item: &Item, s: f64) -> f64 {
    let Cost::ExponentialMechanism { epsilon: r } = item.cost else { return 0.0 };
    if r <= 0.0 {
        return 0.0;
    }
    // ln of e^r - e^{-s r} = e^r (1 - e^{-(s + 1) r}).
    let whole = libm::log(-libm::expm1(-(s + 1.0) * r)) + r;
    let t = libm::log(s / (s + 1.0)) + whole - libm::log(-libm::expm1(-s * r));
    (s * t + whole - libm::log((s + 1.0) * libm::expm1(r))).max(0.0)
}

/// By how much the log moment of `BoundedRange`, the law that dominates all mechanisms of the same range as the item,
/// exceeds [`bounded_range`], times the item's count; 0 if the item is no exponential mechanism.
pub(super) fn gain_of_bounded_range(item: &Item, s: f64) -> f64 {
    let Cost::ExponentialMechanism { epsilon } = item.cost else { return 0.0 };
    if epsilon <= 0.0 {
        return 0.0;
    }
    item.count as f64 * (BoundedRange { epsilon }.cumulants(s).value - bounded_range(item, s))
}
