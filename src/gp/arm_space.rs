//! The exact posterior in arm space: a mean and a covariance matrix over the arms, whatever the number of outcomes.
//!
//! One outcome y of arm a is one rank-1 update. Let s be the column of arm a in the covariance matrix, s_a the entry of s
//! for arm a, and g the sum of s_a and the noise variance. Then mean += s (y - mean_a) / g and covariance -= s s^T / g. For
//! n arms an update takes O(n^2) time, and the matrix O(n^2) memory. When there are more outcomes than arms, such an update
//! is faster than an update of [`super::Posterior`], which keeps one row per outcome.

use super::pivot::pivot;
use super::simd::multiversion;
use super::vectors::subtract_multiple;
use super::{ArmCovariance, Cholesky, GpError};
use crate::rng::Stream;
use std::f64::consts::TAU;

/// Mean and covariance of a Gaussian process over all arms, given noisy outcomes of some arms.
#[derive(Clone, Debug)]
pub struct ArmPosterior {
    n: usize,
    noise_variance: f64,
    mean: Vec<f64>,
    /// The diagonal of `covariance`, stored separately because learners read it every round.
    variance: Vec<f64>,
    covariance: Vec<f64>,
    column: Vec<f64>,
    observations: usize,
    /// Largest prior variance; variances far smaller than it count as zero.
    scale: f64,
    jitter: f64,
    log_likelihood: f64,
    information: f64,
}

multiversion! {
    /// covariance -= s s^T / pivot, with the diagonal kept at zero or above and copied to `variance`.
    fn downdate(covariance: &mut [f64], variance: &mut [f64], s: &[f64], pivot: f64) {
        let n = s.len();
        for (i, (row, variance)) in covariance.chunks_exact_mut(n).zip(variance).enumerate() {
            let factor = s[i] / pivot;
            subtract_multiple(row, factor, s);
            row[i] = row[i].max(0.0);
            *variance = row[i];
        }
    }
}

impl ArmPosterior {
    /// The prior over the n arms of `prior`; O(n^2) in memory.
    ///
    /// `noise_variance` is the variance of the noise on an outcome, at least 0, in squared units of the outcome;
    /// `prior_mean` is the same at every arm, in units of the outcome.
    #[must_use]
    pub fn new(prior: &ArmCovariance, noise_variance: f64, prior_mean: f64) -> Self {
        let n = prior.n();
        Self::at(vec![prior_mean; n], prior.dense(), noise_variance)
    }

    /// A Gaussian process with this mean and this covariance matrix (by rows).
    pub(super) fn at(mean: Vec<f64>, covariance: Vec<f64>, noise_variance: f64) -> Self {
        let n = mean.len();
        let variance: Vec<f64> = (0..n).map(|arm| covariance[arm * n + arm]).collect();
        let scale = variance.iter().fold(0.0, |a: f64, &b| a.max(b));
        Self {
            n,
            noise_variance,
            mean,
            variance,
            covariance,
            column: vec![0.0; n],
            observations: 0,
            scale,
            jitter: 0.0,
            log_likelihood: 0.0,
            information: 0.0,
        }
    }

    /// Takes over the state of the posterior before the change to arm space: number, log density and information gain of
    /// the outcomes so far, largest prior variance, and largest jitter.
    pub(super) fn with_history(
        mut self,
        (observations, log_likelihood, information): (usize, f64, f64),
        (scale, jitter): (f64, f64),
    ) -> Self {
        self.scale = scale;
        self.jitter = jitter;
        self.observations = observations;
        self.log_likelihood = log_likelihood;
        self.information = information;
        self
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
        let n = self.n;
        let pivot = pivot(self.variance[arm], self.noise_variance, self.scale, self.observations + 1)?;
        self.jitter = self.jitter.max(pivot.jitter);
        let pivot = pivot.value;
        let residual = outcome - self.mean[arm];
        self.log_likelihood -= 0.5 * (residual * residual / pivot + libm::log(TAU * pivot));
        if self.noise_variance > 0.0 {
            self.information += 0.5 * libm::log1p(self.variance[arm] / self.noise_variance);
        }
        self.column.copy_from_slice(&self.covariance[arm * n..][..n]);
        let weight = residual / pivot;
        for (mean, &s) in self.mean.iter_mut().zip(&self.column) {
            *mean += s * weight;
        }
        downdate(&mut self.covariance, &mut self.variance, &self.column, pivot);
        self.observations += 1;
        Ok(())
    }

    /// Posterior mean at every arm: `[n]`, in units of the outcome. Rasmussen and Williams 2006, equation 2.25.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Posterior variance of the function (without noise) at every arm: `[n]`, at least 0, in squared units of the
    /// outcome. Rasmussen and Williams 2006, equation 2.26.
    #[must_use]
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    /// Posterior covariance of the function between two arms, in squared units of the outcome.
    ///
    /// # Panics
    /// If there are no such arms.
    #[must_use]
    pub fn covariance(&self, arm: usize, other: usize) -> f64 {
        self.covariance[arm * self.n..][..self.n][other]
    }

    /// A random function drawn from the posterior: its values `[n]`, in units of the outcome, and the jitter that the
    /// factorisation needed, in squared units of the outcome. It takes O(n^3) time and n standard normals of `stream`.
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`] if 1e-6 of the largest variance is not enough jitter.
    pub fn sample(&self, stream: &mut Stream) -> Result<(Vec<f64>, f64), GpError> {
        let factor = self.factor()?;
        let mut z = vec![0.0; self.n];
        stream.fill_normal(&mut z);
        let mut values = factor.times(&z);
        values.iter_mut().zip(&self.mean).for_each(|(value, mean)| *value += mean);
        Ok((values, factor.jitter()))
    }

    /// Cholesky factor, in units of the outcome, of the posterior covariance matrix `[n, n]`, with the smallest
    /// sufficient jitter. O(n^3).
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`] if 1e-6 of the largest variance is not enough jitter.
    pub fn factor(&self) -> Result<Cholesky, GpError> {
        Cholesky::with_jitter(self.n, &self.covariance)
    }

    /// Log density of all outcomes so far under the model, in nats, computed as a sum: each outcome adds its log density
    /// given the outcomes before it. Rasmussen and Williams 2006, equation 2.30.
    #[must_use]
    pub fn log_marginal_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Information gain of the arms observed, 1/2 log det(I + K / noise) in nats, with K their prior covariance matrix and
    /// noise the noise variance; 0 if there is no noise. Srinivas et al. 2010, equation 3.
    #[must_use]
    pub fn information_gain(&self) -> f64 {
        self.information
    }

    /// The largest jitter that was added to the variance of an outcome, in squared units of the outcome: at most 1e-6
    /// of the largest prior variance; 0 if none was needed.
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
