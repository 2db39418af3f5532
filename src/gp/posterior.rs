//! The exact posterior over all arms, one observation at a time.
//!
//! K_t is the prior covariance matrix of the t arms observed (repetitions included), k_t(.) their covariances with all arms,
//! noise the noise variance, and L the Cholesky factor of K_t + noise I. Let V = L^-1 k_t(.), with one row per outcome and
//! one column per arm. Row t of the equation L V = k_t(.), for the arm x_t observed last, gives row v_t of V from the rows
//! s < t, for all arms at once: v_t = (k(x_t, .) - sum_s L_ts v_s) / L_tt. For s < t, the Cholesky recursion that defines
//! L_ts is L_ts = (k(x_s, x_t) - sum_u L_su L_tu) / L_ss, over u < s. The equation for row v_s, at the arm x_t, is the same
//! with v_s(x_t) and v_u(x_t) in place of L_ts and L_tu. So L_ts = v_s(x_t) is an entry of V, and no linear system is
//! solved. Then mean += v_t w_t, with w_t = (y_t - mean(x_t)) / L_tt for the outcome y_t, and variance -= v_t^2. For n arms,
//! an observation takes O(n t) time, in one pass over V.

use super::blocks::{BLOCK, Blocks};
use super::pivot::pivot;
use super::simd::multiversion;
use super::{ArmCovariance, ArmPosterior, Cholesky, FactoredPosterior, GpError};
use crate::rng::Stream;
use std::f64::consts::TAU;

multiversion! {
    /// Divides `new`, the numerators of the new row of V, by L_tt = 1 / `inverse`, and updates mean and variance with the
    /// new row; `weight` is w_t.
    fn update(new: &mut [f64], mean: &mut [f64], variance: &mut [f64], inverse: f64, weight: f64) {
        for ((value, mean), variance) in new.iter_mut().zip(mean).zip(variance) {
            *value *= inverse;
            *mean += *value * weight;
            let less = *variance - *value * *value;
            *variance = if less > 0.0 { less } else { 0.0 };
        }
    }
}

/// Mean and variance of a Gaussian process at every arm, given noisy outcomes of some arms.
#[derive(Clone, Debug)]
pub struct Posterior {
    prior: ArmCovariance,
    /// Largest prior variance; variances far smaller than it count as zero.
    scale: f64,
    prior_mean: f64,
    noise_variance: f64,
    mean: Vec<f64>,
    variance: Vec<f64>,
    /// The rows of V.
    blocks: Blocks,
    /// L_ts of the new row t, for all earlier rows s.
    factors: Vec<f64>,
    /// The arm observed and L_tt, the square root of the pivot, for each row t.
    played: Vec<(usize, f64)>,
    jitter: f64,
    log_likelihood: f64,
    information: f64,
}

impl Posterior {
    /// The prior over the n arms of `prior`.
    ///
    /// `noise_variance` is the variance of the noise on an outcome, at least 0, in squared units of the outcome;
    /// `prior_mean` is the same at every arm, in units of the outcome.
    #[must_use]
    pub fn new(prior: ArmCovariance, noise_variance: f64, prior_mean: f64) -> Self {
        let variance = prior.variances();
        Self {
            mean: vec![prior_mean; prior.n()],
            scale: variance.iter().fold(0.0, |a: f64, &b| a.max(b)),
            variance,
            prior_mean,
            noise_variance,
            blocks: Blocks::new(prior.n()),
            prior,
            factors: Vec::new(),
            played: Vec::new(),
            jitter: 0.0,
            log_likelihood: 0.0,
            information: 0.0,
        }
    }

    /// Adds the outcome of one arm, in units of the outcome. O(n t).
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
        self.factors.clear();
        self.factors.extend((0..self.played.len()).map(|s| self.blocks.at(s, arm)));
        let pivot = pivot(self.variance[arm], self.noise_variance, self.scale, self.played.len() + 1)?;
        self.jitter = self.jitter.max(pivot.jitter);
        let pivot = pivot.value;
        if self.noise_variance > 0.0 {
            self.information += 0.5 * libm::log1p(self.variance[arm] / self.noise_variance);
        }
        let inverse = 1.0 / pivot.sqrt();
        let weight = (outcome - self.mean[arm]) * inverse;
        self.log_likelihood -= 0.5 * (weight * weight + libm::log(TAU * pivot));
        // The arms are updated block by block: a block's part of the new row stays in the first-level cache while the
        // block's part of V is read. So V is read once.
        let mut buffer = [0.0; BLOCK];
        let models = self.mean.chunks_mut(BLOCK).zip(self.variance.chunks_mut(BLOCK));
        for (block, (mean, variance)) in models.enumerate() {
            let arms = mean.len();
            self.prior.fill_block(arm, block, &mut buffer[..arms]);
            self.blocks.subtract(block, &self.factors, &mut buffer);
            update(&mut buffer[..arms], mean, variance, inverse, weight);
            self.blocks.push(block, &buffer);
        }
        self.played.push((arm, pivot.sqrt()));
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

    /// Posterior covariance of the function between two arms, in squared units of the outcome. O(t).
    ///
    /// # Panics
    /// If there are no such arms.
    #[must_use]
    pub fn covariance(&self, arm: usize, other: usize) -> f64 {
        let prior = self.prior.between(arm, other);
        (0..self.played.len()).fold(prior, |sum, s| sum - self.blocks.at(s, arm) * self.blocks.at(s, other))
    }

    /// Log density of all outcomes so far under the model, in nats, computed as a sum: each outcome adds its log density
    /// given the outcomes before it. Rasmussen and Williams 2006, equation 2.30.
    #[must_use]
    pub fn log_marginal_likelihood(&self) -> f64 {
        self.log_likelihood
    }

    /// Number of outcomes so far, t.
    #[must_use]
    pub fn observations(&self) -> usize {
        self.played.len()
    }

    /// The largest jitter that was added to the variance of an outcome, in squared units of the outcome: at most 1e-6
    /// of the largest prior variance; 0 if none was needed.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.jitter
    }

    /// Information gain of the arms observed, 1/2 log det(I + K / noise) in nats, with K their prior covariance matrix and
    /// noise the noise variance; 0 if there is no noise. Srinivas et al. 2010, equation 3.
    #[must_use]
    pub fn information_gain(&self) -> f64 {
        self.information
    }

    /// A random function drawn from the posterior, `[n]`, in units of the outcome. It is computed by Matheron's rule from
    /// `prior_sample`, `[n]`, a draw of the prior with mean 0 and in the same units: the prior sample is corrected by the
    /// difference between the observed outcomes and outcomes drawn from the prior sample. It takes O(n t) time and t
    /// standard normals of `stream`. Source: Wilson et al. 2020, "Efficiently sampling functions from Gaussian process
    /// posteriors".
    ///
    /// # Panics
    /// If `prior_sample` does not hold one value per arm.
    #[must_use]
    pub fn sample(&self, prior_sample: &[f64], stream: &mut Stream) -> Vec<f64> {
        assert_eq!(prior_sample.len(), self.mean.len(), "one value per arm");
        let noise_sd = self.noise_variance.sqrt();
        // Let f be the prior sample, z_t = f(x_t) + e_t the outcomes drawn from f with drawn noise e_t, and w' = L^-1 z. The
        // posterior mean is the prior mean + V^T w, with w = L^-1 (y - prior mean). So the result is f + prior mean +
        // V^T (w - w') = (f - V^T w') + posterior mean. With sums over s < t, w'_t = (z_t - sum_s L_ts w'_s) / L_tt. As
        // L_ts = v_s(x_t), the numerator is e_t plus `left`, the value of f - sum_s v_s w'_s at x_t. So no linear system is
        // solved.
        let arms: Vec<usize> = self.played.iter().map(|&(arm, _)| arm).collect();
        let mut values = prior_sample.to_vec();
        self.blocks
            .eliminate(&arms, &mut values, |t, left| (left + noise_sd * stream.normal()) / self.played[t].1);
        values.iter_mut().zip(&self.mean).for_each(|(value, mean)| *value += mean);
        values
    }

    /// The same posterior, with the covariance matrix of all arms, `[n, n]`, stored in full. O(n^2 t), and O(n^2) in
    /// memory.
    #[must_use]
    pub fn to_arm_space(&self) -> ArmPosterior {
        let n = self.mean.len();
        let mut covariance = self.prior.dense();
        for (i, out) in covariance.chunks_mut(n.max(1)).enumerate() {
            let factors: Vec<f64> = (0..self.played.len()).map(|s| self.blocks.at(s, i)).collect();
            self.blocks.subtract_all(&factors, out);
            out[i] = self.variance[i];
        }
        ArmPosterior::at(self.mean.clone(), covariance, self.noise_variance).with_history(
            (self.played.len(), self.log_likelihood, self.information),
            (self.scale, self.jitter),
        )
    }

    /// The same posterior, with a triangular factor of its covariance, which is computed from `prior`, the Cholesky factor
    /// of the prior covariance, `[n, n]`. O(n^2 t), and O(n^2) in memory.
    ///
    /// # Errors
    /// Those of [`FactoredPosterior::observe`].
    ///
    /// # Panics
    /// If there is no noise, or if `prior` has another order than n.
    pub fn to_factor(&self, prior: &Cholesky) -> Result<FactoredPosterior, GpError> {
        assert!(self.noise_variance > 0.0, "without noise the covariance is singular");
        let arms: Vec<usize> = self.played.iter().map(|&(arm, _)| arm).collect();
        FactoredPosterior::new(prior, self.noise_variance, self.mean.clone()).after(&arms, self.jitter)
    }

    /// The prior covariance of the n arms, in squared units of the outcome.
    #[must_use]
    pub fn prior(&self) -> &ArmCovariance {
        &self.prior
    }

    /// The prior mean, in units of the outcome.
    #[must_use]
    pub fn prior_mean(&self) -> f64 {
        self.prior_mean
    }
}
