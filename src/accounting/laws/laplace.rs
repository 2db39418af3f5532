//! Laplace noise of scale b on a value of sensitivity 1: the loss L = ln dP/dQ under P has atoms at u = 1/b (half of P's
//! mass) and at -u, and between these a density proportional to exp(l/2) at the loss l.
//!
//! Under P, E exp(s L) = e^{s u} (s+1)/(2s+1) + e^{-(s+1) u} s/(2s+1).

use super::cells::{Cells, Grid};
use super::{Cumulants, Law};
use crate::accounting::complex::Complex;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct Laplace {
    /// The largest loss, the inverse of the scale.
    pub(in crate::accounting) u: f64,
}

impl Law for Laplace {
    fn duplicate(&self) -> Box<dyn Law> {
        Box::new(*self)
    }

    fn cumulants(&self, s: f64) -> Cumulants {
        let (u, w) = (self.u, 2.0 * s + 1.0);
        let e = libm::exp(-w * u);
        let (lower, first, second) = (s / w, 1.0 / (w * w), 4.0 / (w * w * w));
        // E exp(s L) e^{-s u} = 1 - (s/w)(1 - e^{-w u}) with w = 2s + 1, computed so that no digits are lost for small u.
        let deficit = lower * -libm::expm1(-w * u);
        let m = 1.0 - deficit;
        let m1 = -first + e * (first - 2.0 * u * lower);
        let m2 = second + e * (-second - 4.0 * u * first + 4.0 * u * u * lower);
        let (r1, r2) = (m1 / m, m2 / m);
        Cumulants { value: s * u + libm::log1p(-deficit), mean: u + r1, variance: (r2 - r1 * r1).max(0.0) }
    }

    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]) {
        let u = self.u;
        let at = |y: f64| {
            let w = Complex::new(2.0 * s + 1.0, 2.0 * y).inverse();
            let up = Complex::new(s + 1.0, y) * w * Complex::turn(u * y);
            let down = Complex::new(s, y) * w * Complex::turn(-u * y).scale(libm::exp(-(2.0 * s + 1.0) * u));
            up + down
        };
        let scale = 1.0 / at(0.0).re;
        for (j, value) in out.iter_mut().enumerate() {
            *value *= at((from + j) as f64 * step).scale(scale).power(count);
        }
    }

    fn ceiling(&self, s: f64, y: f64) -> Option<f64> {
        // As y grows, |s + 1 + i y| / |2s + 1 + 2 i y| decreases to 1/2, and |s + i y| / |2s + 1 + 2 i y| increases to 1/2.
        let w = 2.0 * s + 1.0;
        let modulus = |re: f64, im: f64| (re * re + im * im).sqrt();
        let fall = libm::exp(-w * self.u);
        let above = modulus(s + 1.0, y) / modulus(w, 2.0 * y) + 0.5 * fall;
        Some((above / ((s + 1.0) / w + s / w * fall)).min(1.0))
    }

    fn pitch(&self) -> Option<f64> {
        Some(self.u)
    }

    fn anchor(&self) -> f64 {
        self.u
    }

    fn span(&self, tail: f64) -> (f64, f64) {
        // P's mass below l, including the lower atom, is e^{(l - u)/2} / 2.
        ((self.u + 2.0 * libm::log(2.0 * tail)).clamp(-self.u, self.u), self.u)
    }

    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells {
        let u = self.u;
        let (low, high) = (low.max(-u), high.min(u));
        let below = |l: f64| 0.5 * libm::exp(0.5 * (l - u));
        let mut cells = Cells::new(grid, low, high);
        if high < u {
            cells.beyond = 1.0 - below(high);
        } else {
            cells.add_atom(u, 0.5);
        }
        if low > -u {
            cells.swept = below(low);
        } else {
            cells.add_atom(-u, 0.5 * libm::exp(-u));
        }
        cells.add_half_exponential(low, high, 0.25 * libm::exp(-0.5 * u));
        cells
    }
}
