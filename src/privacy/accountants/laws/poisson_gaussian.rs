//! The Poisson-subsampled Gaussian: (1 - q) N(0, z^2) + q N(1, z^2) against N(0, z^2), each way round.
//!
//! That pair dominates, in each direction, under adding or removing (or zeroing out) one unit
//! (Zhu, Dong and Wang 2022, Theorem 11).

use super::cells::{HalfCells, Support};
use super::subsampled::{Mixture, characteristic, cumulants};
use super::{Cumulants, Direction, Law, whole_orders};
use crate::privacy::accountants::complex::Complex;
use std::f64::consts::TAU;

/// Rate in (0, 1); a rate of 1 is the plain Gaussian and has its own law.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::privacy::accountants) struct PoissonGaussian {
    mixture: Mixture,
    direction: Direction,
}

impl PoissonGaussian {
    pub(in crate::privacy::accountants) fn new(rate: f64, sigma: f64, direction: Direction) -> Self {
        Self { mixture: Mixture { rate, sigma }, direction }
    }

    /// E_P exp(s L) = E exp(a L(x)) for x from N(0, sigma^2): with the unit, P = e^L Q; without it, the loss is -L.
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
    fn cumulants(&self, s: f64) -> Cumulants {
        if !self.is_exact(s) {
            return whole_orders::bound(self.mixture, s);
        }
        let mut points = Vec::new();
        let value = self.mixture.quadrature(self.power(s), 0.0, &mut points);
        let found = cumulants(value, &points);
        Cumulants { mean: self.sign() * found.mean, ..found }
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

    fn cells(&self, width: f64, tilt: f64) -> HalfCells {
        let mixture = self.mixture;
        let (q, sigma) = (mixture.rate, mixture.sigma);
        let normal = |x: f64| libm::exp(-0.5 * x * x / (sigma * sigma)) / (TAU.sqrt() * sigma);
        let reach = mixture.peaks(self.power(tilt)).into_iter().fold(1.0, |far: f64, x| far.max(x.abs()));
        match self.direction {
            Direction::Remove => {
                let support =
                    Support { low: -10.0 * sigma, high: reach + 10.0 * sigma, resolution: 0.25 * sigma };
                let mut cells = HalfCells::new(width, mixture.loss(support.low), mixture.loss(support.high));
                let density = |x: f64| (1.0 - q) * normal(x) + q * normal(x - 1.0);
                cells.add_mapped(support, density, |x| mixture.loss(x), |l| mixture.inverse(l));
                cells
            }
            Direction::Add => {
                let support =
                    Support { low: -10.0 * sigma, high: reach + 10.0 * sigma, resolution: 0.25 * sigma };
                let loss = |x: f64| -mixture.loss(-x);
                let mut cells = HalfCells::new(width, loss(support.low), loss(support.high));
                cells.add_mapped(support, normal, loss, |l| -mixture.inverse(-l));
                cells
            }
        }
    }
}
