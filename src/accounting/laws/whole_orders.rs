//! A bound on K, the cumulant generating function of the privacy loss, for subsampled Gaussians with so little noise, or at
//! orders so high, that a quadrature would have too many points.
//!
//! K(s) is the logarithm of the mean of ((1 - q) + q e^t)^a over x from N(0, sigma^2), where q is the sampling rate, sigma
//! the noise multiplier, a = s + 1 the order and t = (2x - 1) / (2 sigma^2) the loss of the Gaussian without subsampling.
//! At a whole order a the mean is a finite sum, the sum over k from 0 to a of
//! C(a, k) (1 - q)^(a - k) q^k exp(k (k - 1) / (2 sigma^2)). K is convex, so between whole orders it lies below the
//! chord. The sum gives K for removing a unit; K for adding a unit is no larger.
//!
//! Source: Mironov, Talwar and Zhang 2019, "Renyi differential privacy of the sampled Gaussian mechanism", Section 3.3
//! (the sum) and Theorem 5 (the direction).

use super::Cumulants;
use super::subsampled::Mixture;

/// Largest s for which the sum is computed; for larger s the bound follows from joint convexity.
const MOST: f64 = 4096.0;

/// An upper bound on K(s). The fields `mean` and `variance` are approximate first and second derivatives of the bound;
/// they only guide searches.
pub(super) fn bound(mixture: Mixture, s: f64) -> Cumulants {
    let variance = 1.0 / (mixture.sigma * mixture.sigma);
    if s > MOST {
        // Let L be the privacy loss. By joint convexity, E e^{sL} is at most (1 - q) times its value if the unit is never
        // sampled, which is 1, plus q times its value for the Gaussian without subsampling, e^(s (s + 1) / (2 sigma^2)).
        let whole = 0.5 * variance * s * (s + 1.0);
        let value = log_of_sum(libm::log1p(-mixture.rate), libm::log(mixture.rate) + whole);
        return Cumulants { value: above_rounding_error(value), mean: variance * (s + 0.5), variance };
    }
    let low = s.floor();
    let (below, above) = (at_whole(mixture, low + 1.0), at_whole(mixture, low + 2.0));
    let slope = above - below;
    Cumulants { value: above_rounding_error(below + (s - low) * slope), mean: slope, variance }
}

/// The logarithm of the sum in the module's documentation, at a whole order `a` of at least 1.
fn at_whole(mixture: Mixture, a: f64) -> f64 {
    let (take, leave) = (libm::log(mixture.rate), libm::log1p(-mixture.rate));
    let variance = mixture.sigma * mixture.sigma;
    let (mut sum, mut choose) = (f64::NEG_INFINITY, 0.0);
    for k in 0..=a as u64 {
        let k = k as f64;
        sum = log_of_sum(sum, choose + (a - k) * leave + k * take + 0.5 * k * (k - 1.0) / variance);
        choose += libm::log((a - k).max(1.0) / (k + 1.0));
    }
    sum
}

/// ln(e^a + e^b).
pub(super) fn log_of_sum(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if small == f64::NEG_INFINITY { large } else { large + libm::log1p(libm::exp(small - large)) }
}

/// The value plus a margin that is larger than the rounding error of a sum of roughly [`MOST`] terms.
fn above_rounding_error(value: f64) -> f64 {
    value + 1e-11 * (1.0 + value.abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::laws::{Direction, Law, PoissonGaussian};

    #[test]
    fn the_bound_is_the_quadrature_at_whole_orders_and_lies_above_it_between() {
        for (rate, sigma) in [(0.01, 1.0), (0.3, 0.5), (1e-6, 0.3)] {
            let mixture = Mixture::new(rate, sigma);
            for s in [1.0, 1.3, 2.0, 7.5, 32.0] {
                let exact =
                    Direction::BOTH.map(|way| PoissonGaussian::new(rate, sigma, way).cumulants(s).value);
                let bound = bound(mixture, s).value;
                assert!(bound >= exact[0].max(exact[1]), "{rate}, {sigma}, {s}: {bound} below {exact:?}");
                if s.fract() == 0.0 {
                    let near = 1e-9 * (1.0 + exact[0]);
                    assert!((bound - exact[0]).abs() < near, "{rate}, {sigma}, {s}: {bound} for {exact:?}");
                }
            }
            assert!(bound(mixture, 4097.0).value > bound(mixture, 4096.0).value);
        }
    }
}
