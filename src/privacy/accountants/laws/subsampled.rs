//! What the two subsampled Gaussians share: the loss of a mixture, and integrals against it.
//!
//! With Q = N(0, sigma^2) and P = (1 - q) Q + q N(1, sigma^2), the loss at x is
//! L(x) = ln(1 - q + q e^t), t = (2x - 1) / (2 sigma^2), increasing in x.

use super::Cumulants;
use crate::privacy::accountants::complex::Complex;
use std::f64::consts::PI;

/// A mixture with rate q in (0, 1) and noise sigma, at distance 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mixture {
    pub(super) rate: f64,
    pub(super) sigma: f64,
}

/// L(x) of the mixture.
fn loss(rate: f64, sigma: f64, x: f64) -> f64 {
    let t = (x - 0.5) / (sigma * sigma);
    if t > 30.0 {
        t + libm::log(rate) + libm::log1p((1.0 - rate) / rate * libm::exp(-t))
    } else {
        libm::log1p(rate * libm::expm1(t))
    }
}

/// A point of a quadrature: weight (they sum to 1) and loss.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) weight: f64,
    pub(super) loss: f64,
}

/// Terms this far below the largest logarithm add nothing to a sum of doubles.
const NEGLIGIBLE: f64 = 42.0;
/// Most points of a quadrature on the real line: noise multipliers down to 0.1 need fewer at every Renyi order.
const MOST_POINTS: f64 = (1u32 << 15) as f64;

impl Mixture {
    pub(super) fn loss(&self, x: f64) -> f64 {
        loss(self.rate, self.sigma, x)
    }

    /// The x at which the loss is `l`; minus infinity below the smallest loss, ln(1 - q).
    pub(super) fn inverse(&self, l: f64) -> f64 {
        let ratio = libm::expm1(l) / self.rate;
        if ratio <= -1.0 {
            return f64::NEG_INFINITY;
        }
        let t = if l > 30.0 { l - libm::log(self.rate) } else { libm::log1p(ratio) };
        0.5 + self.sigma * self.sigma * t
    }

    /// ln of exp(a L(x)) times the density of N(0, sigma^2), without its constant.
    fn exponent(&self, a: f64, x: f64, loss: f64) -> f64 {
        a * loss - 0.5 * x * x / (self.sigma * self.sigma)
    }

    /// Local maxima of that exponent: it is stationary where x = a s(x), s the posterior probability of the unit's
    /// presence, which rises with x, so iterating from both ends of [min(0, a), max(0, a)] finds the outermost ones.
    pub(super) fn peaks(&self, a: f64) -> [f64; 2] {
        let (rate, sigma) = (self.rate, self.sigma);
        let presence = |x: f64| 1.0 / (1.0 + (1.0 - rate) / rate * libm::exp(-(x - 0.5) / (sigma * sigma)));
        [0.0, a].map(|start| {
            let mut x = start;
            for _ in 0..60 {
                let next = a * presence(x);
                if (next - x).abs() <= 1e-3 * sigma {
                    break;
                }
                x = next;
            }
            x
        })
    }

    /// Step at which the trapezoid rule for the integral of exp((a + i y) L) against N(0, sigma^2), |y| <= `y_max`, errs
    /// by less than about e^-42 relatively: the integrand is analytic up to the logarithm's branch point at imaginary
    /// part pi sigma^2, and inside a strip of half-width w the error falls as exp(-2 pi w / step).
    fn step(&self, a: f64, y_max: f64) -> f64 {
        let (variance, margin) = (self.sigma * self.sigma, NEGLIGIBLE + 0.5 * a.abs());
        let w = (2.0 * variance).min(8.0 * self.sigma);
        2.0 * PI / (y_max / variance + margin / w + 0.5 * w / variance)
    }

    /// About how many points the quadrature takes.
    pub(super) fn terms(&self, a: f64, y_max: f64) -> f64 {
        let [one, other] = self.peaks(a);
        ((one - other).abs() + 2.0 * (2.0 * NEGLIGIBLE).sqrt() * self.sigma) / self.step(a, y_max)
    }

    /// Whether a quadrature on the real line is short enough. Between two distant peaks it takes no points.
    pub(super) fn is_within_reach(&self, a: f64) -> bool {
        let points = 4.0 * (2.0 * NEGLIGIBLE).sqrt() * self.sigma / self.step(a, 0.0);
        points <= MOST_POINTS
    }

    /// ln of the integral of exp(a L) against N(0, sigma^2), and the tilted law as weighted losses, fine enough for
    /// characteristic functions up to `y_max`.
    pub(super) fn quadrature(&self, a: f64, y_max: f64, points: &mut Vec<Point>) -> f64 {
        points.clear();
        let step = self.step(a, y_max);
        let [one, other] = self.peaks(a).map(|x| (x / step).round() as i64);
        let (low, high) = (one.min(other), one.max(other));
        let exponent_at = |k: i64| {
            let x = k as f64 * step;
            let loss = self.loss(x);
            Point { weight: self.exponent(a, x, loss), loss }
        };
        let threshold = exponent_at(low).weight.max(exponent_at(high).weight) - NEGLIGIBLE;
        // Walks until a term is negligible or the end is reached; says where it stopped.
        let mut walk = |mut k: i64, by: i64, end: i64| {
            while k != end {
                let point = exponent_at(k);
                if point.weight <= threshold {
                    break;
                }
                points.push(point);
                k += by;
            }
            k
        };
        walk(low, -1, i64::MIN);
        let reached = walk(low + 1, 1, high + 1);
        walk(high + 1, 1, i64::MAX);
        if reached <= high {
            walk(high, -1, reached);
        }
        let largest = points.iter().map(|p| p.weight).fold(f64::NEG_INFINITY, f64::max);
        let mut sum = 0.0;
        for point in points.iter_mut() {
            point.weight = libm::exp(point.weight - largest);
            sum += point.weight;
        }
        let scale = 1.0 / sum;
        points.iter_mut().for_each(|point| point.weight *= scale);
        largest + libm::log(sum * step / (self.sigma * (2.0 * PI).sqrt()))
    }
}

/// Mean and variance of weighted losses, and K.
pub(super) fn cumulants(value: f64, points: &[Point]) -> Cumulants {
    let mean: f64 = points.iter().map(|p| p.weight * p.loss).sum();
    let variance = points.iter().map(|p| p.weight * (p.loss - mean) * (p.loss - mean)).sum();
    Cumulants { value, mean, variance }
}

/// Multiplies `out[j]` by the characteristic function of weighted losses at (from + j) step, to the power `count`.
pub(super) fn characteristic(points: &[Point], step: f64, from: usize, count: u64, out: &mut [Complex]) {
    let mut values = vec![Complex::ZERO; out.len()];
    for point in points {
        let turn = Complex::turn(step * point.loss);
        let mut term = Complex::turn(from as f64 * step * point.loss).scale(point.weight);
        for value in &mut values {
            *value = *value + term;
            term *= turn;
        }
    }
    out.iter_mut().zip(values).for_each(|(out, value)| *out *= value.power(count));
}
