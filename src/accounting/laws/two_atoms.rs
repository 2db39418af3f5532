//! Laws with two values of the loss: randomised response, and one exponential mechanism of a given bounded range.

use super::cells::{Cells, Grid};
use super::{Cumulants, Law};
use crate::accounting::complex::Complex;

/// The law of a loss that is `high` with probability `p_high` and `low` with probability `p_low` under P, the first of the
/// two distributions that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct TwoAtoms {
    pub(in crate::accounting) high: f64,
    pub(in crate::accounting) low: f64,
    pub(in crate::accounting) p_high: f64,
    pub(in crate::accounting) p_low: f64,
}

impl TwoAtoms {
    /// Randomised response, which dominates all `epsilon`-DP mechanisms (Kairouz, Oh and Viswanath 2015, Theorem 3.3).
    pub(in crate::accounting) fn randomized_response(epsilon: f64) -> Self {
        let p_low = 1.0 / (1.0 + libm::exp(epsilon));
        Self { high: epsilon, low: -epsilon, p_high: 1.0 / (1.0 + libm::exp(-epsilon)), p_low }
    }

    /// The `epsilon`-bounded-range mechanism whose losses are `t` and `t - epsilon`, t in [0, epsilon]
    /// (Dong, Durfee and Rogers 2020, Section 3).
    pub(in crate::accounting) fn bounded_range(epsilon: f64, t: f64) -> Self {
        let all = libm::expm1(epsilon);
        let p_low = libm::expm1(t) / all;
        let p_high = libm::exp(t) * libm::expm1(epsilon - t) / all;
        Self { high: t, low: t - epsilon, p_high, p_low }
    }
}

impl Law for TwoAtoms {
    fn duplicate(&self) -> Box<dyn Law> {
        Box::new(*self)
    }

    fn cumulants(&self, s: f64) -> Cumulants {
        let range = self.high - self.low;
        let fall = -libm::expm1(-s * range);
        let m = 1.0 - self.p_low * fall;
        let low = self.p_low * (1.0 - fall) / m;
        Cumulants {
            value: s * self.high + libm::log1p(-self.p_low * fall),
            mean: self.high - range * low,
            variance: range * range * low * (self.p_high / m),
        }
    }

    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]) {
        let range = self.high - self.low;
        let low = self.p_low * libm::exp(-s * range);
        let (high, low) = (self.p_high / (self.p_high + low), low / (self.p_high + low));
        for (j, value) in out.iter_mut().enumerate() {
            let y = (from + j) as f64 * step;
            let mixed = Complex::turn(self.high * y).scale(high) + Complex::turn(self.low * y).scale(low);
            *value *= mixed.power(count);
        }
    }

    fn ceiling(&self, _s: f64, _y: f64) -> Option<f64> {
        Some(1.0)
    }

    fn pitch(&self) -> Option<f64> {
        Some(self.high)
    }

    fn two_atoms(&self) -> Option<TwoAtoms> {
        Some(*self)
    }

    fn anchor(&self) -> f64 {
        self.high
    }

    fn span(&self, tail: f64) -> (f64, f64) {
        (if self.p_low <= tail { self.high } else { self.low }, self.high)
    }

    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells {
        let mut cells = Cells::new(grid, low.max(self.low), high.min(self.high));
        for (loss, mass) in [(self.high, self.p_high), (self.low, self.p_low)] {
            if loss > high {
                cells.beyond += mass;
            } else if loss < low {
                cells.swept += mass;
            } else {
                cells.add_atom(loss, mass);
            }
        }
        cells
    }
}
