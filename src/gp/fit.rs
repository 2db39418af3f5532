//! Hyperparameters by maximum marginal likelihood.

use super::covariance::{Covariance, Shape};
use super::multi_start::MultiStart;
use super::{GpError, Points, log_marginal_likelihood};
use crate::rng::Stream;
use faer::linalg::solvers::Solve;
use faer::{Col, Mat, Side};
use std::f64::consts::PI;

/// Hyperparameters of a squared-exponential covariance, and how likely they make the data.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Length-scale of each dimension, in units of the points.
    pub length_scales: Vec<f64>,
    /// Variance of the function.
    pub variance: f64,
    /// Variance of the noise.
    pub noise_variance: f64,
    /// Log marginal likelihood of the data.
    pub log_likelihood: f64,
    /// How steep it still is there: its largest derivative by the logarithm of a hyperparameter, in nats, of those that
    /// lead within the bounds. Near 0 where the search has found a maximum.
    pub slope: f64,
}

/// Bounds of the logarithms: length-scales for inputs of unit variance, then variance, then noise, both for outputs
/// of unit variance. The noise bound keeps the matrix well conditioned.
const LENGTH_SCALE: (f64, f64) = (0.05, 20.0);
const VARIANCE: (f64, f64) = (0.01, 20.0);
const NOISE: (f64, f64) = (1e-4, 2.0);
/// Evaluations of the likelihood per starting point and parameter.
const EVALUATIONS_PER_PARAMETER: usize = 40;

/// Fits a squared-exponential covariance with one length-scale per dimension, and a noise variance, to standardised
/// inputs and outputs. The first start is in the middle of the usual ranges, the others are drawn from `stream`.
///
/// Source of the likelihood: Rasmussen and Williams 2006, equation 2.30. Optimiser: COBYLA on the logarithms; the gradient
/// (equation 5.9) tells how level the likelihood is where it ended.
///
/// # Errors
/// [`GpError::TooFewPoints`] below two points; [`GpError::NotPositiveDefinite`] if no start gives a likelihood.
pub fn squared_exponential(
    points: &Points,
    outputs: &[f64],
    starts: usize,
    stream: &mut Stream,
) -> Result<Fit, GpError> {
    if points.n() < 2 {
        return Err(GpError::TooFewPoints { found: points.n() });
    }
    let d = points.d();
    let log = |(low, high): (f64, f64)| (libm::log(low), libm::log(high));
    let mut bounds = vec![log(LENGTH_SCALE); d];
    bounds.extend([log(VARIANCE), log(NOISE)]);
    let mut middle = vec![0.0; d + 1];
    middle.push(libm::log(0.1));
    let search = MultiStart {
        bounds: &bounds,
        starts,
        evaluations: EVALUATIONS_PER_PARAMETER * bounds.len(),
        tolerance: 1e-5,
    };
    let found = search.maximum(&middle, stream, |logs| log_likelihood(points, outputs, logs));
    let (logs, log_likelihood) =
        found.ok_or(GpError::NotPositiveDefinite { order: points.n(), jitter: 0.0 })?;
    let length_scales: Vec<f64> = logs[..d].iter().map(|&l| libm::exp(l)).collect();
    let (variance, noise_variance) = (libm::exp(logs[d]), libm::exp(logs[d + 1]));
    let covariance = Covariance::per_dimension(Shape::SquaredExponential, length_scales.clone(), variance);
    let gradient = log_marginal_likelihood(points, outputs, &covariance, noise_variance)?.gradient;
    let slope = slope(&gradient, &logs, &bounds);
    Ok(Fit { length_scales, variance, noise_variance, log_likelihood, slope })
}

/// The largest derivative whose direction does not lead out of the bounds.
fn slope(gradient: &[f64], at: &[f64], bounds: &[(f64, f64)]) -> f64 {
    let within = gradient.iter().zip(at).zip(bounds).filter(|((slope, at), (low, high))| {
        let room = if **slope > 0.0 { high - **at } else { **at - low };
        room > 1e-6
    });
    within.map(|((slope, _), _)| slope.abs()).fold(0.0, f64::max)
}

/// Log marginal likelihood at the logarithms of (length-scales, variance, noise variance); `None` if the matrix is
/// not positive definite.
fn log_likelihood(points: &Points, outputs: &[f64], logs: &[f64]) -> Option<f64> {
    let (n, d) = (points.n(), points.d());
    let inverse: Vec<f64> = logs[..d].iter().map(|&l| libm::exp(-2.0 * l)).collect();
    let (variance, noise) = (libm::exp(logs[d]), libm::exp(logs[d + 1]));
    let matrix = Mat::<f64>::from_fn(n, n, |i, j| {
        if i < j {
            return 0.0;
        }
        let (a, b) = (points.row(i), points.row(j));
        let s: f64 = a.iter().zip(b).zip(&inverse).map(|((a, b), w)| (a - b) * (a - b) * w).sum();
        variance * libm::exp(-0.5 * s) + if i == j { noise } else { 0.0 }
    });
    let factor = matrix.llt(Side::Lower).ok()?;
    let y = Col::<f64>::from_fn(n, |i| outputs[i]);
    let alpha = factor.solve(&y);
    let fit: f64 = (0..n).map(|i| outputs[i] * alpha[i]).sum();
    let half_determinant: f64 = (0..n).map(|i| libm::log(factor.L()[(i, i)])).sum();
    Some(-0.5 * fit - half_determinant - 0.5 * n as f64 * libm::log(2.0 * PI))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn likelihood_of_the_oracle() {
        // outsourced_release_units.json, gp_tiny: (length-scale, variance, noise, log marginal likelihood).
        let points = Points::new(4, 2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.5, 1.5]);
        let y = [0.3, -0.2, 0.8, 0.1];
        for (l, s2, n2, expected) in
            [(1.25, 1.0, 1e-5, -3.2781649141109037), (0.7, 2.0, 0.1, -5.2076055698089)]
        {
            let logs = [l, l, s2, n2].map(libm::log);
            let found = log_likelihood(&points, &y, &logs).unwrap();
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    #[test]
    fn a_fit_ends_where_the_likelihood_is_level() {
        let mut stream = crate::rng::Key::root(9).stream();
        let rows: Vec<f64> = (0..60).map(|_| stream.normal()).collect();
        let outputs: Vec<f64> = rows
            .chunks(2)
            .map(|row| libm::sin(2.0 * row[0]) + 0.3 * row[1] + 0.2 * stream.normal())
            .collect();
        let points = Points::new(30, 2, rows);
        let fit = squared_exponential(&points, &outputs, 3, &mut stream).unwrap();
        assert!(fit.slope < 0.05, "{fit:?}");
        // Two ways to one number: the gradient's likelihood and the search's own.
        let covariance =
            Covariance::per_dimension(Shape::SquaredExponential, fit.length_scales.clone(), fit.variance);
        let there = log_marginal_likelihood(&points, &outputs, &covariance, fit.noise_variance).unwrap();
        assert!((there.value - fit.log_likelihood).abs() < 1e-9, "{there:?} {fit:?}");
    }

    #[test]
    fn slopes_that_lead_out_of_the_bounds_do_not_count() {
        let bounds = [(0.0, 1.0), (0.0, 1.0), (0.0, 1.0)];
        assert_eq!(slope(&[9.0, -8.0, 0.5], &[1.0, 0.0, 0.5], &bounds), 0.5);
        assert_eq!(slope(&[-9.0, 8.0, 0.5], &[1.0, 0.0, 0.5], &bounds), 9.0);
    }
}
