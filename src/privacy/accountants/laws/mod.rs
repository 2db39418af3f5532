//! Laws of the privacy loss L = ln dP/dQ under P, one file each, for a pair (P, Q) that dominates the mechanism.
//!
//! Everything an accountant needs comes from K(s) = ln E exp(s L): Renyi orders read it on the real line, the tight
//! accountant on a line in the complex plane, or from the law cut into cells.
//!
//! A mechanism that treats adding and removing a unit differently has two laws; they are composed apart, and the worse
//! total counts. The pairs used here dominate, so totals hold for adaptively chosen mechanisms (Zhu, Dong and Wang
//! 2022, Theorem 10); the exponential mechanism is the exception, see [`bounded_range`].

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
pub(super) use cells::HalfCells;
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

    /// The part of the tilted law that is not in atoms, about.
    fn continuous_mass(&self, _s: f64) -> f64 {
        1.0
    }

    /// The law cut into cells of the given width; `tilt` says where accuracy is wanted (mass far from the tilted law's
    /// centre may be moved to the nearest cell that is kept, upwards).
    fn cells(&self, width: f64, tilt: f64) -> HalfCells;
}
