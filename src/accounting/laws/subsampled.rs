//! The common part of the laws of Gaussians on Poisson samples and on samples of fixed size: the loss of a mixture, and
//! integrals of functions of this loss.
//!
//! With Q = N(0, sigma^2) and P = (1 - q) Q + q N(1, sigma^2), the loss at x is
//! L(x) = ln(1 - q + q e^t), t = (2x - 1) / (2 sigma^2), increasing in x.

use super::Cumulants;
use crate::accounting::complex::Complex;
use crate::accounting::single::normal_tail;
use crate::special::normal_cdf;
use std::f64::consts::PI;

/// The mixture (1 - q) N(0, sigma^2) + q N(1, sigma^2), rate q in (0, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Mixture {
    pub(super) rate: f64,
    pub(super) sigma: f64,
    /// The smooth cut-off of the density, if the density is cut off.
    pub(super) taper: Option<Taper>,
}

/// A smooth cut-off: the density is multiplied by Phi((centre - x) / width), and by 0 for x above [`Taper::end`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Taper {
    centre: f64,
    width: f64,
}

impl Taper {
    /// The x above which the density is 0.
    fn end(&self) -> f64 {
        self.centre + 9.2 * self.width
    }

    fn log(&self, x: f64) -> f64 {
        let u = (x - self.centre) / self.width;
        if u < -9.0 { 0.0 } else { libm::log(normal_cdf(-u)) }
    }
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

/// A point of a quadrature: a loss and its weight. The weights of all points sum to 1; until they are normalised, `weight`
/// is a logarithm.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) weight: f64,
    pub(super) loss: f64,
}

/// If the logarithm of a term is below the logarithm of the largest term by this number, the term adds nothing to a sum of
/// doubles.
const NEGLIGIBLE: f64 = 42.0;
/// Largest number of points of a quadrature for real exponents; noise multipliers down to 0.1 need fewer points at every
/// Renyi order.
const MAX_POINTS: f64 = (1u32 << 15) as f64;

impl Mixture {
    pub(super) const fn new(rate: f64, sigma: f64) -> Self {
        Self { rate, sigma, taper: None }
    }

    /// The mixture with a smooth cut-off that removes a mass of approximately `tail`, and an upper bound on the removed
    /// mass.
    pub(super) fn tapered(self, tail: f64) -> (Self, f64) {
        let Self { rate, sigma, .. } = self;
        let width = 0.25 * (0.3 * sigma * sigma).min(4.0 * sigma);
        let spread = (sigma * sigma + width * width).sqrt();
        let near = spread * normal_tail(0.5 * tail);
        let far = 1.0 + spread * normal_tail((0.5 * tail / rate).min(0.5));
        let centre = near.max(far);
        // The mass that the factor Phi((centre - x) / width) removes: the exact E Phi((X - centre) / width) for X from the
        // mixture.
        let lost = (1.0 - rate) * normal_cdf(-centre / spread) + rate * normal_cdf((1.0 - centre) / spread);
        // Above the end, where the taper is below 2e-20, the density is set to 0. The factor on `lost` covers the mass that
        // this removes.
        (Self { taper: Some(Taper { centre, width }), ..self }, lost * (1.0 + 1e-12))
    }

    pub(super) fn loss(&self, x: f64) -> f64 {
        loss(self.rate, self.sigma, x)
    }

    /// The x at which the loss is `l`; minus infinity for an `l` of at most ln(1 - q), which every loss exceeds.
    pub(super) fn inverse(&self, l: f64) -> f64 {
        let ratio = libm::expm1(l) / self.rate;
        if ratio <= -1.0 {
            return f64::NEG_INFINITY;
        }
        let t = if l > 30.0 { l - libm::log(self.rate) } else { libm::log1p(ratio) };
        0.5 + self.sigma * self.sigma * t
    }

    /// ln of exp(a L(x)) times the density of N(0, sigma^2) at x, without the density's constant factor. `loss` is L(x).
    fn exponent(&self, a: f64, x: f64, loss: f64) -> f64 {
        a * loss - 0.5 * x * x / (self.sigma * self.sigma)
    }

    /// The two outermost local maxima of [`Self::exponent`], approximately. The exponent is stationary where x = a s(x),
    /// with s(x) the posterior probability of the unit's presence, which increases with x. For a > 0 the iteration
    /// x = a s(x) increases from 0 and decreases from a, so it converges to the outermost maxima. For a < 0 the exponent
    /// is concave, so it has one maximum; the results of the iterations from 0 and from a enclose it.
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

    /// A step of the trapezoid rule for the integral of exp((a + i y) L) against N(0, sigma^2), for |y| <= `y_max`. The
    /// relative error of the rule is then at most approximately e^-42.
    ///
    /// The integrand is analytic up to the logarithm's branch point at imaginary part pi sigma^2. For a strip of
    /// half-width w around the real axis, the error is at most approximately exp(-2 pi w / step) times the factor by which
    /// the integrand's modulus grows within the strip. This factor is the product of three factors, one for each factor of
    /// the integrand. The modulus of the normal density grows by at most a factor of e^{w^2 / (2 sigma^2)}. The imaginary
    /// part of L is at most `share` w / sigma^2, so |e^{i y L}| grows by at most a factor of e^{|y| share w / sigma^2}.
    /// |e^{a L}| grows only for a < 0, by a factor that is taken as the smaller of e^{|a| / 2} and e^{2 share |a|}. Here
    /// `share` bounds the weight of N(1, sigma^2) in the mixture at every x where the integrand is not negligible.
    fn step(&self, a: f64, y_max: f64) -> f64 {
        let variance = self.sigma * self.sigma;
        let reach = self.peaks(a).into_iter().fold(0.0, f64::max) + (2.0 * NEGLIGIBLE).sqrt() * self.sigma;
        let reach = self.taper.map_or(reach, |taper| taper.end());
        let odds = self.rate / (1.0 - self.rate) * libm::exp(((reach - 0.5) / variance).min(700.0));
        // If the posterior odds of the unit's presence are at most 1/2, the modulus of the mixture is at least half the
        // modulus of its part without the unit, whatever the phase of the part with the unit. So L changes by at most
        // 2 odds for each radian of that phase.
        let share = if odds <= 0.5 { 2.0 * odds } else { 1.0 };
        let growth = if a < 0.0 { -a * (2.0 * share).min(0.5) } else { 0.0 };
        // In the strip, the modulus of a taper grows by at most a factor of e^{(w / width)^2 / 2}.
        let (w, softness) = match self.taper {
            Some(taper) => (4.0 * taper.width, 8.0),
            None => ((2.0 * variance).min(8.0 * self.sigma), 0.0),
        };
        let margin = NEGLIGIBLE + growth + softness;
        2.0 * PI / (y_max * share / variance + margin / w + 0.5 * w / variance)
    }

    /// Approximately how many points the quadrature takes.
    pub(super) fn terms(&self, a: f64, y_max: f64) -> f64 {
        if let Some(taper) = self.taper {
            return (taper.end() + (2.0 * NEGLIGIBLE).sqrt() * self.sigma) / self.step(a, y_max);
        }
        let [one, other] = self.peaks(a);
        ((one - other).abs() + 2.0 * (2.0 * NEGLIGIBLE).sqrt() * self.sigma) / self.step(a, y_max)
    }

    /// Whether a quadrature for a real exponent has at most [`MAX_POINTS`] points. Without a taper, the points of two
    /// separate peaks are counted. More points are never needed, because no points lie between distant peaks.
    pub(super) fn is_within_reach(&self, a: f64) -> bool {
        if self.taper.is_some() {
            return self.terms(a, 0.0) <= MAX_POINTS;
        }
        let points = 4.0 * (2.0 * NEGLIGIBLE).sqrt() * self.sigma / self.step(a, 0.0);
        points <= MAX_POINTS
    }

    /// Returns ln of the integral of exp(a L) against N(0, sigma^2), and writes the tilted law to `points`, as losses
    /// with weights. The points are dense enough for the characteristic function of the tilted law at arguments up to
    /// `y_max`.
    pub(super) fn quadrature(&self, a: f64, y_max: f64, points: &mut Vec<Point>) -> f64 {
        points.clear();
        let step = self.step(a, y_max);
        if let Some(taper) = self.taper {
            // Tapered mixtures are integrated with exponents a above 0 only, so no peak lies below 0.
            let (from, to) = (-(2.0 * NEGLIGIBLE).sqrt() * self.sigma, taper.end());
            points.extend(((from / step).ceil() as i64..=(to / step).floor() as i64).map(|k| {
                let x = k as f64 * step;
                let loss = self.loss(x);
                Point { weight: self.exponent(a, x, loss) + taper.log(x), loss }
            }));
            return self.normalise(step, points);
        }
        let [one, other] = self.peaks(a).map(|x| (x / step).round() as i64);
        let (low, high) = (one.min(other), one.max(other));
        let exponent_at = |k: i64| {
            let x = k as f64 * step;
            let loss = self.loss(x);
            Point { weight: self.exponent(a, x, loss), loss }
        };
        let threshold = exponent_at(low).weight.max(exponent_at(high).weight) - NEGLIGIBLE;
        // Adds points from k on, in steps of `by`, until a term is negligible or k is `end`; returns this k, which has
        // not been added.
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
        self.normalise(step, points)
    }

    /// Turns exponents into weights, and returns the ln of the integral.
    fn normalise(&self, step: f64, points: &mut Vec<Point>) -> f64 {
        let largest = points.iter().map(|p| p.weight).fold(f64::NEG_INFINITY, f64::max);
        points.retain(|point| point.weight > largest - NEGLIGIBLE);
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

/// The cumulants: the given value of the cumulant generating function K, and the mean and variance of
/// weighted losses.
pub(super) fn cumulants(value: f64, points: &[Point]) -> Cumulants {
    let mean: f64 = points.iter().map(|p| p.weight * p.loss).sum();
    let variance = points.iter().map(|p| p.weight * (p.loss - mean) * (p.loss - mean)).sum();
    Cumulants { value, mean, variance }
}

/// Number of points that [`characteristic`] processes together.
const SIDE_BY_SIDE: usize = 4;

/// Multiplies `out[j]` by the power `count` of the characteristic function of the weighted losses at (from + j) step.
pub(super) fn characteristic(points: &[Point], step: f64, from: usize, count: u64, out: &mut [Complex]) {
    let mut values = vec![Complex::ZERO; out.len()];
    // The processor can compute the rotations of several points in parallel, because they do not depend on each other.
    // Sums are formed in the order of the points.
    for points in points.chunks(SIDE_BY_SIDE) {
        let mut turns = [Complex::ONE; SIDE_BY_SIDE];
        let mut terms = [Complex::ZERO; SIDE_BY_SIDE];
        for ((turn, term), point) in turns.iter_mut().zip(&mut terms).zip(points) {
            *turn = Complex::turn(step * point.loss);
            *term = Complex::turn(from as f64 * step * point.loss).scale(point.weight);
        }
        for value in &mut values {
            // The loop uses indices, because `zip` would be a function call in a build without link-time optimisation.
            for side in 0..SIDE_BY_SIDE {
                *value = *value + terms[side];
                terms[side] *= turns[side];
            }
        }
    }
    out.iter_mut().zip(values).for_each(|(out, value)| *out *= value.power(count));
}
