//! The records of a data set: at least one record, of at least one number. Clones share the numbers.

use super::{MechanismError, all_finite};
use crate::gp::{Points, Singular};
use crate::rng::Stream;
use faer::MatRef;
use std::sync::Arc;

/// n records of d numbers each, [n, d], with n and d at least 1. A clone shares the numbers with its original.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows(Arc<Points>);

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
        Ok(Self(Arc::new(Points::new(n, d, values))))
    }

    /// These points as records, [n, d].
    ///
    /// # Errors
    /// [`MechanismError::Shape`] unless there is at least one point, of at least one dimension.
    pub fn of(points: &Arc<Points>) -> Result<Self, MechanismError> {
        if points.n() == 0 || points.d() == 0 {
            return Self::new(points.n(), points.d(), Vec::new());
        }
        Ok(Self(Arc::clone(points)))
    }

    /// Records from a matrix of faer, [n, d], in any memory layout: each row is a record.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] unless the matrix has at least one row and one column.
    pub fn of_faer(matrix: MatRef<'_, f64>) -> Result<Self, MechanismError> {
        Self::of(&Arc::new(Points::of_faer(matrix)))
    }

    /// All numbers as a matrix of faer, [n, d]: a view, nothing is copied.
    #[must_use]
    pub fn as_faer(&self) -> MatRef<'_, f64> {
        self.0.as_faer()
    }

    /// The records as points, [n, d].
    #[must_use]
    pub fn points(&self) -> &Arc<Points> {
        &self.0
    }

    /// Number of rows.
    #[must_use]
    pub fn n(&self) -> usize {
        self.0.n()
    }

    /// Numbers per row.
    #[must_use]
    pub fn d(&self) -> usize {
        self.0.d()
    }

    /// All numbers, row after row: n d of them.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        self.0.row_major()
    }

    /// The row with number `index`, counted from 0: d numbers.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn row(&self, index: usize) -> &[f64] {
        self.0.row(index)
    }

    /// The rows, each minus the mean of all rows.
    #[must_use]
    pub fn centred(&self) -> Self {
        let mut mean = vec![0.0; self.d()];
        for row in self.values().chunks_exact(self.d()) {
            mean.iter_mut().zip(row).for_each(|(m, v)| *m += v);
        }
        mean.iter_mut().for_each(|m| *m /= self.n() as f64);
        let mut values = self.values().to_vec();
        for row in values.chunks_exact_mut(self.d()) {
            row.iter_mut().zip(&mean).for_each(|(v, m)| *v -= m);
        }
        self.with(values)
    }

    /// The singular values and singular vectors of the matrix of all numbers, [n, d]; the same bits on every machine.
    ///
    /// # Errors
    /// [`MechanismError::Decomposition`] if the decomposition does not converge, or if a number is NaN or infinite.
    pub fn singular(&self) -> Result<Singular, MechanismError> {
        Singular::new(self.n(), self.d(), self.values()).map_err(|_| MechanismError::Decomposition)
    }

    /// The same rows, with row `index` moved by `distance` along `direction`, a vector of d numbers and length 1.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn moved(&self, index: usize, direction: &[f64], distance: f64) -> Self {
        let mut values = self.values().to_vec();
        let row = &mut values[index * self.d()..][..self.d()];
        row.iter_mut().zip(direction).for_each(|(v, u)| *v += distance * u);
        self.with(values)
    }

    /// The same rows with independent normal noise of standard deviation `sd` on every number.
    ///
    /// # Errors
    /// [`MechanismError::NotFinite`] if a number is NaN or infinite.
    pub(super) fn plus_noise(&self, sd: f64, stream: &mut Stream) -> Result<Self, MechanismError> {
        self.each(|value| value + sd * stream.normal())
    }

    /// The same rows with `private` applied to every number.
    ///
    /// # Errors
    /// [`MechanismError::NotFinite`] if a number is NaN or infinite.
    pub fn each(&self, private: impl FnMut(f64) -> f64) -> Result<Self, MechanismError> {
        all_finite(self.values())?;
        Ok(self.with(self.values().iter().copied().map(private).collect()))
    }

    /// Rows of the same shape with other numbers.
    fn with(&self, values: Vec<f64>) -> Self {
        Self(Arc::new(Points::new(self.n(), self.d(), values)))
    }
}

impl TryFrom<MatRef<'_, f64>> for Rows {
    type Error = MechanismError;
    fn try_from(matrix: MatRef<'_, f64>) -> Result<Self, MechanismError> {
        Self::of_faer(matrix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_of_faer_is_a_table_of_records() {
        let matrix = faer::Mat::from_fn(3, 2, |i, j| (10 * i + j) as f64);
        let rows = Rows::try_from(matrix.as_ref()).unwrap();
        assert_eq!((rows.row(1), rows.as_faer()), (&[10.0, 11.0][..], matrix.as_ref()));
        assert!(Rows::of_faer(faer::Mat::zeros(0, 2).as_ref()).is_err());
    }

    /// Records made from points share the numbers of the points, and a clone shares the numbers of its original. So an
    /// objective, a release and a learner together need only one copy of the numbers.
    #[test]
    fn rows_share_the_numbers_of_their_points() {
        let points = Arc::new(Points::new(2, 1, vec![1.0, 2.0]));
        let rows = Rows::of(&points).unwrap();
        assert!(Arc::ptr_eq(rows.clone().points(), &points));
        assert!(Rows::of(&Arc::new(Points::new(0, 1, Vec::new()))).is_err());
    }

    /// The noise is `sd` times the next normal deviates of the stream, in the order of the numbers.
    #[test]
    fn noise_is_added_to_every_number() {
        let rows = Rows::of_faer(faer::Mat::from_fn(2, 2, |i, j| (10 * i + j) as f64).as_ref()).unwrap();
        let noisy = rows.plus_noise(0.5, &mut crate::rng::Key::root(4).stream()).unwrap();
        let mut stream = crate::rng::Key::root(4).stream();
        for (value, noisy) in rows.values().iter().zip(noisy.values()) {
            assert_eq!(*noisy, value + 0.5 * stream.normal());
        }
    }

    #[test]
    fn one_row_is_moved_by_the_distance_along_the_direction() {
        let rows = Rows::new(2, 2, vec![1.0, 2.0, 3.0, 4.0]).unwrap();
        assert_eq!(rows.moved(1, &[0.6, -0.8], 5.0).values(), [1.0, 2.0, 6.0, 0.0]);
        assert_eq!(rows.moved(0, &[0.0, 1.0], -0.5).values(), [1.0, 1.5, 3.0, 4.0]);
    }
}
