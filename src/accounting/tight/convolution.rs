//! Convolution of privacy loss distributions on one lattice. Each distribution is represented by two laws: one whose
//! hockey-stick divergences are at least the exact ones ("worse") and one whose divergences are at most the exact ones
//! ("better"). The loss is ln(P/Q), where P and Q are the distributions of the outputs for two neighbours; the law of the
//! loss is its distribution under P.
//!
//! Only losses within a window are kept. In the worse law, mass above the window becomes an infinite loss, and mass
//! below the window is moved to the window's first point. In the better law, mass above the window is moved to the
//! window's last point, and mass below the window is dropped. Convolutions are computed directly, without a Fourier
//! transform, and all terms are positive, so relative errors are small however small delta is.

use super::rounded::{better_masses, worse_masses};
use crate::accounting::laws::{Cells, Law};

/// An upper bound on the unit roundoff of doubles, 2^-53 = 1.11e-16.
const ROUNDOFF: f64 = 1.2e-16;

/// Bound on the relative error of the masses of a law divided into cells. It is smaller for laws with a [`Law::pitch`]:
/// they consist of atoms and exponential densities, whose masses have closed forms.
pub(super) fn cell_error_bound(law: &dyn Law) -> f64 {
    if law.pitch().is_some() { 1e-14 } else { 2e-12 }
}

/// The worse and the better law of one loss, on a lattice.
#[derive(Clone, Debug)]
pub(super) struct Laws {
    /// The loss at point 0 of the lattice.
    pub(super) offset: f64,
    /// Index of the lattice point that has the first mass of `worse` and of `better`.
    pub(super) first: i64,
    /// P's masses in a law that is certainly worse than the exact one.
    pub(super) worse: Vec<f64>,
    /// P's masses, as many as in `worse`, in a law that is certainly better.
    pub(super) better: Vec<f64>,
    /// Mass of the worse law at an infinite loss.
    pub(super) infinite: f64,
    /// Bound on the relative error of the masses.
    pub(super) relative: f64,
}

/// The lattice and the window of a convolution.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Distance between neighbouring lattice points.
    pub(super) spacing: f64,
    /// Smallest and largest loss that are kept.
    pub(super) window: (f64, f64),
}

/// Indices are limited to this size, so that they fit into an `i64`.
const FAR: f64 = (1u64 << 60) as f64;
impl Laws {
    /// The law of a loss that is always 0.
    pub(super) fn nothing() -> Self {
        Self { offset: 0.0, first: 0, worse: vec![1.0], better: vec![1.0], infinite: 0.0, relative: 0.0 }
    }

    /// The worse and the better law on a lattice, from a law divided into cells.
    pub(super) fn of(law: &dyn Law, cells: &Cells) -> Self {
        let mut worse = vec![0.0];
        worse.extend(worse_masses(cells));
        let mut better = better_masses(cells);
        // The losses counted in `beyond` are above the second-to-last lattice point, so moving them to this point makes a
        // better law.
        let place = better.len() - 2;
        better[place] += cells.beyond;
        let (offset, first) = (cells.grid.offset, cells.first - 1);
        Self { offset, first, worse, better, infinite: cells.beyond, relative: cell_error_bound(law) }
    }

    /// The sum of `count` independent losses of this law, by repeated squaring; `count` is at least 1.
    pub(super) fn times(&self, count: u64, rules: &Rules) -> Self {
        let mut sum = self.clone();
        sum.cut(rules);
        // The binary digits of the count, from the second-highest down.
        let digits = u64::BITS - count.leading_zeros();
        for digit in (0..digits - 1).rev() {
            sum = sum.plus(&sum, rules);
            if count >> digit & 1 == 1 {
                sum = sum.plus(self, rules);
            }
        }
        sum
    }

    /// The sum of two independent losses.
    pub(super) fn plus(&self, other: &Self, rules: &Rules) -> Self {
        let (n, m) = (self.worse.len(), other.worse.len());
        let (worse, better) = (product(&self.worse, &other.worse), product(&self.better, &other.better));
        let relative = self.relative + other.relative + ROUNDOFF * (n.min(m) as f64 + 4.0);
        let infinite = self.infinite + other.infinite - self.infinite * other.infinite;
        let mut sum = Self {
            offset: self.offset + other.offset,
            first: self.first + other.first,
            worse,
            better,
            infinite,
            relative,
        };
        sum.cut(rules);
        sum
    }

    /// Moves or drops the mass outside of the window, as described in the module's documentation.
    pub(super) fn cut(&mut self, rules: &Rules) {
        // The limit `FAR` is for infinite windows, which keep all losses.
        let index = |loss: f64| ((loss - self.offset) / rules.spacing).clamp(-FAR, FAR);
        let (low, high) = (index(rules.window.0).floor() as i64, index(rules.window.1).ceil() as i64);
        let last = self.first + self.worse.len() as i64 - 1;
        if last > high {
            let kept = usize::try_from(high - self.first + 1).unwrap_or(0).max(1);
            let (mut above, mut lowered) = (0.0, 0.0);
            self.worse[kept..].iter().for_each(|mass| above += mass);
            self.better[kept..].iter().for_each(|mass| lowered += mass);
            if self.first > high {
                // Everything lies above the window.
                above += self.worse[0];
                lowered += self.better[0];
                (self.first, self.worse[0], self.better[0]) = (high, 0.0, 0.0);
            }
            self.worse.truncate(kept);
            self.better.truncate(kept);
            self.better[kept - 1] += lowered;
            self.infinite += above;
        }
        if self.first < low {
            let gone = usize::try_from(low - self.first).unwrap_or(0).min(self.worse.len() - 1);
            let mut raised = 0.0;
            self.worse[..gone].iter().for_each(|mass| raised += mass);
            self.worse.drain(..gone);
            self.better.drain(..gone);
            self.worse[0] += raised;
            if self.first + (gone as i64) < low {
                self.better[0] = 0.0;
            }
            self.first = low;
        }
    }
}

/// The convolution of two sequences of masses, computed directly.
fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let mut sum = vec![0.0; a.len() + b.len() - 1];
    for (k, &mass) in short.iter().enumerate() {
        if mass > 0.0 {
            let place = &mut sum[k..k + long.len()];
            place.iter_mut().zip(long).for_each(|(sum, other)| *sum += mass * other);
        }
    }
    sum
}
