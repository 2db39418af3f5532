//! Hyperparameters by maximum marginal likelihood or, with priors, by maximum posterior density.

use super::covariance::{Covariance, Shape};
use super::likelihood::SEARCH_UNIT;
use super::multi_start::MultiStart;
use super::{GpError, Points, log_marginal_likelihood};
use crate::rng::Stream;

/// Hyperparameters of a covariance, with the log marginal likelihood of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Length-scale of each dimension, `[d]`, in units of the points.
    pub length_scales: Vec<f64>,
    /// Variance of the function, in squared units of the outputs.
    pub variance: f64,
    /// Variance of the noise, in squared units of the outputs.
    pub noise_variance: f64,
    /// Log marginal likelihood of the data, in nats.
    pub log_likelihood: f64,
    /// The largest absolute derivative of the log likelihood (with priors, of its sum with the log prior density) with
    /// respect to the logarithm of a hyperparameter, in nats. A derivative does not count if its hyperparameter is at a
    /// bound and the derivative points out of the bounds. The slope is near 0 if the search has found a maximum.
    pub slope: f64,
}

/// Bounds of the hyperparameters: length-scales for inputs of unit variance, then the variance and the noise variance
/// for outputs of unit variance. The lower bound of the noise keeps the covariance matrix of the outputs well conditioned.
const LENGTH_SCALE: (f64, f64) = (0.05, 20.0);
const VARIANCE: (f64, f64) = (0.01, 20.0);
const NOISE: (f64, f64) = (1e-4, 2.0);
/// A hyperparameter counts as being at a bound if its logarithm differs from the bound's logarithm by at most this.
const AT_BOUND: f64 = 0.01;

/// Log-normal prior densities of hyperparameters, in units of the standardised data: the natural logarithm of each
/// hyperparameter has a normal distribution. With priors, the posterior density of the logarithms is maximised (MAP).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogNormals {
    /// Mean and standard deviation, above 0, of the logarithm of every length-scale.
    pub length_scale: Option<(f64, f64)>,
    /// Mean and standard deviation, above 0, of the logarithm of the variance.
    pub variance: Option<(f64, f64)>,
    /// Mean and standard deviation, above 0, of the logarithm of the noise variance.
    pub noise_variance: Option<(f64, f64)>,
}

impl LogNormals {
    /// No priors: maximum likelihood.
    pub const NONE: Self = Self { length_scale: None, variance: None, noise_variance: None };

    /// The log density, up to a constant, at `logs`, `[d + 2]`: the logarithms of `d` length-scales, of the variance and of
    /// the noise variance. The derivatives of the log density are added to `gradient`, `[d + 2]`.
    pub(super) fn add(&self, d: usize, logs: &[f64], gradient: &mut [f64]) -> f64 {
        let mut value = 0.0;
        for (place, &log) in logs.iter().enumerate() {
            let prior = match place {
                _ if place < d => self.length_scale,
                _ if place == d => self.variance,
                _ => self.noise_variance,
            };
            let Some((mean, sd)) = prior else { continue };
            let z = (log - mean) / sd;
            value -= 0.5 * z * z;
            gradient[place] -= z / sd;
        }
        value
    }
}

/// Calls [`fit`] with a squared-exponential covariance and without priors. The arguments `points`, `[n, d]`, `outputs`,
/// `[n]`, `starts` and `stream` are passed on to [`fit`].
///
/// # Errors
/// Those of [`fit`].
///
/// # Panics
/// In the cases of [`fit`].
pub fn squared_exponential(
    points: &Points,
    outputs: &[f64],
    starts: usize,
    stream: &mut Stream,
) -> Result<Fit, GpError> {
    fit(Shape::SquaredExponential, LogNormals::NONE, points, outputs, starts, stream)
}

/// Fits a covariance with one length-scale per dimension, and a noise variance, to standardised
/// inputs `[n, d]` and outputs `[n]` (mean 0, variance 1, dimensionless). `starts` is the number of starting points: the
/// first has typical values, the others are drawn from `stream`. Length-scales stay between 0.05 and 20, the variance
/// between 0.01 and 20, the noise variance between 1e-4 and 2. The log likelihood is maximised, or with `priors` the sum of
/// the log likelihood and the log prior density, in nats; [`Fit::slope`] is then computed from the sum. O(n^3) per
/// evaluation of the likelihood.
///
/// Source of the likelihood and its gradient: Rasmussen and Williams 2006, equations 2.30 and 5.9. Optimiser: L-BFGS on
/// the logarithms of the hyperparameters.
///
/// # Errors
/// [`GpError::TooFewPoints`] below two points; [`GpError::NotPositiveDefinite`] if no start gives a likelihood.
///
/// # Panics
/// If there is not one output per point.
pub fn fit(
    shape: Shape,
    priors: LogNormals,
    points: &Points,
    outputs: &[f64],
    starts: usize,
    stream: &mut Stream,
) -> Result<Fit, GpError> {
    let (n, d) = (points.n(), points.d());
    if n < 2 {
        return Err(GpError::TooFewPoints { found: n });
    }
    let log = |(low, high): (f64, f64)| (libm::log(low), libm::log(high));
    let mut bounds = vec![log(LENGTH_SCALE); d];
    bounds.extend([log(VARIANCE), log(NOISE)]);
    let mut middle = vec![0.0; d + 1];
    middle.push(libm::log(0.1));
    let values = |logs: &[f64]| logs.iter().map(|&l| libm::exp(l)).collect::<Vec<f64>>();
    let likelihood = |logs: &[f64]| {
        let values = values(logs);
        let covariance = Covariance::per_dimension(shape, values[..d].to_vec(), values[d]);
        let mut found = log_marginal_likelihood(points, outputs, &covariance, values[d + 1]).ok()?;
        found.value += priors.add(d, logs, &mut found.gradient);
        Some((found.value, found.gradient))
    };
    let search = MultiStart { bounds: &bounds, starts, unit: SEARCH_UNIT * n as f64 };
    let found = search.maximum(&middle, stream, likelihood);
    let found = found.ok_or(GpError::NotPositiveDefinite { order: n, jitter: 0.0 })?;
    let values = values(&found.at);
    Ok(Fit {
        length_scales: values[..d].to_vec(),
        variance: values[d],
        noise_variance: values[d + 1],
        log_likelihood: found.value - priors.add(d, &found.at, &mut vec![0.0; d + 2]),
        slope: slope(&found.gradient, &found.at, &bounds),
    })
}

/// The largest absolute derivative. A derivative does not count if its parameter is at a bound and the derivative points out
/// of the bounds.
fn slope(gradient: &[f64], at: &[f64], bounds: &[(f64, f64)]) -> f64 {
    let within = gradient.iter().zip(at).zip(bounds).filter(|((slope, at), (low, high))| {
        let room = if **slope > 0.0 { high - **at } else { **at - low };
        room > AT_BOUND
    });
    within.map(|((slope, _), _)| slope.abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_is_a_local_maximum_of_the_likelihood() {
        let mut stream = crate::rng::Key::root(9).stream();
        let rows: Vec<f64> = (0..60).map(|_| stream.normal()).collect();
        let outputs: Vec<f64> = rows
            .chunks(2)
            .map(|row| libm::sin(2.0 * row[0]) + 0.3 * row[1] + 0.2 * stream.normal())
            .collect();
        let points = Points::new(30, 2, rows);
        let fit = squared_exponential(&points, &outputs, 3, &mut stream).unwrap();
        assert!(fit.slope < 1e-3, "{fit:?}");
        // A step along any axis decreases the likelihood.
        let likelihood = |l: [f64; 2], variance, noise| {
            let covariance = Covariance::per_dimension(Shape::SquaredExponential, l.to_vec(), variance);
            log_marginal_likelihood(&points, &outputs, &covariance, noise).unwrap().value
        };
        let (l, variance, noise) =
            ([fit.length_scales[0], fit.length_scales[1]], fit.variance, fit.noise_variance);
        assert_eq!(likelihood(l, variance, noise), fit.log_likelihood);
        for factor in [0.98, 1.02] {
            for (l, variance, noise) in [
                ([l[0] * factor, l[1]], variance, noise),
                ([l[0], l[1] * factor], variance, noise),
                (l, variance * factor, noise),
                (l, variance, noise * factor),
            ] {
                assert!(likelihood(l, variance, noise) < fit.log_likelihood, "{factor} {fit:?}");
            }
        }
    }

    #[test]
    fn slopes_that_lead_out_of_the_bounds_do_not_count() {
        let bounds = [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)];
        assert_eq!(slope(&[9.0, -8.0, 0.5], &[1.0, 0.0, 0.5], &bounds), 0.5);
        assert_eq!(slope(&[-9.0, 8.0, 0.5], &[1.0, 0.0, 0.5], &bounds), 9.0);
    }

    /// The expected values were computed with scikit-learn 1.9.1 and scipy 1.17.1. The log_marginal_likelihood of
    /// GaussianProcessRegressor(ConstantKernel(v) * Matern([l1, l2], nu=1.5) + WhiteKernel(s), optimizer=None, alpha=0) was
    /// maximised by scipy.optimize.minimize (L-BFGS-B, 12 starts, the bounds of this file): once without priors, and once
    /// with the log densities of the priors below added.
    #[test]
    fn a_matern_kernel_is_fitted_as_by_scikit_learn_with_and_without_priors() {
        let rows: Vec<f64> = (0..20)
            .map(f64::from)
            .flat_map(|i| [1.4 * libm::cos(1.7 * i + 0.3), 1.4 * libm::sin(2.3 * i)])
            .collect();
        let outputs: Vec<f64> = (0..20)
            .map(|i| {
                let (row, i) = (&rows[2 * i..2 * i + 2], i as f64);
                libm::sin(2.0 * row[0]) + 0.3 * row[1] + 0.2 * libm::cos(37.0 * i)
            })
            .collect();
        let points = Points::new(20, 2, rows);
        let priors = LogNormals {
            length_scale: Some((0.0, 0.5)),
            variance: Some((0.0, 1.0)),
            noise_variance: Some((libm::log(0.01), 1.0)),
        };
        for (priors, expected) in [
            (LogNormals::NONE, [1.263_873_87, 5.171_178_66, 0.771_439_382, 0.013_128_012]),
            (priors, [0.967_776_336, 1.709_903_362, 0.497_342_275, 0.009_776_501]),
        ] {
            let mut stream = crate::rng::Key::root(9).stream();
            let fit = fit(Shape::Matern32, priors, &points, &outputs, 4, &mut stream).unwrap();
            assert!(fit.slope < 1e-3, "{fit:?}");
            let found = [fit.length_scales[0], fit.length_scales[1], fit.variance, fit.noise_variance];
            for (found, expected) in found.into_iter().zip(expected) {
                assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}: {fit:?}");
            }
            // The likelihood of the data at the maximum, without the priors.
            let covariance =
                Covariance::per_dimension(Shape::Matern32, fit.length_scales.clone(), fit.variance);
            let likelihood =
                log_marginal_likelihood(&points, &outputs, &covariance, fit.noise_variance).unwrap();
            assert!((likelihood.value - fit.log_likelihood).abs() < 1e-9);
        }
    }
}
