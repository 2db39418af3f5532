//! The exact posterior over all arms, one observation at a time.
//!
//! With L the Cholesky factor of K_t + noise I, row t of V = L^-1 k_t(.) is made from the rows before it, for all
//! arms at once: v_t = (k(x_t, .) - sum_s L_ts v_s) / L_tt, where L_ts = v_s(x_t) is read off the cache, so
//! nothing is solved. Then mean += v_t w_t and variance -= v_t^2. O(n t) per observation, in one pass over V.

use super::covariance::Covariance;
use super::{GpError, Points};
use std::f64::consts::TAU;
use std::sync::Arc;

/// Largest jitter tried, as a share of the prior variance.
const LARGEST_JITTER: f64 = 1e-6;
/// First jitter tried, as a share of the prior variance.
const FIRST_JITTER: f64 = 1e-12;

/// Mean and variance of a Gaussian process at every arm, given noisy outcomes of some.
#[derive(Clone, Debug)]
pub struct Posterior {
    points: Arc<Points>,
    covariance: Covariance,
    noise_variance: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// Rows of V, each n long.
    rows: Vec<Vec<f64>>,
    /// L_t,s of the new row, for s below t.
    factors: Vec<f64>,
    jitter: f64,
    log_likelihood: f64,
}

impl Posterior {
    /// The prior: `prior_mean` everywhere.
    #[must_use]
    pub fn new(points: Arc<Points>, covariance: Covariance, noise_variance: f64, prior_mean: f64) -> Self {
        let n = points.n();
        Self {
            mean: vec![prior_mean; n],
            variance: vec![covariance.variance; n],
            points,
            covariance,
            noise_variance,
            rows: Vec::new(),
            factors: Vec::new(),
            jitter: 0.0,
            log_likelihood: 0.0,
        }
    }

    /// Takes in the outcome of one arm.
    ///
    /// # Errors
    /// [`GpError::OutcomeNotFinite`]; [`GpError::NotPositiveDefinite`] if the arm's variance and the noise are both
    /// numerically zero and the largest jitter does not help.
    pub fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        self.factors.clear();
        self.factors.extend(self.rows.iter().map(|row| row[arm]));
        let pivot = self.pivot(self.variance[arm])?;
        let mut new = vec![0.0; self.points.n()];
        self.covariance.fill_column(&self.points, arm, &mut new);
        for (row, &factor) in self.rows.iter().zip(&self.factors) {
            for (value, &earlier) in new.iter_mut().zip(row) {
                *value -= factor * earlier;
            }
        }
        let inverse = 1.0 / pivot.sqrt();
        let weight = (outcome - self.mean[arm]) * inverse;
        self.log_likelihood -= 0.5 * (weight * weight + libm::log(TAU * pivot));
        for ((value, mean), variance) in new.iter_mut().zip(&mut self.mean).zip(&mut self.variance) {
            *value *= inverse;
            *mean += *value * weight;
            *variance = (*variance - *value * *value).max(0.0);
        }
        self.rows.push(new);
        Ok(())
    }

    /// The square of L_tt, with as little jitter as it takes to be positive.
    fn pivot(&mut self, variance: f64) -> Result<f64, GpError> {
        let floor = f64::EPSILON * self.covariance.variance;
        let mut pivot = variance + self.noise_variance;
        let mut jitter = FIRST_JITTER * self.covariance.variance;
        while pivot <= floor {
            if jitter > LARGEST_JITTER * self.covariance.variance {
                return Err(GpError::NotPositiveDefinite { order: self.rows.len() + 1, jitter });
            }
            pivot = variance + self.noise_variance + jitter;
            self.jitter = self.jitter.max(jitter);
            jitter *= 10.0;
        }
        Ok(pivot)
    }

    /// Posterior mean at every arm.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Posterior variance of the function (without noise) at every arm; never negative.
    #[must_use]
    pub fn variance(&self) -> &[f64] {
        &self.variance
    }

    /// Posterior covariance of the function between two arms.
    ///
    /// # Panics
    /// If there are no such arms.
    #[must_use]
    pub fn covariance(&self, arm: usize, other: usize) -> f64 {
        let prior = self.covariance.at(self.points.squared_distance(arm, other));
        self.rows.iter().fold(prior, |sum, row| sum - row[arm] * row[other])
    }

    /// Log density of all outcomes taken in, in their order, under the model.
    #[must_use]
    pub fn log_marginal_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Number of outcomes taken in.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.rows.len()
    }

    /// The largest jitter that was added to a diagonal; 0 if none was needed.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.jitter
    }
}
