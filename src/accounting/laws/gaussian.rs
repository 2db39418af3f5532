//! Gaussian noise: the loss is normal with variance mu^2 and mean mu^2 / 2, where mu is the inverse
//! of the noise multiplier. Several Gaussian releases are one law, whose mu^2 is the sum of the
//! mu^2 of the releases.

use super::cells::{Cells, Grid, Support};
use super::{Cumulants, Law};
use crate::accounting::complex::Complex;
use crate::accounting::single::normal_tail;
use crate::special::normal_cdf;
use std::f64::consts::TAU;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct Gaussian {
    pub(in crate::accounting) mu: f64,
}

impl Law for Gaussian {
    fn duplicate(&self) -> Box<dyn Law> {
        Box::new(*self)
    }

    fn cumulants(&self, s: f64) -> Cumulants {
        let variance = self.mu * self.mu;
        Cumulants { value: 0.5 * variance * s * (s + 1.0), mean: variance * (s + 0.5), variance }
    }

    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]) {
        let total = count as f64 * self.mu * self.mu;
        for (j, value) in out.iter_mut().enumerate() {
            let y = (from + j) as f64 * step;
            *value *= Complex::turn(total * (s + 0.5) * y).scale(libm::exp(-0.5 * total * y * y));
        }
    }

    fn ceiling(&self, _s: f64, y: f64) -> Option<f64> {
        Some(libm::exp(-0.5 * self.mu * self.mu * y * y))
    }

    fn span(&self, tail: f64) -> (f64, f64) {
        let by = self.mu * normal_tail(tail);
        (0.5 * self.mu * self.mu - by, 0.5 * self.mu * self.mu + by)
    }

    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells {
        let variance = self.mu * self.mu;
        let scale = 1.0 / (TAU * variance).sqrt();
        let density =
            |l: f64| scale * libm::exp(-0.5 * (l - 0.5 * variance) * (l - 0.5 * variance) / variance);
        let mut cells = Cells::new(grid, low, high);
        cells.swept = normal_cdf((low - 0.5 * variance) / self.mu);
        cells.beyond = normal_cdf((0.5 * variance - high) / self.mu);
        cells.add_density(Support { low, high, resolution: 0.5 * self.mu }, density);
        cells
    }
}
