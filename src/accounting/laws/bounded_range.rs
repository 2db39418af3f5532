//! The law of one pair (P, Q) of distributions that dominates every mechanism of bounded range `epsilon`. So the
//! composition of this law bounds adaptively chosen exponential mechanisms too.
//!
//! The hockey-stick curve of two distributions P and Q maps a number a, at least 0, to a divergence: the supremum over
//! events S of P(S) - a Q(S). On two neighbours, the losses of a mechanism of bounded range lie between t - epsilon and
//! t, for some t in [0, epsilon]. Let the extreme mechanism for this t be the one that has only the two losses t and
//! t - epsilon. The curve of the given mechanism is at most the curve of the extreme mechanism. The reason is that every
//! curve is convex, and that the curve of the extreme mechanism is a straight line between a = e^{t - epsilon} and
//! a = e^t; for every a outside this interval the two curves agree.
//!
//! The curves of all extreme mechanisms (for t in [0, epsilon]) have the upper envelope
//! f(a) = (e^{epsilon/2} - sqrt a)^2 / (e^epsilon - 1) for a in [e^-epsilon, e^epsilon]. The envelope is convex, so it
//! is the curve of a pair (P, Q). Under P, the loss L of this pair has the density e^{l/2} / (4 sinh(epsilon/2)) at l in
//! (-epsilon, epsilon), and the mean of exp(s L) is sinh((s + 1/2) epsilon) / ((2s + 1) sinh(epsilon/2)). Exponential
//! mechanisms fixed in advance (not chosen adaptively) have a smaller total loss: see `tight::binomial`.

use super::cells::{Cells, Grid};
use super::{Cumulants, Law};
use crate::accounting::complex::Complex;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::accounting) struct BoundedRange {
    pub(in crate::accounting) epsilon: f64,
}

impl Law for BoundedRange {
    fn duplicate(&self) -> Box<dyn Law> {
        Box::new(*self)
    }

    fn cumulants(&self, s: f64) -> Cumulants {
        let (e, w) = (self.epsilon, 2.0 * s + 1.0);
        let value = s * e + libm::log(libm::expm1(-w * e) / (w * libm::expm1(-e)));
        // d/ds ln sinh((s + 1/2) e) = e coth((s + 1/2) e).
        let half = 0.5 * w * e;
        let (mean, variance) = if half < 0.02 {
            // The first terms of the series of e coth(half) - e/half, and of its derivative in s, because the terms of
            // the closed forms cancel for a small `half`.
            let h2 = half * half;
            (e * half / 3.0 * (1.0 - h2 / 15.0), e * e / 3.0 * (1.0 - h2 / 5.0))
        } else {
            let sinh = libm::sinh(half);
            let over = e / sinh;
            (e / libm::tanh(half) - 2.0 / w, (4.0 / (w * w) - over * over).max(0.0))
        };
        Cumulants { value, mean, variance }
    }

    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]) {
        let e = self.epsilon;
        let fall = libm::exp(-(2.0 * s + 1.0) * e);
        let at = |y: f64| {
            let turned = Complex::turn(e * y);
            (turned - turned.conj().scale(fall)) * Complex::new(2.0 * s + 1.0, 2.0 * y).inverse()
        };
        let scale = 1.0 / at(0.0).re;
        for (j, value) in out.iter_mut().enumerate() {
            *value *= at((from + j) as f64 * step).scale(scale).power(count);
        }
    }

    fn ceiling(&self, s: f64, y: f64) -> Option<f64> {
        let w = 2.0 * s + 1.0;
        let fall = libm::exp(-w * self.epsilon);
        Some(((1.0 + fall) / (1.0 - fall) * w / (w * w + 4.0 * y * y).sqrt()).min(1.0))
    }

    fn span(&self, tail: f64) -> (f64, f64) {
        let e = self.epsilon;
        // P's mass below l is (exp(l/2) - exp(-epsilon/2)) / (2 sinh(epsilon/2)).
        let low = e + 2.0 * libm::log(libm::exp(-e) - tail * libm::expm1(-e));
        (low.clamp(-e, e), e)
    }

    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells {
        let e = self.epsilon;
        let (low, high) = (low.max(-e), high.min(e));
        let scale = 0.25 / libm::sinh(0.5 * e);
        let mut cells = Cells::new(grid, low, high);
        cells.swept = 2.0 * scale * (libm::exp(0.5 * low) - libm::exp(-0.5 * e)).max(0.0);
        cells.beyond = 2.0 * scale * (libm::exp(0.5 * e) - libm::exp(0.5 * high)).max(0.0);
        cells.add_half_exponential(low, high, scale);
        cells
    }
}
