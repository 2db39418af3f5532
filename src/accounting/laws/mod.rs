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
    /// K(s), s >= 0, with derivatives; at least a bound on it where it [is not exact](Self::is_exact).
    fn cumulants(&self, s: f64) -> Cumulants;

    /// Whether K(s) is exact, and not an upper bound because working it out would take too long.
    fn is_exact(&self, _s: f64) -> bool {
        true
    }

    /// Itself.
    fn duplicate(&self) -> Box<dyn Law>;

    /// The law without most of its largest losses, and how much of P's mass is missing, at most about `tail`: every
    /// hockey-stick divergence falls by at most that. Nothing where it has no rare large losses.
    fn tapered(&self, _tail: f64) -> Option<(Box<dyn Law>, f64)> {
        None
    }

    /// Multiplies `out[j]` by (exp(K(s + i y) - K(s)))^count at y = (from + j) step.
    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]);

    /// About how many terms a value of the contour takes at heights up to `y_max`.
    fn terms(&self, _s: f64, _y_max: f64) -> f64 {
        1.0
    }

    /// A bound on the modulus of those values (count 1) at every height above `y`, if there is a proven one that falls;
    /// none for laws with a density whose values fall by observation.
    fn ceiling(&self, s: f64, y: f64) -> Option<f64>;

    /// A length of which the law's atoms are multiples, if it has atoms away from 0.
    fn pitch(&self) -> Option<f64> {
        None
    }

    /// Itself, if it has but two values.
    fn two_atoms(&self) -> Option<TwoAtoms> {
        None
    }

    /// A loss near which the law has an atom, or as good as one: best made a point of a lattice.
    fn anchor(&self) -> f64 {
        0.0
    }

    /// Where losses nearly always lie, and on what scale, if that may be far smaller than the largest losses; then the
    /// law can be cut up between any two losses, and its parts add up.
    fn bulk(&self) -> Option<(f64, f64)> {
        None
    }

    /// Losses below and above which P has at most the mass `tail`, each.
    fn span(&self, tail: f64) -> (f64, f64);

    /// The law between two losses cut up for a lattice; what P has below and above is kept as sums.
    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells;
}
