//! An exact posterior from which functions are drawn, in the faster of two representations: one row per outcome while
//! outcomes are few, then a triangular factor of the covariance over the arms.

use super::pivot::needs_jitter;
use super::{ArmCovariance, Cholesky, FactoredPosterior, GpError, MAX_ARMS, Posterior};
use crate::rng::Stream;
use std::sync::Arc;

/// An exact posterior over n arms that also holds the Cholesky factor of the prior covariance. When there are more outcomes
/// than arms, the posterior changes its representation from rows to a factor of the covariance. From then on, the time that
/// an outcome or a draw takes no longer grows with the number of outcomes. Without noise, or with more than 5,000 arms, the
/// representation never changes.
///
/// The change is made at a fixed number of outcomes, so the time of the change does not depend on a run's random numbers.
#[derive(Clone, Debug)]
pub struct JointPosterior {
    /// Factor of the prior covariance; models of several agents may share it.
    prior: Arc<Cholesky>,
    noise_variance: f64,
    form: Form,
}

#[derive(Clone, Debug)]
enum Form {
    Rows(Box<Posterior>),
    Factor(Box<FactoredPosterior>),
}

impl JointPosterior {
    /// The prior over the n arms of `covariance`; `prior` is the Cholesky factor, `[n, n]`, of that covariance.
    ///
    /// `noise_variance` is the variance of the noise on an outcome, at least 0, in squared units of the outcome;
    /// `prior_mean` is the same at every arm, in units of the outcome.
    #[must_use]
    pub fn new(
        covariance: ArmCovariance,
        prior: Arc<Cholesky>,
        noise_variance: f64,
        prior_mean: f64,
    ) -> Self {
        let rows = Posterior::new(covariance, noise_variance, prior_mean);
        Self { prior, noise_variance, form: Form::Rows(Box::new(rows)) }
    }

    /// Whether no outcome ever needs jitter, because the noise alone gives each outcome a variance that is large enough
    /// compared with the largest prior variance (both in squared units of the outcome).
    pub(crate) fn needs_no_jitter(largest_variance: f64, noise_variance: f64) -> bool {
        !needs_jitter(noise_variance, largest_variance)
    }

    /// Adds the outcome of one arm, in units of the outcome. Adding an outcome to t earlier outcomes takes O(n t) while t is
    /// below n, and O(n^2) after that; the change of representation takes O(n^3). Without noise, or with more than 5,000
    /// arms, adding an outcome always takes O(n t).
    ///
    /// # Errors
    /// Those of [`Posterior::observe`].
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if let Form::Rows(rows) = &self.form {
            let n = rows.mean().len();
            if rows.observations() >= n && n <= MAX_ARMS && self.noise_variance > 0.0 {
                self.form = Form::Factor(Box::new(rows.to_factor(&self.prior)?));
            }
        }
        match &mut self.form {
            Form::Rows(rows) => rows.observe(arm, outcome),
            Form::Factor(factor) => factor.observe(arm, outcome),
        }
    }

    /// Posterior mean at every arm: `[n]`, in units of the outcome.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        match &self.form {
            Form::Rows(rows) => rows.mean(),
            Form::Factor(factor) => factor.mean(),
        }
    }

    /// A draw from N(mean, scale^2 covariance), with a dimensionless `scale`, at every arm: `[n]`, in units of the
    /// outcome. It takes n standard normals of `stream`, and, before the change of representation, one more for each of
    /// the t outcomes. O(n^2 + n t) before the change, O(n^2) after it.
    #[must_use]
    pub fn draw(&self, scale: f64, stream: &mut Stream) -> Vec<f64> {
        match &self.form {
            Form::Rows(rows) => {
                let mean = rows.mean();
                let mut z = vec![0.0; mean.len()];
                stream.fill_normal(&mut z);
                let mut draw = rows.sample(&self.prior.times(&z), stream);
                draw.iter_mut().zip(mean).for_each(|(draw, mean)| *draw = mean + scale * (*draw - mean));
                draw
            }
            Form::Factor(factor) => {
                let mut draw = factor.deviation(stream);
                draw.iter_mut().zip(factor.mean()).for_each(|(draw, mean)| *draw = mean + scale * *draw);
                draw
            }
        }
    }

    /// The largest jitter, in squared units of the outcome, that was added to the variance of an outcome or to the diagonal
    /// of the prior covariance matrix; 0 if none was needed.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        match &self.form {
            Form::Rows(rows) => rows.jitter().max(self.prior.jitter()),
            Form::Factor(factor) => factor.jitter(),
        }
    }

    /// Number of outcomes so far, t.
    #[must_use]
    pub fn observations(&self) -> usize {
        match &self.form {
            Form::Rows(rows) => rows.observations(),
            Form::Factor(factor) => factor.observations(),
        }
    }
}
