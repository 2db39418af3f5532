//! Exact epsilons of equal releases by randomised response, or by exponential mechanisms, whose worst case has two
//! outputs too.

use super::staircase;
use crate::accounting::laws::TwoAtoms;

/// Largest number of equal releases: the rounding errors of longer sums are too large.
pub(super) const MOST: u64 = 1_000_000_000;
/// Largest number of equal exponential mechanisms; it is smaller, because many sums are needed to find the worst mechanism.
pub(super) const MAX_OF_A_RANGE: u64 = 20_000;

/// Epsilon of `count` equal two-output mechanisms; at least 0.
///
/// Source: Kairouz, Oh and Viswanath 2015, Theorem 3.3 (for randomised response).
pub(in crate::accounting) fn epsilon(law: &TwoAtoms, count: u64, delta: f64) -> f64 {
    let (top, spacing) = (count as f64 * law.high, law.high - law.low);
    let (empty, masses) = masses(law.p_high, law.p_low, count);
    staircase::epsilon(top, spacing, empty, masses, delta).max(0.0)
}

/// Epsilon of `count` exponential mechanisms of bounded range `range` that are fixed in advance. It is the maximum, over
/// t, of the epsilon of `count` mechanisms each of which has only the two losses t and t - range.
///
/// Delta is a sum over the outputs whose total loss is above epsilon. These are the outputs in which at most l of the
/// mechanisms have the low loss t - range, for some l that depends on t and epsilon. For a fixed l,
/// epsilon(t) = ln((A_l(t) - delta) / B_l(t)), where A_l and B_l are the masses of these outputs under P and Q. So
/// epsilon(t) is stationary where the derivative of A_l divided by that of B_l is e^epsilon. This quotient is
/// e^{(count + 1) t - (l + 1) range}, so the stationary point is t = (epsilon + (l + 1) range) / (count + 1). The search
/// iterates this equation for t, and increases or decreases l by 1 as long as epsilon increases.
///
/// Source: Dong, Durfee and Rogers 2020, Theorem 3.
pub(super) fn bounded_range(range: f64, count: u64, delta: f64) -> f64 {
    let n = count as f64;
    let at = |t: f64| {
        let law = TwoAtoms::bounded_range(range, t);
        let (empty, masses) = masses(law.p_high, law.p_low, count);
        staircase::epsilon(n * t, range, empty, masses, delta)
    };
    // The largest number of low losses with which the total loss is above epsilon.
    let counted = |t: f64, epsilon: f64| ((n * t - epsilon) / range).ceil() - 1.0;
    let best_for = |l: f64, mut epsilon: f64| {
        let mut best: f64 = f64::NEG_INFINITY;
        for _ in 0..50 {
            let t = ((epsilon + (l + 1.0) * range) / (n + 1.0)).clamp(0.0, range);
            let next = at(t);
            best = best.max(next);
            if (next - epsilon).abs() <= 1e-13 * next.abs().max(1.0) {
                break;
            }
            epsilon = next;
        }
        best
    };
    let mut best = f64::NEG_INFINITY;
    // Long sums are smooth in t, so fewer starting points are enough.
    let starts: &[u32] = if count > 500 { &[4, 6] } else { &[1, 2, 3, 4, 5, 6, 7] };
    for &start in starts {
        let t = range * f64::from(start) / 8.0;
        let epsilon = at(t);
        if epsilon == f64::NEG_INFINITY {
            continue;
        }
        let l = counted(t, epsilon).clamp(0.0, n - 1.0);
        for by in [1.0, -1.0] {
            let (mut l, mut here) = (l, best_for(l, epsilon));
            loop {
                best = best.max(here);
                l += by;
                if l < 0.0 || l > n - 1.0 {
                    break;
                }
                let next = best_for(l, here);
                if next < here {
                    break;
                }
                if next == here {
                    break;
                }
                here = next;
            }
        }
    }
    best.max(0.0)
}

/// Binomial probabilities of 0, 1, ..., `count` low outputs. Returns the number of leading probabilities that underflow
/// and are left out, and the other probabilities; those that underflow at the end are 0. All probabilities are computed
/// outward from the largest one, so nothing overflows.
pub(super) fn masses(p_high: f64, p_low: f64, count: u64) -> (usize, impl Iterator<Item = f64>) {
    let n = count as usize;
    let mode = ((count as f64 + 1.0) * p_low / (p_high + p_low)).floor().min(count as f64) as usize;
    let mut below = Vec::new();
    let mut mass = 1.0;
    for i in (0..mode).rev() {
        mass *= (i + 1) as f64 / (n - i) as f64 * (p_high / p_low);
        if mass < f64::MIN_POSITIVE {
            break;
        }
        below.push(mass);
    }
    let first = mode - below.len();
    let mut masses = below;
    masses.reverse();
    masses.push(1.0);
    mass = 1.0;
    for i in mode..n {
        mass *= (n - i) as f64 / (i + 1) as f64 * (p_low / p_high);
        if mass < f64::MIN_POSITIVE {
            break;
        }
        masses.push(mass);
    }
    let total: f64 = masses.iter().sum();
    let vanished = n + 1 - first - masses.len();
    let last = std::iter::repeat_n(0.0, vanished);
    (first, masses.into_iter().map(move |mass| mass / total).chain(last))
}
