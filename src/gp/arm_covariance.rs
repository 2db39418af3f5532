//! Covariances between arms: a function of their inputs, or an explicit matrix.

use super::blocks::BLOCK;
use super::covariance::Covariance;
use super::matrices::row_major;
use super::{Cholesky, GpError, Points};
use faer::{Mat, MatRef};
use std::sync::Arc;

/// The prior covariance of a function over a finite set of arms, in squared units of the outcome.
#[derive(Clone, Debug)]
pub enum ArmCovariance {
    /// A covariance function of the arms' inputs.
    Inputs {
        /// The arms' inputs, `[n, d]`.
        points: Arc<Points>,
        /// The function.
        covariance: Covariance,
    },
    /// An explicit matrix, `[n, n]`.
    Matrix(Arc<CovarianceMatrix>),
}

/// A covariance matrix over n arms, `[n, n]` and in squared units of the outcome, given by its entries.
#[derive(Clone, Debug, PartialEq)]
pub struct CovarianceMatrix {
    n: usize,
    values: Vec<f64>,
}

/// Two entries that should be equal by symmetry may differ by this share of the largest variance.
const ASYMMETRY: f64 = 1e-9;
/// This share of the largest variance is added to the diagonal before the test for positive definiteness, so that a
/// matrix that is positive semidefinite except for rounding errors passes the test.
const SEMIDEFINITE: f64 = 1e-8;

impl CovarianceMatrix {
    /// A matrix `[n, n]` from its rows, in squared units of the outcome; n is at least 1. It may be singular (positive
    /// semidefinite).
    ///
    /// # Errors
    /// [`GpError::NotSymmetric`] for n = 0, another shape than n x n, entries that are not finite, or entries that are not
    /// symmetric; [`GpError::NotPositiveDefinite`] if an eigenvalue is below -1e-8 times the largest variance, or if all
    /// variances are 0.
    pub fn new(n: usize, values: Vec<f64>) -> Result<Self, GpError> {
        let bad = |row, column| Err(GpError::NotSymmetric { order: n, row, column });
        if n == 0 || values.len() != n * n {
            return bad(0, 0);
        }
        let largest = (0..n).map(|i| values[i * n + i].abs()).fold(0.0, f64::max);
        for i in 0..n {
            for j in 0..=i {
                let (a, b) = (values[i * n + j], values[j * n + i]);
                if !a.is_finite() || !b.is_finite() || (a - b).abs() > ASYMMETRY * largest {
                    return bad(i, j);
                }
            }
        }
        let (mut values, mut lifted) = (values.clone(), values);
        (0..n).for_each(|i| lifted[i * n + i] += SEMIDEFINITE * largest);
        Cholesky::new(n, lifted)
            .map_err(|_| GpError::NotPositiveDefinite { order: n, jitter: SEMIDEFINITE * largest })?;
        // A variance may be below 0 by a rounding error.
        (0..n).for_each(|i| values[i * n + i] = values[i * n + i].max(0.0));
        Ok(Self { n, values })
    }

    /// A covariance matrix `[n, n]`, copied from a matrix of the crate faer; the requirements are
    /// those of [`Self::new`].
    ///
    /// # Errors
    /// Those of [`Self::new`].
    pub fn of_faer(matrix: MatRef<'_, f64>) -> Result<Self, GpError> {
        if matrix.nrows() != matrix.ncols() {
            let column = matrix.nrows().min(matrix.ncols());
            return Err(GpError::NotSymmetric { order: matrix.nrows(), row: 0, column });
        }
        Self::new(matrix.nrows(), row_major(matrix))
    }

    /// The matrix as a matrix of faer, `[n, n]`: a view, nothing is copied.
    #[must_use]
    pub fn as_faer(&self) -> MatRef<'_, f64> {
        MatRef::from_row_major_slice(&self.values, self.n, self.n)
    }

    /// Number of arms, n.
    #[must_use]
    pub fn n(&self) -> usize {
        self.n
    }

    /// One row: `[n]`. Each entry of the row differs from the corresponding entry of the column with the same index by at
    /// most 1e-9 times the largest variance.
    ///
    /// # Panics
    /// If there is no such arm.
    #[must_use]
    pub fn row(&self, index: usize) -> &[f64] {
        &self.values[index * self.n..][..self.n]
    }
}

impl ArmCovariance {
    /// The covariances that the function `covariance` gives for the inputs `points` of the arms,
    /// `[n, d]`.
    #[must_use]
    pub fn of_inputs(points: Arc<Points>, covariance: Covariance) -> Self {
        Self::Inputs { points, covariance }
    }

    /// Number of arms, n.
    #[must_use]
    pub fn n(&self) -> usize {
        match self {
            Self::Inputs { points, .. } => points.n(),
            Self::Matrix(matrix) => matrix.n,
        }
    }

    /// Prior covariance of two arms, in squared units of the outcome.
    ///
    /// # Panics
    /// If there are no such arms.
    #[must_use]
    pub fn between(&self, arm: usize, other: usize) -> f64 {
        match self {
            Self::Inputs { points, covariance } => covariance.between(points.row(arm), points.row(other)),
            Self::Matrix(matrix) => matrix.row(arm)[other],
        }
    }

    /// Prior variance of every arm: `[n]`, in squared units of the outcome.
    #[must_use]
    pub fn variances(&self) -> Vec<f64> {
        if let Self::Inputs { covariance, .. } = self
            && let Some(variance) = covariance.common_variance()
        {
            return vec![variance; self.n()];
        }
        (0..self.n()).map(|arm| self.between(arm, arm)).collect()
    }

    /// Writes the prior covariances of one arm with all arms into `out`, `[n]`.
    ///
    /// # Panics
    /// If there is no such arm, or `out` has another length.
    pub fn fill_column(&self, arm: usize, out: &mut [f64]) {
        match self {
            Self::Inputs { points, covariance } => covariance.fill_column(points, arm, out),
            Self::Matrix(matrix) => out.copy_from_slice(matrix.row(arm)),
        }
    }

    /// Writes the prior covariances of one arm with a block of arms into `out`, which has one place for each arm of the
    /// block.
    pub(super) fn fill_block(&self, arm: usize, block: usize, out: &mut [f64]) {
        match self {
            Self::Inputs { points, covariance } => covariance.fill_block(points, arm, block, out),
            Self::Matrix(matrix) => out.copy_from_slice(&matrix.row(arm)[block * BLOCK..][..out.len()]),
        }
    }

    /// The prior covariance matrix of all arms as a matrix of faer, `[n, n]`. O(n^2 d).
    #[must_use]
    pub fn to_faer(&self) -> Mat<f64> {
        MatRef::from_row_major_slice(&self.dense(), self.n(), self.n()).to_owned()
    }

    /// The prior covariance matrix of all arms, row by row: `[n, n]`. O(n^2 d).
    #[must_use]
    pub fn dense(&self) -> Vec<f64> {
        let n = self.n();
        let mut values = vec![0.0; n * n];
        for (arm, row) in values.chunks_mut(n.max(1)).enumerate() {
            self.fill_column(arm, row);
        }
        values
    }
}
