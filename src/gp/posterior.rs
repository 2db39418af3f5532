//! The exact posterior over all arms, one observation at a time.
//!
//! With L the Cholesky factor of K_t + noise I, row t of V = L^-1 k_t(.) is made from the rows before it, for all
//! arms at once: v_t = (k(x_t, .) - sum_s L_ts v_s) / L_tt, where L_ts = v_s(x_t) is read off the cache, so
//! nothing is solved. Then mean += v_t w_t and variance -= v_t^2. O(n t) per observation, in one pass over V.

use super::{ArmCovariance, ArmPosterior, GpError};
use crate::rng::Stream;
use std::f64::consts::TAU;

/// Largest jitter tried, as a share of the prior variance.
const LARGEST_JITTER: f64 = 1e-6;
/// First jitter tried, as a share of the prior variance.
const FIRST_JITTER: f64 = 1e-12;

/// Mean and variance of a Gaussian process at every arm, given noisy outcomes of some.
#[derive(Clone, Debug)]
pub struct Posterior {
    prior: ArmCovariance,
    /// Largest prior variance, the measure of what is numerically zero.
    scale: f64,
    prior_mean: f64,
    noise_variance: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// Rows of V, each n long.
    rows: Vec<Vec<f64>>,
    /// L_t,s of the new row, for s below t.
    factors: Vec<f64>,
    /// The arm observed and the square root of the pivot, for each row.
    played: Vec<(usize, f64)>,
    jitter: f64,
    log_likelihood: f64,
    information: f64,
}

impl Posterior {
    /// The prior: `prior_mean` everywhere.
    #[must_use]
    pub fn new(prior: ArmCovariance, noise_variance: f64, prior_mean: f64) -> Self {
        let variance = prior.variances();
        Self {
            mean: vec![prior_mean; prior.n()],
            scale: variance.iter().fold(0.0, |a: f64, &b| a.max(b)),
            variance,
            prior,
            prior_mean,
            noise_variance,
            rows: Vec::new(),
            factors: Vec::new(),
            played: Vec::new(),
            jitter: 0.0,
            log_likelihood: 0.0,
            information: 0.0,
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
        let mut new = vec![0.0; self.prior.n()];
        self.prior.fill_column(arm, &mut new);
        for (row, &factor) in self.rows.iter().zip(&self.factors) {
            for (value, &earlier) in new.iter_mut().zip(row) {
                *value -= factor * earlier;
            }
        }
        if self.noise_variance > 0.0 {
            self.information += 0.5 * libm::log1p(self.variance[arm] / self.noise_variance);
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
        self.played.push((arm, pivot.sqrt()));
        Ok(())
    }

    /// The square of L_tt, with as little jitter as it takes to be positive.
    fn pivot(&mut self, variance: f64) -> Result<f64, GpError> {
        let floor = f64::EPSILON * self.scale;
        let mut pivot = variance + self.noise_variance;
        let mut jitter = FIRST_JITTER * self.scale;
        while pivot <= floor {
            if jitter > LARGEST_JITTER * self.scale {
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
        let prior = self.prior.between(arm, other);
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

    /// Information gain of the arms observed, 1/2 log det(I + K / noise) in nats; 0 if there is no noise.
    #[must_use]
    pub fn information_gain(&self) -> f64 {
        self.information
    }

    /// One function of the posterior, made from one of the prior (zero mean, `prior_sample`) by Matheron's rule: the
    /// residuals of outcomes drawn from that function are taken for the outcomes that were seen. O(n t).
    ///
    /// # Panics
    /// If `prior_sample` does not hold one value per arm.
    #[must_use]
    pub fn sample(&self, prior_sample: &[f64], stream: &mut Stream) -> Vec<f64> {
        assert_eq!(prior_sample.len(), self.mean.len(), "one value per arm");
        let noise_sd = self.noise_variance.sqrt();
        // The mean is prior + V^T w with w = L^-1 (y - prior); the same weights of the drawn outcomes are taken off.
        let mut values: Vec<f64> =
            self.mean.iter().zip(prior_sample).map(|(mean, drawn)| mean + drawn).collect();
        let mut weights: Vec<f64> = Vec::with_capacity(self.rows.len());
        for (t, &(arm, root)) in self.played.iter().enumerate() {
            let drawn = prior_sample[arm] + noise_sd * stream.normal();
            let known = (0..t).fold(drawn, |sum, s| sum - self.rows[s][arm] * weights[s]);
            weights.push(known / root);
        }
        for (row, &weight) in self.rows.iter().zip(&weights) {
            for (value, &v) in values.iter_mut().zip(row) {
                *value -= weight * v;
            }
        }
        values
    }

    /// The same posterior in arm space. O(n^2 t).
    #[must_use]
    pub fn to_arm_space(&self) -> ArmPosterior {
        let n = self.mean.len();
        let mut covariance = self.prior.dense();
        for (i, out) in covariance.chunks_mut(n.max(1)).enumerate() {
            for row in &self.rows {
                let factor = row[i];
                for (value, &v) in out.iter_mut().zip(row) {
                    *value -= factor * v;
                }
            }
            out[i] = self.variance[i];
        }
        ArmPosterior::at(self.mean.clone(), covariance, self.noise_variance).with_history(
            self.rows.len(),
            self.log_likelihood,
            self.information,
        )
    }

    /// The prior covariance of the arms.
    #[must_use]
    pub fn prior(&self) -> &ArmCovariance {
        &self.prior
    }

    /// The prior mean.
    #[must_use]
    pub fn prior_mean(&self) -> f64 {
        self.prior_mean
    }
}
