//! Laws of the privacy loss L = ln dP/dQ under P, one file each, for a pair (P, Q) that dominates the mechanism.
//!
//! Everything an accountant needs comes from K(s) = ln E exp(s L): Renyi orders read it on the real line, the tight
//! accountant on a line in the complex plane, or from the law cut into cells.
//!
//! A mechanism with different losses for adding and removing has two laws; each is composed by itself, and
//! the worse total counts. The pairs used here dominate, so totals hold for adaptively chosen mechanisms
//! (Zhu, Dong and Wang 2022, Theorem 10); the exponential mechanism is the exception, see [`bounded_range`].

pub(super) mod bounded_range;
mod cells;
mod fixed_size_gaussian;
mod gauss_legendre;
mod gaussian;
mod laplace;
mod poisson_gaussian;
mod subsampled;
mod two_atoms;
mod whole_orders;

pub(super) use bounded_range::BoundedRange;
pub(super) use cells::{Cells, Grid};
pub(super) use fixed_size_gaussian::FixedSizeGaussian;
pub(super) use gaussian::Gaussian;
pub(super) use laplace::Laplace;
pub(super) use poisson_gaussian::PoissonGaussian;
pub(super) use two_atoms::TwoAtoms;

use super::complex::Complex;
use std::fmt;

/// Which of the two neighbours has the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// P is the law with the unit, Q without it.
    Remove,
    /// P is the law without the unit, Q with it.
    Add,
}

impl Direction {
    pub(super) const BOTH: [Self; 2] = [Self::Remove, Self::Add];
}

/// K and its first two derivatives at one point: under the law tilted by exp(s L), mean and variance of L.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cumulants {
    pub(super) value: f64,
    pub(super) mean: f64,
    pub(super) variance: f64,
}

impl Cumulants {
    pub(super) const ZERO: Self = Self { value: 0.0, mean: 0.0, variance: 0.0 };

    pub(super) fn plus(self, count: f64, other: Self) -> Self {
        Self {
            value: self.value + count * other.value,
            mean: self.mean + count * other.mean,
            variance: self.variance + count * other.variance,
        }
    }
}

/// One law of the privacy loss.
pub(super) trait Law: fmt::Debug {
    /// K(s), s >= 0, with derivatives; an upper bound where it [is not exact](Self::is_exact).
    fn cumulants(&self, s: f64) -> Cumulants;

    /// Whether K(s) is exact; if not, it is an upper bound, because the exact value would take too long to compute.
    fn is_exact(&self, _s: f64) -> bool {
        true
    }

    /// A copy.
    fn duplicate(&self) -> Box<dyn Law>;

    /// The law without most of its largest losses, and how much of P's mass is missing, at most about `tail`: every
    /// hockey-stick divergence falls by at most that. `None` if it has no rare large losses.
    fn tapered(&self, _tail: f64) -> Option<(Box<dyn Law>, f64)> {
        None
    }

    /// Multiplies `out[j]` by (exp(K(s + i y) - K(s)))^count at y = (from + j) step.
    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]);

    /// About how many terms a value of the contour takes at heights up to `y_max`.
    fn terms(&self, _s: f64, _y_max: f64) -> f64 {
        1.0
    }

    /// A bound on the modulus of those values (count 1) at every height above `y`, if there is a proven bound that
    /// falls with `y`; `None` for laws with a density, whose values are only observed to fall.
    fn ceiling(&self, s: f64, y: f64) -> Option<f64>;

    /// A length of which the law's atoms are multiples, if it has atoms away from 0.
    fn pitch(&self) -> Option<f64> {
        None
    }

    /// The law itself, if it has only two values.
    fn two_atoms(&self) -> Option<TwoAtoms> {
        None
    }

    /// A loss near which the law has an atom or a narrow peak: best made a point of a lattice.
    fn anchor(&self) -> f64 {
        0.0
    }

    /// Centre and scale of the bulk of the law, if that scale may be far smaller than the largest losses. Such a law
    /// can be divided between any two losses, and its parts add up.
    fn bulk(&self) -> Option<(f64, f64)> {
        None
    }

    /// Two losses: P has at most the mass `tail` below the first, and at most that above the second.
    fn span(&self, tail: f64) -> (f64, f64);

    /// The law between two losses, divided for a lattice; of what P has below and above, only the total mass is kept.
    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells;
}
