//! The log marginal likelihood and its gradient, in the logarithms of the hyperparameters.

use super::covariance::{Covariance, LengthScale, Shape};
use super::{Cholesky, GpError, Points, dot};
use std::f64::consts::TAU;

/// A log marginal likelihood, with its derivatives by the logarithms of the hyperparameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    /// Log density of the outputs, in nats.
    pub value: f64,
    /// Derivatives by the logarithms of: each length-scale (one entry if it is the same in every dimension), the
    /// variance, the noise variance.
    pub gradient: Vec<f64>,
}

/// Log density of `outputs` (zero mean) at `points` under a covariance and a noise variance. O(n^3).
///
/// Source: Rasmussen and Williams 2006, equations 2.30 and 5.9.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`]; nothing is added to the diagonal.
///
/// # Panics
/// If there is not one output per point, or there are fewer length-scales than dimensions.
pub fn log_marginal_likelihood(
    points: &Points,
    outputs: &[f64],
    covariance: &Covariance,
    noise_variance: f64,
) -> Result<Likelihood, GpError> {
    let n = points.n();
    assert_eq!(outputs.len(), n, "one output per point");
    let mut kernel = vec![0.0; n * n];
    for (index, row) in kernel.chunks_mut(n.max(1)).enumerate() {
        covariance.fill_column(points, index, row);
    }
    let mut matrix = kernel.clone();
    (0..n).for_each(|i| matrix[i * n + i] += noise_variance);
    let factor = Cholesky::new(n, matrix)?;
    let mut alpha = outputs.to_vec();
    factor.solve(&mut alpha);
    let value = -0.5 * (dot(outputs, &alpha) + factor.log_determinant() + n as f64 * libm::log(TAU));
    // Each derivative is 1/2 trace((alpha alpha^T - A^-1) dA).
    let mut weights = vec![0.0; n * n];
    for (i, row) in weights.chunks_mut(n.max(1)).enumerate() {
        row[i] = 1.0;
        factor.solve(row);
        row.iter_mut().zip(&alpha).for_each(|(value, &a)| *value = alpha[i] * a - *value);
    }
    let scales = match &covariance.length_scale {
        LengthScale::Same(_) => 1,
        LengthScale::PerDimension(l) => l.len(),
    };
    let mut gradient = vec![0.0; scales + 2];
    for i in 0..n {
        for j in 0..n {
            let weight = 0.5 * weights[i * n + j];
            gradient[scales] += weight * kernel[i * n + j];
            if i == j {
                gradient[scales + 1] += weight * noise_variance;
            }
            by_length_scales(covariance, points.row(i), points.row(j), weight, &mut gradient[..scales]);
        }
    }
    Ok(Likelihood { value, gradient })
}

/// Adds `weight` times the derivatives of k(x, z) by the logarithms of the length-scales.
fn by_length_scales(covariance: &Covariance, x: &[f64], z: &[f64], weight: f64, out: &mut [f64]) {
    // The scaled squared distance (or product) of each dimension, on which the length-scale acts as its square.
    let term = |dimension: usize, l: f64| match covariance.shape {
        Shape::Linear => (x[dimension] / l) * (z[dimension] / l),
        Shape::SquaredExponential | Shape::Matern12 | Shape::Matern32 | Shape::Matern52 => {
            let difference = (x[dimension] - z[dimension]) / l;
            difference * difference
        }
    };
    let scale = |dimension: usize| match &covariance.length_scale {
        LengthScale::Same(l) => *l,
        LengthScale::PerDimension(l) => l[dimension],
    };
    let s: f64 = (0..x.len()).map(|dimension| term(dimension, scale(dimension))).sum();
    // d s / d ln l = -2 s_i, so each derivative is -2 s_i k'(s).
    let slope = covariance.variance
        * match covariance.shape {
            Shape::SquaredExponential => -0.5 * libm::exp(-0.5 * s),
            // k'(s) = -exp(-r) / (2 r); s k'(s) tends to 0 with the distance.
            Shape::Matern12 if s == 0.0 => 0.0,
            Shape::Matern12 => -libm::exp(-s.sqrt()) / (2.0 * s.sqrt()),
            Shape::Matern32 => -1.5 * libm::exp(-(3.0 * s).sqrt()),
            Shape::Matern52 => {
                let a = (5.0 * s).sqrt();
                -5.0 / 6.0 * (1.0 + a) * libm::exp(-a)
            }
            Shape::Linear => 1.0,
        };
    for dimension in 0..x.len() {
        let place = if out.len() == 1 { 0 } else { dimension };
        out[place] += weight * slope * -2.0 * term(dimension, scale(dimension));
    }
}
