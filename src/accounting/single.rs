//! Closed forms of epsilon and delta for one release with Gaussian noise, on all data or on a random sample, and of epsilon
//! for one release with Laplace noise.

use crate::special::{normal_cdf, normal_quantile};
use std::f64::consts::TAU;

/// Below this mu, delta is computed as an integral, unless epsilon is below -mu^2 / 2.
const SMALL: f64 = 0.01;
/// For every x of at least this number, the last of the terms that [`mills_series`] sums is below 1e-21.
const FAR: f64 = 25.0;

/// The delta, in [0, 1], of Gaussian noise at any real `epsilon`. `mu` is the L2 sensitivity over the noise's standard
/// deviation, above 0.
///
/// Let Phi and phi be the standard normal distribution function and density, and let x stand for epsilon. Then delta is
/// Phi(mu/2 - x/mu) - e^x Phi(-mu/2 - x/mu). With a = x/mu - mu/2 and b = a + mu, e^x is phi(a)/phi(b). So delta is
/// Phi(-a) - phi(a) R(b), where R is Mills' ratio; this form does not overflow. For a small mu the two terms nearly
/// cancel. Since Phi(-a) is phi(a) R(a), delta is then computed as phi(a) times the integral of -R'(t) = 1 - t R(t) from
/// a to b.
///
/// Source: Balle and Wang 2018, Theorem 8.
pub(crate) fn gaussian_delta(mu: f64, epsilon: f64) -> f64 {
    let (a, b) = (epsilon / mu - 0.5 * mu, epsilon / mu + 0.5 * mu);
    if b < 0.0 {
        return (normal_cdf(-a) - libm::exp(epsilon) * normal_cdf(-b)).max(0.0);
    }
    let density = libm::exp(-0.5 * a * a) / TAU.sqrt();
    if mu < SMALL {
        // The Gauss-Legendre rule with three points; its relative error is below mu^6.
        let (middle, apart) = (0.5 * (a + b), 0.5 * mu * 0.6f64.sqrt());
        let sum = 8.0 * mills_fall(middle) + 5.0 * (mills_fall(middle - apart) + mills_fall(middle + apart));
        density * mu * sum / 18.0
    } else if a > 0.0 {
        density * (mills(a) - mills(b)).max(0.0)
    } else {
        (normal_cdf(-a) - density * mills(b)).max(0.0)
    }
}

/// The smallest epsilon, at least 0, at which the delta of Gaussian noise is at most `delta`, in (0, 1). `mu` is the L2
/// sensitivity over the noise's standard deviation, above 0.
///
/// Source: Balle and Wang 2018, Theorem 8, inverted.
pub(crate) fn gaussian_epsilon(mu: f64, delta: f64) -> f64 {
    if gaussian_delta(mu, 0.0) <= delta {
        return 0.0;
    }
    // With a as in `gaussian_delta`, delta(epsilon) <= Phi(-a) <= exp(-a^2/2)/2. So delta is below the target at the
    // epsilon `enough`.
    let enough = mu * (0.5 * mu + (-2.0 * libm::log(delta)).sqrt());
    decreasing_root(0.0, enough, |epsilon| gaussian_delta(mu, epsilon) - delta)
}

/// Epsilon, at least 0, of one number with Laplace noise at `delta`, in [0, 1); `scale` is the noise's scale over the L1
/// sensitivity. The noise's delta at an epsilon x from 0 to 1 / scale is 1 - exp((x - 1 / scale) / 2); the result is the x
/// at which this is `delta`, or 0 if there is none.
pub(crate) fn laplace_epsilon(scale: f64, delta: f64) -> f64 {
    (1.0 / scale + 2.0 * libm::log1p(-delta)).max(0.0)
}

/// Epsilon, at least 0, of one Poisson-subsampled Gaussian at a `delta` in (0, 1). `rate` is in (0, 1], and `sigma` is
/// the noise's standard deviation over one unit's largest L2 norm. Epsilon is ln(1 + rate (e^x - 1)), where x is the
/// epsilon of the Gaussian without subsampling at delta / rate. This epsilon is exact for removing a unit, which at
/// epsilon >= 0 is the direction with the larger loss.
///
/// Source: Balle, Barthe and Gaboardi 2018, Theorem 8.
pub(crate) fn poisson_epsilon(rate: f64, sigma: f64, delta: f64) -> f64 {
    amplified(rate, 1.0 / sigma, delta)
}

/// An upper bound on epsilon, at least 0, of one Gaussian on a sample of fixed size, if one record is replaced. `rate` is
/// the sample's share of the population, in (0, 1]. `sigma` is the noise's standard deviation over one record's largest
/// L2 norm. The bound is the formula for Poisson samples with sensitivity 2 (Balle, Barthe and Gaboardi 2018, Theorem 9).
pub(crate) fn fixed_size_epsilon(rate: f64, sigma: f64, delta: f64) -> f64 {
    amplified(rate, 2.0 / sigma, delta)
}

fn amplified(rate: f64, mu: f64, delta: f64) -> f64 {
    if delta >= rate {
        return 0.0;
    }
    let whole = gaussian_epsilon(mu, delta / rate);
    if whole > 30.0 {
        whole + libm::log(rate) + libm::log1p((1.0 - rate) / rate * libm::exp(-whole))
    } else {
        libm::log1p(rate * libm::expm1(whole))
    }
}

/// Mills' ratio R(x) = (1 - Phi(x)) / phi(x), x >= -1.
fn mills(x: f64) -> f64 {
    if x < FAR { normal_cdf(-x) * TAU.sqrt() * libm::exp(0.5 * x * x) } else { (1.0 - mills_series(x)) / x }
}

/// The rate -R'(x) = 1 - x R(x) at which Mills' ratio falls, x >= -1.
fn mills_fall(x: f64) -> f64 {
    if x < FAR { 1.0 - x * mills(x) } else { mills_series(x) }
}

/// 1 - x R(x) for x >= [`FAR`], by the asymptotic series 1/x^2 - 3/x^4 + ..
fn mills_series(x: f64) -> f64 {
    let inverse = 1.0 / (x * x);
    let (mut sum, mut term) = (0.0, -1.0);
    for k in 0..12 {
        term *= -f64::from(2 * k + 1) * inverse;
        sum += term;
    }
    sum
}

/// The x, at least 0, that a standard normal variable exceeds with probability `tail` (limited to [1e-300, 0.5]).
pub(crate) fn normal_tail(tail: f64) -> f64 {
    -normal_quantile(tail.clamp(1e-300, 0.5))
}

/// The zero of a decreasing function between `low` and `high`, to floating-point precision. It is the upper end of the
/// last bracket of a bisection, where the computed value is not positive. If the function is positive everywhere, the
/// result is `high`; if it is positive nowhere, the result is approximately `low`.
pub(crate) fn decreasing_root(low: f64, high: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high - low <= 4e-16 * high.abs() {
            break;
        }
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilons_agree_with_published_and_quadrature_values() {
        // Cases 28, 30, 32 and 34 of tests/oracles/accounting.csv.
        for (mu, delta, epsilon) in [
            (1.0, 1e-5, 4.377_178_095_681_225),
            (0.5, 1e-5, 1.993_091_404_415_117),
            (10f64.sqrt(), 1e-5, 17.856_586_830_107_616),
            (2.0, 1e-5, 9.997_256_146_434_303),
        ] {
            let found = gaussian_epsilon(mu, delta);
            assert!((found / epsilon - 1.0).abs() < 1e-12, "mu {mu}: {found} for {epsilon}");
        }
        // Case 18; the file has the exact value of case 18 in the row of case 20.
        assert!((poisson_epsilon(0.1, 1.0, 1e-5) / 1.684_543_814_328_466_8 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn delta_does_not_increase_where_its_formula_changes() {
        for mu in [1e-3, 0.03, 1.0, 3.0, 30.0] {
            let mut last = 1.0;
            for step in -200..2000 {
                let delta = gaussian_delta(mu, mu * mu * f64::from(step) / 100.0);
                assert!(delta >= 0.0 && delta <= last, "mu {mu}, step {step}: {delta} after {last}");
                last = delta;
            }
        }
        assert!((mills(24.999_999) / mills(25.0) - 1.0).abs() < 1e-7);
        assert!((mills(25.0) - 0.039_936_304_769_535_59).abs() < 1e-15);
    }

    /// Exact values by mpmath with 60 digits. The difference of two Mills' ratios loses up to two thirds of the digits at
    /// these mu.
    #[test]
    fn much_noise_has_the_exact_epsilon() {
        for (mu, delta, epsilon) in [
            (1e-3, 1e-5, 0.001_938_724_969_860_11),
            (1e-3, 1e-12, 0.005_699_546_468_426_282),
            (1e-6, 1e-7, 9.023_465_934_661_59e-7),
            (1e-6, 1e-12, 4.424_892_759_089_482e-6),
            (1e-8, 1e-12, 3.363_015_330_289_192e-8),
            (1e-8, 1e-30, 9.508_066_845_552_646e-8),
            (0.0099, 1e-9, 0.048_358_314_904_312_84),
        ] {
            let found = gaussian_epsilon(mu, delta);
            assert!((found / epsilon - 1.0).abs() < 1e-12, "mu {mu}, delta {delta}: {found} for {epsilon}");
        }
        let near = |mu: f64, epsilon: f64| gaussian_delta(mu, epsilon);
        let (below, above) = (near(0.01 - 1e-12, 0.02), near(0.01, 0.02));
        assert!((below / above - 1.0).abs() < 2e-9, "{below} {above}");
    }

    /// Large epsilons are computed by another formula, in which no power of e overflows.
    #[test]
    fn amplification_is_the_same_by_both_formulas() {
        for rate in [0.5, 1e-6, 1e-13] {
            for mu in [0.5, 2.0, 5.0, 6.0, 7.0, 8.0, 12.0] {
                let whole = gaussian_epsilon(mu, 0.01);
                let expected = libm::log1p(rate * libm::expm1(whole));
                let found = amplified(rate, mu, 0.01 * rate);
                assert!((found - expected).abs() <= 1e-9 * expected, "{rate}, {mu}: {found} for {expected}");
            }
        }
    }
}
