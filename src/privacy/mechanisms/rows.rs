//! The records of a data set: rows of numbers.

use super::{MechanismError, all_finite};
use crate::rng::Stream;
use faer::MatRef;
use serde::Serialize;

/// Records of equal length, row after row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rows {
    n: usize,
    d: usize,
    values: Vec<f64>,
}

impl Rows {
    /// `n` rows of `d` numbers each, row-major.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] unless `n` and `d` are at least 1 and there are n d values.
    pub fn new(n: usize, d: usize, values: Vec<f64>) -> Result<Self, MechanismError> {
        if n == 0 || d == 0 || n.checked_mul(d) != Some(values.len()) {
            return Err(MechanismError::Shape {
                expected: "at least one row and one column, and one number for each cell".into(),
                found: format!("{n} rows, {d} columns, {} numbers", values.len()),
            });
        }
        Ok(Self { n, d, values })
    }

    /// Number of rows.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// Numbers per row.
    #[must_use]
    pub fn d(&self) -> usize {
        self.d
    }

    /// All numbers, row after row.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// One row.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.d..][..self.d]
    }

    /// The same rows, minus the mean row.
    #[must_use]
    pub fn centred(&self) -> Self {
        let mut mean = vec![0.0; self.d];
        for row in self.values.chunks_exact(self.d) {
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v);
        }
        mean.iter_mut().for_each(|m| *m /= self.n as f64);
        let mut values = self.values.clone();
        for row in values.chunks_exact_mut(self.d) {
            row.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
        }
        Self { values, ..*self }
    }

    /// The same rows, one of which is moved by a distance in a direction of length 1.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn moved(&self, index: usize, direction: &[f64], distance: f64) -> Self {
        let mut values = self.values.clone();
        values[index * self.d..][..self.d].iter_mut().zip(direction).for_each(|(v, u)| *v += distance * u);
        Self { values, ..*self }
    }

    /// The same rows with independent normal noise of a standard deviation on every number.
    ///
    /// # Errors
    /// [`MechanismError::NotFinite`].
    pub(super) fn plus_noise(&self, sd: f64, stream: &mut Stream) -> Result<Self, MechanismError> {
        self.each(|value| value + sd * stream.normal())
    }

    /// The same rows with every number made private.
    ///
    /// # Errors
    /// [`MechanismError::NotFinite`].
    pub(super) fn each(&self, private: impl FnMut(f64) -> f64) -> Result<Self, MechanismError> {
        all_finite(&self.values)?;
        Ok(Self { values: self.values.iter().copied().map(private).collect(), ..*self })
    }

    pub(super) fn as_faer(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.n, self.d)
    }
}
