//! Renyi divergences of the best of a random number of results of a Gaussian mechanism.
//!
//! Results are totally ordered. Q and R are the distributions of one result for two neighbours. The number of results, K,
//! is random, independent of the data and not released; f is the probability generating function of K, and f' its
//! derivative.
//!
//! The best of K results of Q is y with probability A(y) = f(Q(at most y)) - f(Q(below y)), which is the integral over t
//! from 0 to 1 of f'(Q(below y) + t Q(y)) Q(y). For results of R, let B(y) be this probability: the same integral with R
//! in place of Q. For a > 1, u^a v^(1 - a) is jointly convex in u and v, so A(y)^a B(y)^(1 - a) is at most the integral
//! over t of u^a v^(1 - a), where u = f'(q) Q(y) and v = f'(r) R(y) are the two integrands. Here q and r are the
//! probabilities of one event under Q and R: a result is below y, or it is y and a coin with probability t shows heads.
//! Since u^a v^(1 - a) is Q(y)^a R(y)^(1 - a) times f'(q)^a f'(r)^(1 - a), the sum over y of A(y)^a B(y)^(1 - a) is at most
//! the product of two numbers: the sum over y of Q(y)^a R(y)^(1 - a), and the largest f'(q)^a f'(r)^(1 - a) over all
//! events. So the divergence of order a of A from B is at most D. Here D is the divergence of order a of Q from R, plus
//! 1 / (a - 1) times the largest ln(f'(q)^a f'(r)^(1 - a)). Theorems 2 and 6 of Papernot and Steinke 2022 bound this
//! largest value for two distributions of K.
//!
//! If K can be 0, P(K = 0) is added to e^((a - 1) D), because with this probability there is no result, for both neighbours.

use super::composition::Item;
use super::single::gaussian_delta;
use crate::vocab::Cost;

/// An upper bound on s times the Renyi divergence of order s + 1 of an item, times its count; 0 if the item's cost is
/// not that of a repeated Gaussian mechanism.
///
/// Source: Papernot and Steinke 2022, Theorem 2 (truncated negative binomial) with the best choice of the theorem's
/// second Renyi order, and Theorem 6 (Poisson). For Theorem 6, s times the divergence that the theorem gives is
/// exponentiated, and e^-mean, the probability of no result, is added to the exponential.
pub(super) fn moment(item: &Item, s: f64) -> f64 {
    let order = s + 1.0;
    let one = match item.cost {
        Cost::RepeatedGaussian { noise_multiplier, shape, mean } => {
            let rho = 0.5 / noise_multiplier / noise_multiplier;
            s * (order * rho + (1.0 + shape) * of_one_event(rho, -log_gamma(shape, mean))) + libm::log(mean)
        }
        Cost::PoissonRepeatedGaussian { noise_multiplier, mean } => {
            let rho = 0.5 / noise_multiplier / noise_multiplier;
            let delta = gaussian_delta(1.0 / noise_multiplier, libm::log1p(1.0 / s));
            let of_results = s * (order * rho + mean * delta) + libm::log(mean);
            log_sum(of_results, -mean)
        }
        _ => return 0.0,
    };
    item.count as f64 * one
}

/// The smallest value of (1 - 1/b) b rho + `log` / b over orders b of at least 1, where b rho is the Renyi divergence of
/// order b of the Gaussian mechanism, and `log` is ln(1 / gamma). Theorem 2 has a second order, b. The sum of the two
/// terms, times 1 + shape, is the part of the theorem's bound that depends on b.
fn of_one_event(rho: f64, log: f64) -> f64 {
    let order = (log / rho).sqrt().max(1.0);
    (order - 1.0) * rho + log / order
}

/// ln(e^a + e^b).
fn log_sum(a: f64, b: f64) -> f64 {
    a.max(b) + libm::log1p(libm::exp(-(a - b).abs()))
}

/// ln gamma of the truncated negative binomial distribution with this `shape`, above -1, and this `mean`, above 1. In
/// this distribution, P(K = k) is proportional to (1 - gamma)^k times the product of (l + shape) / (l + 1) over l from
/// 1 to k - 1, for k = 1, 2, ...
///
/// The mean is shape (1 - gamma) / (gamma (1 - gamma^shape)), and (1 - gamma) / (gamma ln(1 / gamma)) for shape 0. The
/// mean decreases as gamma increases. Method: bisection.
pub(crate) fn log_gamma(shape: f64, mean: f64) -> f64 {
    if shape == 1.0 {
        return -libm::log(mean);
    }
    let target = libm::log(mean);
    // For a shape of -1 + d with a small d, ln gamma is approximately -ln(mean) / d, which can be far below -1.
    let (mut low, mut high) = (-1.0, -1e-12);
    while log_mean(shape, low) < target {
        (low, high) = (2.0 * low, low);
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if log_mean(shape, middle) > target {
            low = middle;
        } else {
            high = middle;
        }
    }
    // Of the two ends of the bracket, `low` has the smaller gamma and so the larger cost.
    low
}

/// ln of the mean of the distribution with this `shape` and this ln gamma; `log_gamma` is below 0.
fn log_mean(shape: f64, log_gamma: f64) -> f64 {
    // (1 - gamma^shape) / shape, which is ln(1 / gamma) in the limit of shape 0.
    let power = shape * log_gamma;
    let ratio = if power.abs() < 1e-9 { -log_gamma } else { -libm::expm1(power) / shape };
    let log_of_rest = libm::log(-libm::expm1(log_gamma));
    if ratio.is_finite() {
        log_of_rest - log_gamma - libm::log(ratio)
    } else {
        // Here e^power overflows, and ln(ratio) is power - ln(-shape). The two terms with `log_gamma` are combined into one
        // term with the factor 1 + shape. This factor has no rounding error for shapes below -0.5.
        log_of_rest - (1.0 + shape) * log_gamma + libm::log(-shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn item(cost: Cost) -> Item {
        Item { cost, count: 1, labels: BTreeSet::new() }
    }

    fn probabilities(shape: f64, gamma: f64) -> impl Iterator<Item = f64> {
        let first = if shape == 0.0 {
            (1.0 - gamma) / -libm::log(gamma)
        } else {
            (1.0 - gamma) * shape / (libm::pow(gamma, -shape) - 1.0)
        };
        (1..).scan(first, move |p, k| {
            let this = *p;
            *p *= (1.0 - gamma) * (f64::from(k) + shape) / (f64::from(k) + 1.0);
            Some(this)
        })
    }

    /// The probabilities by the formula of Papernot and Steinke 2022 add up to 1 and have the mean for which gamma
    /// was computed.
    #[test]
    fn gamma_belongs_to_the_mean() {
        for shape in [-0.9, -0.5, -1e-3, 0.0, 1e-3, 0.5, 1.0, 3.0] {
            for mean in [1.001, 1.5, 10.0, 40.0] {
                let gamma = libm::exp(log_gamma(shape, mean));
                let (mut total, mut sum) = (0.0, 0.0);
                for (k, p) in (1..100_000).zip(probabilities(shape, gamma)) {
                    (total, sum) = (total + p, sum + f64::from(k) * p);
                }
                if gamma > 1e-3 {
                    assert!((total - 1.0).abs() < 1e-9, "shape {shape}, mean {mean}: total {total}");
                    assert!((sum / mean - 1.0).abs() < 1e-6, "shape {shape}, mean {mean}: {sum}");
                }
            }
        }
    }

    /// For shapes near -1 and a small gamma, the mean is close to gamma^-(1 + shape) times -shape.
    #[test]
    fn gamma_of_shapes_near_minus_one_is_not_cut_off() {
        for above in [1e-3, 1e-6, 1e-9, f64::EPSILON / 2.0] {
            let shape = above - 1.0;
            let exact = (libm::log(-shape) - std::f64::consts::LN_2) / (1.0 + shape);
            let found = log_gamma(shape, 2.0);
            assert!((found / exact - 1.0).abs() < 1e-9, "{above}: {found}, exact {exact}");
        }
    }

    /// Each of the K results is the same number plus fresh Gaussian noise (one setting is tried K times), and the largest
    /// result is released. The divergence between the exact distributions of this output for two neighbours lies below the
    /// bound.
    #[test]
    fn the_exact_divergence_of_one_setting_is_below_the_bound() {
        let density = |y: f64| libm::exp(-0.5 * y * y) / (2.0 * std::f64::consts::PI).sqrt();
        let below = |y: f64| 0.5 * libm::erfc(-y / std::f64::consts::SQRT_2);
        let (low, high, steps) = (-12.0, 14.0, 40_000);
        for sigma in [2.0, 10.0] {
            for (shape, mean) in
                [(1.0, 20.0), (0.0, 5.0), (-0.5, 10.0), (f64::INFINITY, 3.0), (f64::INFINITY, 30.0)]
            {
                let poisson = shape == f64::INFINITY;
                let gamma = if poisson { 1.0 } else { libm::exp(log_gamma(shape, mean)) };
                // f'(x), the derivative of the generating function.
                let slope = |x: f64| {
                    if poisson {
                        mean * libm::exp(mean * (x - 1.0))
                    } else {
                        mean * libm::pow(gamma / (1.0 - (1.0 - gamma) * x), 1.0 + shape)
                    }
                };
                for order in [1.5, 4.0, 32.0] {
                    for sign in [-1.0, 1.0] {
                        let shift = sign / sigma;
                        let sum: f64 = (0..steps)
                            .map(|k| {
                                let y = low + (high - low) * (f64::from(k) + 0.5) / f64::from(steps);
                                let best = slope(below(y)) * density(y);
                                let other = slope(below(y - shift)) * density(y - shift);
                                if best <= 0.0 || other <= 0.0 {
                                    return 0.0;
                                }
                                libm::exp(order * libm::log(best) + (1.0 - order) * libm::log(other))
                            })
                            .sum();
                        let none = if poisson { libm::exp(-mean) } else { 0.0 };
                        let exact = libm::log(sum * (high - low) / f64::from(steps) + none);
                        let cost = if poisson {
                            Cost::PoissonRepeatedGaussian { noise_multiplier: sigma, mean }
                        } else {
                            Cost::RepeatedGaussian { noise_multiplier: sigma, shape, mean }
                        };
                        let bound = moment(&item(cost), order - 1.0);
                        assert!(exact <= bound, "{shape} {mean} {order}: {exact} above {bound}");
                    }
                }
            }
        }
    }
}
