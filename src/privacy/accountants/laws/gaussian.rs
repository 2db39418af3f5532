//! Gaussian noise: the loss is normal with variance mu^2 and mean mu^2 / 2, mu the inverse of the noise multiplier.

use super::cells::{HalfCells, Support};
use super::{Cumulants, Law};
use crate::privacy::accountants::complex::Complex;
use std::f64::consts::TAU;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::privacy::accountants) struct Gaussian {
    pub(in crate::privacy::accountants) mu: f64,
}

impl Law for Gaussian {
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

    fn cells(&self, width: f64, tilt: f64) -> HalfCells {
        let variance = self.mu * self.mu;
        // Both the law itself and the tilted one, ten standard deviations each way.
        let (low, high) = (0.5 * variance - 10.0 * self.mu, (tilt + 0.5) * variance + 10.0 * self.mu);
        let scale = 1.0 / (TAU * variance).sqrt();
        let density =
            |l: f64| scale * libm::exp(-0.5 * (l - 0.5 * variance) * (l - 0.5 * variance) / variance);
        let mut cells = HalfCells::new(width, low, high);
        cells.add_density(Support { low, high, resolution: 0.5 * self.mu }, density);
        cells
    }
}
