//! The exact posterior as a mean and a triangular factor of the covariance over the arms, from which functions are drawn.
//!
//! Let S S^T be the covariance matrix, with S lower triangular. Let r, a column vector, hold the row of S that belongs to
//! arm a. Then S r is the vector of the covariances of arm a with all arms, and r^T r is the variance at arm a. An outcome
//! of arm a, with noise of variance v, changes the covariance matrix to S S^T - S r r^T S^T / (v + r^T r) = S M S^T, with
//! M = I - r r^T / (v + r^T r). The lower triangular T with M = T T^T is known in closed form, and S T is the new factor.
//! The new factor is computed column by column in O(n^2). No matrix is factorised again, and no variance is computed as a
//! difference.
//! Source: Carlson 1973, "Fast triangular formulation of the square root filter".

#![allow(
    clippy::needless_range_loop,
    reason = "without LTO, an iterator whose code is in another codegen unit is not inlined"
)]

use super::pivot::pivot;
use super::simd::multiversion;
use super::{Cholesky, GpError};
use crate::rng::Stream;

/// Mean and factor of the covariance of a Gaussian process over all arms, given noisy outcomes of some arms.
#[derive(Clone, Debug)]
pub struct FactoredPosterior {
    noise_variance: f64,
    /// Largest prior variance; variances far smaller than it count as zero.
    scale: f64,
    mean: Vec<f64>,
    /// The columns of S one after the other, each from its diagonal entry on.
    columns: Vec<f64>,
    /// The covariances of the arm observed last with all arms, as they were before the last outcome.
    covariances: Vec<f64>,
    observations: usize,
    jitter: f64,
}

/// Index of the first entry of column `j` of a lower triangle of order `n` that is stored column by
/// column.
#[inline(always)]
fn start(n: usize, j: usize) -> usize {
    j * (2 * n + 1 - j) / 2
}

multiversion! {
    /// Updates the columns of S for one outcome of an arm. `row` is the arm's row of S, up to and including the diagonal
    /// entry. `noise`, above 0, is the variance of the outcome's noise. `sums`, `[n]`, must hold zeros. Afterwards it holds
    /// the arm's covariances with all arms, as they were before this outcome.
    fn condition(columns: &mut [f64], sums: &mut [f64], row: &[f64], noise: f64) {
        let n = sums.len();
        let mut before = noise;
        for j in (0..row.len()).rev() {
            let r = row[j];
            let after = before + r * r;
            let (keep, take) = ((before / after).sqrt(), r / (before.sqrt() * after.sqrt()));
            before = after;
            let column = &mut columns[start(n, j)..][..n - j];
            let sums = &mut sums[j..];
            for i in 0..n - j {
                let old = column[i];
                column[i] = keep * old - take * sums[i];
                sums[i] += r * old;
            }
        }
    }

    /// Adds S z to `product`.
    fn times(columns: &[f64], z: &[f64], product: &mut [f64]) {
        let n = product.len();
        for j in 0..n {
            let column = &columns[start(n, j)..][..n - j];
            let product = &mut product[j..];
            for i in 0..n - j {
                product[i] += column[i] * z[j];
            }
        }
    }
}

impl FactoredPosterior {
    /// The Gaussian process before any outcome, with the mean `mean`, `[n]` and in units of the outcome, and the covariance
    /// matrix whose Cholesky factor is `factor`, `[n, n]`. The construction takes O(n^2) time, and the factor is stored as
    /// n (n + 1) / 2 numbers.
    ///
    /// `noise_variance` is the variance of the noise on an outcome, above 0, in squared units of the outcome.
    ///
    /// # Panics
    /// If `mean` has another length than the factor.
    #[must_use]
    pub fn new(factor: &Cholesky, noise_variance: f64, mean: Vec<f64>) -> Self {
        let n = factor.n();
        assert_eq!(mean.len(), n, "one mean per arm");
        let mut columns = Vec::with_capacity(n * (n + 1) / 2);
        (0..n).for_each(|j| columns.extend_from_slice(factor.column(j)));
        let variance = |arm: usize| -> f64 {
            (0..=arm).map(|j| columns[start(n, j) + arm - j]).map(|entry| entry * entry).sum()
        };
        let scale = (0..n).map(variance).fold(0.0, f64::max);
        let (covariances, jitter) = (vec![0.0; n], factor.jitter());
        Self { noise_variance, scale, mean, columns, covariances, observations: 0, jitter }
    }

    /// Updates the covariance, but not the mean, for one more outcome of this arm; returns the variance of the outcome.
    /// Afterwards, [`Self::covariances`] holds the arm's covariances with all arms, as they were before this update.
    fn narrow(&mut self, arm: usize) -> Result<f64, GpError> {
        let n = self.mean.len();
        let row: Vec<f64> = (0..=arm).map(|j| self.columns[start(n, j) + arm - j]).collect();
        let variance: f64 = row.iter().map(|entry| entry * entry).sum();
        let pivot = pivot(variance, self.noise_variance, self.scale, self.observations + 1)?;
        self.jitter = self.jitter.max(pivot.jitter);
        self.covariances.fill(0.0);
        condition(&mut self.columns, &mut self.covariances, &row, self.noise_variance + pivot.jitter);
        self.observations += 1;
        Ok(pivot.value)
    }

    /// Updates the covariance for outcomes of these arms, in this order, and keeps the mean. `jitter` is the largest
    /// jitter that these outcomes needed when they were first observed. O(n^2) for each arm.
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`], as in [`Self::observe`].
    pub(super) fn after(mut self, arms: &[usize], jitter: f64) -> Result<Self, GpError> {
        arms.iter().try_for_each(|&arm| self.narrow(arm).map(drop))?;
        self.jitter = self.jitter.max(jitter);
        Ok(self)
    }

    /// Adds the outcome of one arm, in units of the outcome. O(n^2).
    ///
    /// # Errors
    /// [`GpError::OutcomeNotFinite`]; [`GpError::NotPositiveDefinite`] if the arm's variance and the noise are both
    /// numerically zero and the largest jitter does not help.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        let residual = outcome - self.mean[arm];
        let weight = residual / self.narrow(arm)?;
        self.mean
            .iter_mut()
            .zip(&self.covariances)
            .for_each(|(mean, covariance)| *mean += covariance * weight);
        Ok(())
    }

    /// Posterior mean at every arm: `[n]`, in units of the outcome.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Posterior covariance of the function between two arms, in squared units of the outcome. O(n).
    ///
    /// # Panics
    /// If one of the arms does not exist.
    #[must_use]
    pub fn covariance(&self, arm: usize, other: usize) -> f64 {
        let n = self.mean.len();
        assert!(arm < n && other < n, "there are {n} arms: no arm {}", arm.max(other));
        let entry = |arm: usize, j: usize| self.columns[start(n, j) + arm - j];
        (0..=arm.min(other)).map(|j| entry(arm, j) * entry(other, j)).sum()
    }

    /// A random function drawn from the posterior, minus the mean: `[n]`, in units of the outcome, from n standard
    /// normals of `stream`. O(n^2).
    #[must_use]
    pub fn deviation(&self, stream: &mut Stream) -> Vec<f64> {
        let n = self.mean.len();
        let mut z = vec![0.0; n];
        stream.fill_normal(&mut z);
        let mut product = vec![0.0; n];
        times(&self.columns, &z, &mut product);
        product
    }

    /// The largest jitter, in squared units of the outcome, that was added to the variance of an outcome or to the diagonal
    /// of the prior covariance matrix; 0 if none was needed.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Number of outcomes so far, t.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.observations
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::catch_unwind;

    #[test]
    fn arms_that_do_not_exist_have_no_covariance() {
        let prior = Cholesky::new(3, vec![2.0, 0.5, 0.1, 0.5, 1.0, 0.3, 0.1, 0.3, 1.5]).unwrap();
        let posterior = FactoredPosterior::new(&prior, 0.1, vec![0.0; 3]);
        assert!(
            (posterior.covariance(2, 1) - 0.3).abs() < 1e-15
                && (posterior.covariance(0, 0) - 2.0).abs() < 1e-15
        );
        for (arm, other) in [(3, 0), (0, 3), (2, 4), (3, 3)] {
            assert!(catch_unwind(|| posterior.covariance(arm, other)).is_err(), "{arm} {other}");
        }
    }
}
