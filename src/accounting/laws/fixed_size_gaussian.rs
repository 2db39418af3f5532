//! Gaussian noise on a sum over a sample of fixed size, drawn without replacement. Two neighbours differ in one record: in
//! the second data set, another record stands in its place.
//!
//! With rate g = size / population, the pair of the mechanism without sampling is P0 = N(1, sigma^2), Q0 = N(0, sigma^2),
//! where sigma is half the noise multiplier (replacing a record of norm C moves the sum by up to 2C). Let F(a) be the
//! hockey-stick divergence of the pair ((1 - g) Q0 + g P0, Q0) at a = e^epsilon. For a >= 1 the divergence of the
//! subsampled mechanism at a is at most F(a) (Balle, Barthe and Gaboardi 2018, Theorem 9).
//!
//! For a < 1 the bound is 1 - a + a F(1/a), for the following reason. The divergence of any pair (P, Q) at a is 1 - a plus a
//! times the divergence of (Q, P) at 1/a. Let P and Q be the output distributions of the subsampled mechanism on two
//! neighbours by replacement. These two can be exchanged, and 1/a is above 1, so the divergence of (Q, P) at 1/a is at most
//! F(1/a).
//!
//! The bound for a >= 1 and the bound for a < 1 together are a convex function of a. So there is a pair of distributions
//! whose divergence equals the bound at every a. From here on, P and Q are this pair. Under P, the loss of the pair has the
//! following law. The loss is L(x) with density (1 - g) Q0(x) + g P0(x), and -L(x) with density Q0(x), both for x > 1/2,
//! and 0 with the remaining probability. Here L(x) = ln(1 - g + g P0(x) / Q0(x)) is the loss of the mixture (see
//! `subsampled`).
//!
//! This law gives only an upper bound on the mechanism's loss: no mechanism is known that attains the bound at a and at 1/a
//! at once.

use super::cells::{Cells, Grid, Support};
use super::gauss_legendre::{SIXTEEN, visit};
use super::subsampled::{Mixture, Point, characteristic, cumulants};
use super::{Cumulants, Law, whole_orders};
use crate::accounting::complex::Complex;
use crate::accounting::single::normal_tail;
use crate::special::normal_cdf;
use std::f64::consts::TAU;

/// Largest number of points of a quadrature of E exp(s L) at a real s, where L is the loss; noise multipliers down to 1 need
/// fewer points at every Renyi order.
const MAX_POINTS: f64 = (1u32 << 17) as f64;

/// The law of the privacy loss of the pair that the module describes, for a rate in (0, 1).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct FixedSizeGaussian {
    mixture: Mixture,
}

impl FixedSizeGaussian {
    pub(in crate::accounting) fn new(rate: f64, noise_multiplier: f64) -> Self {
        Self { mixture: Mixture::new(rate, 0.5 * noise_multiplier) }
    }

    /// P's mass where the loss is 0.
    fn atom(&self) -> f64 {
        let Mixture { rate, sigma, .. } = self.mixture;
        let (near, far) = (normal_cdf(0.5 / sigma), normal_cdf(-0.5 / sigma));
        // `near` and `far` are the masses of P0 and of Q0 above 1/2, and near + far = 1. The remaining probability is
        // 1 - [(1 - g) far + g near] - far.
        (1.0 - rate) * (near - far)
    }

    /// The upper end of the quadrature's interval (the lower end is 1/2), and the number of panels into which the
    /// interval is divided.
    fn panels(&self, s: f64, y_max: f64) -> (f64, f64) {
        let Mixture { sigma, .. } = self.mixture;
        let variance = sigma * sigma;
        let far = self.mixture.peaks(s + 1.0).into_iter().fold(1.0, f64::max) + 9.5 * sigma;
        let panel = (0.75 * sigma).min(1.5 * variance).min(10.0 * variance / y_max.max(1e-300));
        (far, ((far - 0.5) / panel).ceil())
    }

    /// Returns ln E exp(s L), and the law tilted by exp(s L). The points of the tilted law are losses with weights that
    /// sum to 1. They are dense enough for the characteristic function of the tilted law at arguments up to `y_max`.
    fn quadrature(&self, s: f64, y_max: f64) -> (f64, Vec<Point>) {
        let Mixture { sigma, .. } = self.mixture;
        let variance = sigma * sigma;
        let (far, panels) = self.panels(s, y_max);
        let width = (far - 0.5) / panels;
        let mut points = vec![Point { weight: libm::log(self.atom()), loss: 0.0 }];
        let constant = libm::log(sigma * TAU.sqrt());
        for k in 0..panels as u64 {
            let low = 0.5 + k as f64 * width;
            visit(&SIXTEEN, low, low + width, |x, weight| {
                let loss = self.mixture.loss(x);
                let base = libm::log(weight) - 0.5 * x * x / variance - constant;
                points.push(Point { weight: base + (s + 1.0) * loss, loss });
                points.push(Point { weight: base - s * loss, loss: -loss });
            });
        }
        let largest = points.iter().map(|p| p.weight).fold(f64::NEG_INFINITY, f64::max);
        points.retain(|p| p.weight > largest - 45.0);
        let mut sum = 0.0;
        for point in &mut points {
            point.weight = libm::exp(point.weight - largest);
            sum += point.weight;
        }
        points.iter_mut().for_each(|point| point.weight /= sum);
        (largest + libm::log(sum), points)
    }
}

impl Law for FixedSizeGaussian {
    fn duplicate(&self) -> Box<dyn Law> {
        Box::new(*self)
    }

    fn cumulants(&self, s: f64) -> Cumulants {
        if !self.is_exact(s) {
            // `bound` is for the mixture at all x. At x > 1/2 the mixture and this law have the same losses with the same
            // densities. At x < 1/2 the mixture's losses are between ln(1 - g) and 0, so exp(s L) is at least (1 - g)^s.
            // In this law the same mass, which is at most 1, has other losses of at most 0, for which exp(s L) is at
            // most 1. So E exp(s L) of this law is larger than that of the mixture by at most 1 - (1 - g)^s.
            let Cumulants { value, mean, variance } = whole_orders::bound(self.mixture, s);
            let missing = libm::log(-libm::expm1(s * libm::log1p(-self.mixture.rate)));
            return Cumulants { value: whole_orders::log_of_sum(value, missing), mean, variance };
        }
        let (value, points) = self.quadrature(s, 0.0);
        cumulants(value, &points)
    }

    fn is_exact(&self, s: f64) -> bool {
        self.terms(s, 0.0) <= MAX_POINTS
    }

    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]) {
        let (_, points) = self.quadrature(s, (from + out.len()) as f64 * step);
        characteristic(&points, step, from, count, out);
    }

    fn terms(&self, s: f64, y_max: f64) -> f64 {
        32.0 * self.panels(s, y_max).1
    }

    fn ceiling(&self, _s: f64, _y: f64) -> Option<f64> {
        None
    }

    fn span(&self, tail: f64) -> (f64, f64) {
        let Mixture { rate, sigma, .. } = self.mixture;
        let near = sigma * normal_tail((0.5 * tail).min(0.5));
        let far = 1.0 + sigma * normal_tail((0.5 * tail / rate).min(0.5));
        let low = (sigma * normal_tail(tail)).max(0.5);
        (-self.mixture.loss(low), self.mixture.loss(near.max(far)))
    }

    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells {
        let mixture = self.mixture;
        let Mixture { rate, sigma, .. } = mixture;
        let normal = |x: f64| libm::exp(-0.5 * x * x / (sigma * sigma)) / (TAU.sqrt() * sigma);
        let mut cells = Cells::new(grid, low.min(0.0), high.max(0.0));
        cells.add_atom(0.0, self.atom());
        let farthest = 1.0 + 40.0 * sigma;
        let (far, deep) = (
            mixture.inverse(high.max(0.0)).clamp(0.5, farthest),
            mixture.inverse(-low.min(0.0)).clamp(0.5, farthest),
        );
        cells.beyond = (1.0 - rate) * normal_cdf(-far / sigma) + rate * normal_cdf((1.0 - far) / sigma);
        cells.swept = normal_cdf(-deep / sigma);
        cells.add_mapped(
            Support { low: (1.0 - 16.0 * sigma).max(0.5).min(far), high: far, resolution: 0.25 * sigma },
            |x| (1.0 - rate) * normal(x) + rate * normal(x - 1.0),
            |x| mixture.loss(x),
            |l| mixture.inverse(l),
        );
        cells.add_mapped(
            Support { low: (-deep).max(-40.0 * sigma).min(-0.5), high: -0.5, resolution: 0.25 * sigma },
            normal,
            |x| -mixture.loss(-x),
            |l| -mixture.inverse(-l),
        );
        cells
    }
}
