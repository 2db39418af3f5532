//! The Poisson-subsampled Gaussian with rate q and noise multiplier z: the pair (1 - q) N(0, z^2) + q N(1, z^2) and
//! N(0, z^2), in both orders.
//!
//! The pair with the mixture first dominates for removing a unit, the pair with the mixture second for adding one (Zhu,
//! Dong and Wang 2022, Theorem 11). The same two pairs dominate if the contribution of a unit is set to zero instead.

use super::cells::{Cells, Grid, Support};
use super::subsampled::{Mixture, characteristic, cumulants};
use super::{Cumulants, Direction, Law, whole_orders};
use crate::accounting::complex::Complex;
use crate::accounting::single::normal_tail;
use crate::special::normal_cdf;
use std::f64::consts::TAU;

/// The law of a Poisson-subsampled Gaussian for a rate in (0, 1); for a rate of 1, accountants use the law of the
/// Gaussian instead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct PoissonGaussian {
    mixture: Mixture,
    direction: Direction,
}

impl PoissonGaussian {
    pub(in crate::accounting) fn new(rate: f64, sigma: f64, direction: Direction) -> Self {
        Self { mixture: Mixture::new(rate, sigma), direction }
    }

    /// The exponent a with E_P exp(s loss) = E exp(a L(x)) for x from N(0, sigma^2), where L is the loss of the mixture. If
    /// P is the mixture, P = e^L Q and a = s + 1; if Q is the mixture, the loss is -L and a = -s.
    fn power(&self, s: f64) -> f64 {
        match self.direction {
            Direction::Remove => s + 1.0,
            Direction::Add => -s,
        }
    }

    fn sign(&self) -> f64 {
        match self.direction {
            Direction::Remove => 1.0,
            Direction::Add => -1.0,
        }
    }
}

impl Law for PoissonGaussian {
    fn duplicate(&self) -> Box<dyn Law> {
        Box::new(*self)
    }

    fn cumulants(&self, s: f64) -> Cumulants {
        if !self.is_exact(s) {
            return whole_orders::bound(self.mixture, s);
        }
        let mut points = Vec::new();
        let value = self.mixture.quadrature(self.power(s), 0.0, &mut points);
        let found = cumulants(value, &points);
        Cumulants { mean: self.sign() * found.mean, ..found }
    }

    fn tapered(&self, tail: f64) -> Option<(Box<dyn Law>, f64)> {
        match self.direction {
            Direction::Remove => {
                let (mixture, lost) = self.mixture.tapered(tail);
                Some((Box::new(Self { mixture, ..*self }), lost))
            }
            // No cut-off is needed, because losses are at most -ln(1 - q).
            Direction::Add => None,
        }
    }

    fn is_exact(&self, s: f64) -> bool {
        self.mixture.is_within_reach(self.power(s))
    }

    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]) {
        let mut points = Vec::new();
        self.mixture.quadrature(self.power(s), (from + out.len()) as f64 * step, &mut points);
        points.iter_mut().for_each(|point| point.loss *= self.sign());
        characteristic(&points, step, from, count, out);
    }

    fn terms(&self, s: f64, y_max: f64) -> f64 {
        self.mixture.terms(self.power(s), y_max)
    }

    fn ceiling(&self, _s: f64, _y: f64) -> Option<f64> {
        None
    }

    /// ln(1 - q) for removing a unit and -ln(1 - q) for adding one: if the noise is small and the unit is not sampled, the
    /// loss is nearly always close to this value.
    fn anchor(&self) -> f64 {
        self.sign() * libm::log1p(-self.mixture.rate)
    }

    fn bulk(&self) -> Option<(f64, f64)> {
        let Mixture { sigma, .. } = self.mixture;
        let width = self.mixture.loss(sigma) - self.mixture.loss(-sigma);
        Some((self.sign() * self.mixture.loss(0.0), width / 32.0))
    }

    fn span(&self, tail: f64) -> (f64, f64) {
        let mixture = self.mixture;
        let sigma = mixture.sigma;
        match self.direction {
            Direction::Remove => {
                // The mass above x is at most Phi(-x / sigma) + q Phi(-(x - 1) / sigma).
                let near = sigma * normal_tail(0.5 * tail);
                let far = 1.0 + sigma * normal_tail((0.5 * tail / mixture.rate).min(0.5));
                (mixture.loss(-sigma * normal_tail(tail)), mixture.loss(near.max(far)))
            }
            Direction::Add => {
                let by = sigma * normal_tail(tail);
                (-mixture.loss(by), -mixture.loss(-by))
            }
        }
    }

    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells {
        let mixture = self.mixture;
        let (q, sigma) = (mixture.rate, mixture.sigma);
        let normal = |x: f64| libm::exp(-0.5 * x * x / (sigma * sigma)) / (TAU.sqrt() * sigma);
        // The mass outside of these two limits is below 1e-57, which is negligible compared with any delta that lattices
        // are used for.
        let (nearest, farthest) = (-16.0 * sigma, 1.0 + 40.0 * sigma);
        // Near its smallest value, ln(1 - q), the loss hardly depends on x, so x cannot be computed from the loss.
        let edge = mixture.loss(-10.0 * sigma) * (1.0 - 1e-9);
        let place = |loss: f64| {
            if loss <= edge { nearest } else { mixture.inverse(loss).clamp(nearest, farthest) }
        };
        match self.direction {
            Direction::Remove => {
                let support = Support { low: place(low), high: place(high), resolution: 0.25 * sigma };
                let mut cells = Cells::new(grid, low.min(mixture.loss(support.low)), high);
                let (low, high) = (support.low, support.high);
                cells.swept = (1.0 - q) * normal_cdf(low / sigma) + q * normal_cdf((low - 1.0) / sigma);
                cells.beyond = (1.0 - q) * normal_cdf(-high / sigma) + q * normal_cdf((1.0 - high) / sigma);
                let density = |x: f64| (1.0 - q) * normal(x) + q * normal(x - 1.0);
                // If the noise is small, the mass between the two normal distributions is negligible.
                let (near, far) = (16.0 * sigma, 1.0 - 16.0 * sigma);
                let apart = near < far && support.low < near && support.high > far;
                let parts = if apart {
                    [Support { high: near, ..support }, Support { low: far, ..support }]
                } else {
                    [support, Support { low: support.high, ..support }]
                };
                for part in parts {
                    cells.add_mapped(part, density, |x| mixture.loss(x), |l| mixture.inverse(l));
                }
                cells
            }
            Direction::Add => {
                let (low_x, high_x) = (-place(-low), -place(-high));
                let low_x = low_x.max(-40.0 * sigma).min(high_x);
                let support = Support { low: low_x, high: high_x, resolution: 0.25 * sigma };
                let mut cells = Cells::new(grid, low, high.max(-mixture.loss(-support.high)));
                cells.swept = normal_cdf(support.low / sigma);
                cells.beyond = normal_cdf(-support.high / sigma);
                let loss = |x: f64| -mixture.loss(-x);
                cells.add_mapped(support, normal, loss, |l| -mixture.inverse(-l));
                cells
            }
        }
    }
}
