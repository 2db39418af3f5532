//! Laws (probability distributions) of the privacy loss L = ln dP/dQ under P, for pairs (P, Q) of output distributions
//! that dominate a mechanism. One file per law.
//!
//! Accountants use K(s) = ln E exp(s L): accountants by Renyi divergences use it at real s, the tight accountant on a
//! line in the complex plane. Where an integral along such a line is not practical, the tight accountant divides the
//! range of losses into the cells of a lattice.
//!
//! If a mechanism has different losses for adding a unit and for removing a unit, it has two laws. Each of the two laws is
//! composed separately, and the result is the larger of the two totals. The pairs used here dominate, so totals hold for
//! adaptively chosen mechanisms (Zhu, Dong and Wang 2022, Theorem 10). For exponential mechanisms fixed in advance a
//! smaller total holds, see [`bounded_range`].

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

/// The direction of the pair (P, Q): which of the two neighbours has the unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    /// P is the output distribution with the unit, Q the one without it.
    Remove,
    /// P is the output distribution without the unit, Q the one with it.
    Add,
}

impl Direction {
    pub(super) const BOTH: [Self; 2] = [Self::Remove, Self::Add];
}

/// K(s) and its first two derivatives, which are the mean and the variance of L under the law tilted by exp(s L).
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
    /// K(s), s >= 0, with its derivatives. Where K(s) is [not exact](Self::is_exact), it is an upper bound, and the
    /// derivatives are approximate.
    fn cumulants(&self, s: f64) -> Cumulants;

    /// Whether K(s) is exact; if not, it is an upper bound, because the exact value would take too long to compute.
    fn is_exact(&self, _s: f64) -> bool {
        true
    }

    /// A copy of the law.
    fn duplicate(&self) -> Box<dyn Law>;

    /// The law without most of its largest losses, and an upper bound on the mass of P that is removed, roughly `tail` or
    /// less. Every hockey-stick divergence decreases by at most this bound. `None` for a law that is not tapered.
    fn tapered(&self, _tail: f64) -> Option<(Box<dyn Law>, f64)> {
        None
    }

    /// Multiplies `out[j]` by (exp(K(s + i y) - K(s)))^count at y = (from + j) step.
    fn contour(&self, s: f64, step: f64, from: usize, count: u64, out: &mut [Complex]);

    /// Approximately how many terms are summed for one value of [`Self::contour`] with |y| up to `y_max`.
    fn terms(&self, _s: f64, _y_max: f64) -> f64 {
        1.0
    }

    /// An upper bound on |exp(K(s + i v) - K(s))| that holds for all v >= `y` and does not increase with `y`. `None` for
    /// laws without a proven bound, whose values are only observed to decrease.
    fn ceiling(&self, s: f64, y: f64) -> Option<f64>;

    /// The pitch: the largest loss, if it is an atom. In most laws with a pitch, all atoms are multiples of the pitch.
    /// Laws with a pitch consist of atoms and exponential densities, whose masses in cells have closed forms.
    fn pitch(&self) -> Option<f64> {
        None
    }

    /// The law itself, if it has only two values.
    fn two_atoms(&self) -> Option<TwoAtoms> {
        None
    }

    /// A loss at or near which the law has an atom or a narrow peak, if it has any; a lattice should have a point at this
    /// loss.
    fn anchor(&self) -> f64 {
        0.0
    }

    /// Centre and scale of the bulk of the law, if this scale may be far smaller than the largest losses;
    /// else `None`. If [`Self::cells`] divides such a law over adjacent ranges of losses, the masses of all
    /// ranges add up to the masses of the whole law.
    fn bulk(&self) -> Option<(f64, f64)> {
        None
    }

    /// Two losses such that P's mass below the first and P's mass above the second are at most `tail` each.
    fn span(&self, tail: f64) -> (f64, f64);

    /// The law between two losses, divided into the cells of a lattice. P's mass below these losses is kept as one
    /// total, and so is P's mass above them.
    fn cells(&self, grid: Grid, low: f64, high: f64) -> Cells;
}

#[cfg(test)]
mod tests;
