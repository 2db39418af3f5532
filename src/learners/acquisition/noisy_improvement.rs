//! Noisy expected improvement: the expected improvement over the best of the points with outcomes, where the function's
//! values at these points are unknown because outcomes have noise.

use super::score::log_improvement;
use super::surface::Surface;
use crate::gp::{Cholesky, GpError, PointPosterior, dot, largest};
use crate::rng::{Key, sobol};
use crate::special::normal_quantile;

/// Noise variance, as a share of the prior variance, with which the model is conditioned on values of the function at the
/// points with outcomes. Without this noise, the covariance matrix of nearly equal points would be numerically singular.
const NUGGET: f64 = 1e-7;
/// Smallest standard deviation at a point, as a share of the prior standard deviation; smaller ones are replaced by it.
const LEAST_SD: f64 = 1e-8;

/// ln E max(f(x) - max_i f(x_i), 0), with the expectation over the joint posterior of f at x and at the points x_i with
/// outcomes.
///
/// The values at the points x_i are drawn jointly from the posterior, M times, with quasi-random base samples that stay the
/// same for all x. Given one draw, the expectation over f(x) is the expected improvement of a model that knows the drawn
/// values; it has a closed form. A base sample has one number for each point x_i, and is made from a Sobol' point, which has
/// at most [`sobol::MOST_DIMENSIONS`] dimensions. If there are more points x_i than this, the numbers of the points with the
/// largest mean + sd are quasi-random, and the numbers of the remaining points are pseudo-random.
///
/// Source: Letham, Karrer, Ottoni and Bakshy 2019, "Constrained Bayesian optimization with noisy experiments" (Bayesian
/// Analysis 14:495-519), equations 5 and 6; the logarithm as by Ament et al. 2023.
pub(super) struct NoisyImprovement {
    /// The model that knows the values at the points with outcomes.
    exact: PointPosterior,
    draws: Vec<Draw>,
    least_sd: f64,
}

/// One draw of the values at the points with outcomes.
struct Draw {
    /// `[t]`: given the drawn values, the mean at x is the prior mean plus the inner product of these weights and k(x), the
    /// prior covariances of x with the t points with outcomes.
    weights: Vec<f64>,
    /// The largest of the values.
    best: f64,
}

impl NoisyImprovement {
    /// The acquisition function with `samples` draws of the values at the points with outcomes.
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`] if a covariance matrix of the points with outcomes cannot be factorised.
    pub(super) fn new(posterior: &PointPosterior, samples: usize, key: Key) -> Result<Self, GpError> {
        Self::with_base(posterior, &base_samples(samples, posterior.observations(), key))
    }

    /// The acquisition function with these base samples, `[M][t]`. Each of the M base samples holds t standard normals, one
    /// for each point with an outcome, in the order of decreasing mean + sd of the points.
    pub(super) fn with_base(posterior: &PointPosterior, base: &[Vec<f64>]) -> Result<Self, GpError> {
        let (t, covariance) = (posterior.observations(), posterior.covariance());
        let models: Vec<(f64, f64)> = (0..t).map(|index| posterior.at(posterior.point(index))).collect();
        let bound = |index: usize| models[index].0 + models[index].1.sqrt();
        let mut order: Vec<usize> = (0..t).collect();
        order.sort_by(|&a, &b| bound(b).total_cmp(&bound(a)));
        // `joint` is the posterior covariance matrix of the values at the points with outcomes, in the order `order`.
        let prior: Vec<Vec<f64>> =
            order.iter().map(|&i| posterior.prior_covariances(posterior.point(i))).collect();
        let mut joint = vec![0.0; t * t];
        for (row, k) in prior.iter().enumerate() {
            let weights = posterior.solve(k.clone());
            for (column, other) in prior.iter().enumerate().take(row + 1) {
                let value = k[order[column]] - dot(&weights, other);
                joint[row * t + column] = value;
                joint[column * t + row] = value;
            }
        }
        let factor = Cholesky::with_jitter(t, &joint)?;
        let nugget = NUGGET * covariance.variance;
        let mut exact =
            PointPosterior::new(covariance.clone(), posterior.d(), nugget, posterior.prior_mean());
        let points: Vec<f64> = (0..t).flat_map(|index| posterior.point(index).to_vec()).collect();
        exact.extend(&points, models.iter().map(|(mean, _)| *mean).collect())?;
        let draws = base.iter().map(|z| {
            let mut values: Vec<f64> = models.iter().map(|(mean, _)| *mean).collect();
            order.iter().zip(factor.times(z)).for_each(|(&index, deviation)| values[index] += deviation);
            let best = values.get(largest(&values)).copied().unwrap_or(posterior.prior_mean());
            let centred = values.iter().map(|value| value - posterior.prior_mean()).collect();
            Draw { weights: exact.solve(centred), best }
        });
        let draws = draws.collect();
        Ok(Self { exact, draws, least_sd: LEAST_SD * covariance.variance.sqrt() })
    }

    /// The standard deviation at x of the model `exact`, but at least `least_sd`; and (K + nugget I)^-1 k(x), where K is the
    /// prior covariance matrix of the points with outcomes and nugget is the noise variance of `exact`. `k` is k(x).
    fn sd(&self, x: &[f64], k: &[f64]) -> (f64, Vec<f64>) {
        let weights = self.exact.solve(k.to_vec());
        let variance = self.exact.covariance().between(x, x) - dot(&weights, k);
        (variance.max(0.0).sqrt().max(self.least_sd), weights)
    }

    /// For each draw: ln h(z), z, and the derivative of ln h at z. Here z = (mean - best) / sd, where mean is the mean at x
    /// given the draw, best is the draw's largest value and sd is the standard deviation at x. h(z) = E max(z + Z, 0) with Z
    /// standard normal.
    fn improvements(&self, k: &[f64], sd: f64) -> Vec<(f64, f64, f64)> {
        let of = |draw: &Draw| {
            let z = (self.exact.prior_mean() + dot(k, &draw.weights) - draw.best) / sd;
            let (value, by_z) = log_improvement(z);
            (value, z, by_z)
        };
        self.draws.iter().map(of).collect()
    }

    /// ln of the mean of exp(v), where v is the first component of each triple; and the share of each exp(v) in the sum of
    /// all exp(v).
    fn log_mean(all: &[(f64, f64, f64)]) -> (f64, Vec<f64>) {
        let most = all.iter().map(|(value, ..)| *value).fold(f64::NEG_INFINITY, f64::max);
        let mut shares: Vec<f64> = all.iter().map(|(value, ..)| libm::exp(value - most)).collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        (most + libm::log(sum / all.len() as f64), shares)
    }
}

impl Surface for NoisyImprovement {
    fn at(&self, x: &[f64]) -> f64 {
        let k = self.exact.prior_covariances(x);
        let (sd, _) = self.sd(x, &k);
        libm::log(sd) + Self::log_mean(&self.improvements(&k, sd)).0
    }

    fn with_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let k = self.exact.prior_covariances(x);
        let (sd, mut weights) = self.sd(x, &k);
        let all = self.improvements(&k, sd);
        let (value, shares) = Self::log_mean(&all);
        // The value is ln sd plus the logarithm of the mean of h(z) over the draws. The differential of this logarithm is
        // the sum, over the draws, of a draw's share (see `log_mean`) times d ln h(z). The differential of ln sd is
        // d variance / (2 variance), and the differential of z is d mean / sd - z d ln sd.
        let by_log_sd =
            1.0 - all.iter().zip(&shares).map(|((_, z, by_z), share)| share * by_z * z).sum::<f64>();
        let by_variance = if sd > self.least_sd { 0.5 * by_log_sd / (sd * sd) } else { 0.0 };
        weights.iter_mut().for_each(|weight| *weight *= -2.0 * by_variance);
        for (draw, ((_, _, by_z), share)) in self.draws.iter().zip(all.iter().zip(&shares)) {
            let factor = share * by_z / sd;
            weights.iter_mut().zip(&draw.weights).for_each(|(weight, own)| *weight += factor * own);
        }
        gradient.fill(0.0);
        self.exact.add_weighted_gradient(x, &weights, gradient);
        self.exact.add_prior_variance_gradient(x, by_variance, gradient);
        libm::log(sd) + value
    }
}

/// Standard normal base samples, `[samples][t]`. In each, at most the first [`sobol::MOST_DIMENSIONS`] numbers are
/// quasi-random, and the others are pseudo-random.
fn base_samples(samples: usize, t: usize, key: Key) -> Vec<Vec<f64>> {
    let mut stream = key.child("others").stream();
    let quasi_random = sobol::points(samples, t.min(sobol::MOST_DIMENSIONS), key.child("first"));
    let of = |point: Vec<f64>| {
        let mut z: Vec<f64> = point.into_iter().map(normal_quantile).collect();
        z.resize_with(t, || stream.normal());
        z
    };
    quasi_random.into_iter().map(of).collect()
}
