//! Rounding to a lattice before exact noise is added, and what that does to the sensitivity.

use super::{MechanismError, all_finite};
use crate::vocab::Positive;

/// Multiples of a spacing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    spacing: Positive,
}

/// Largest multiple that a number may be rounded to: integers of this size are exact in a double.
const LARGEST: f64 = (1u64 << 52) as f64;

impl Lattice {
    /// A lattice of a spacing, best a power of two (its multiples are then exact).
    #[must_use]
    pub const fn new(spacing: Positive) -> Self {
        Self { spacing }
    }

    /// Its spacing.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.spacing.get()
    }

    /// Each number as the nearest multiple; halves away from 0.
    pub(super) fn round(&self, values: &[f64]) -> Result<Vec<i64>, MechanismError> {
        all_finite(values)?;
        values
            .iter()
            .map(|value| {
                let multiple = (value / self.spacing.get()).round();
                if multiple.abs() <= LARGEST { Ok(multiple as i64) } else { Err(MechanismError::NotFinite) }
            })
            .collect()
    }

    pub(super) fn values(&self, multiples: impl Iterator<Item = i64>) -> Vec<f64> {
        multiples.map(|multiple| multiple as f64 * self.spacing.get()).collect()
    }

    /// The L1 sensitivity in multiples, after rounding `length` numbers: each may move by up to one further multiple.
    pub(super) fn l1(&self, sensitivity: f64, length: usize) -> f64 {
        sensitivity / self.spacing.get() + length as f64
    }

    /// The same for the L2 norm.
    pub(super) fn l2(&self, sensitivity: f64, length: usize) -> f64 {
        sensitivity / self.spacing.get() + (length as f64).sqrt()
    }
}
