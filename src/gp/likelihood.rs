//! The log marginal likelihood, and its gradient with respect to the logarithms of the hyperparameters.

use super::covariance::{Covariance, LengthScale, Shape};
use super::{Cholesky, GpError, Points, dot};
use std::f64::consts::TAU;

/// A log marginal likelihood, with its derivatives with respect to the logarithms of the hyperparameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Likelihood {
    /// Log density of the outputs, in nats.
    pub value: f64,
    /// Derivatives with respect to the logarithms of each length-scale (one entry if it is the same in every dimension),
    /// of the variance, and of the noise variance: `[d + 2]`, or `[3]`, in nats.
    pub gradient: Vec<f64>,
}

/// The unit in which a search for the maximum measures the log likelihood, in nats per point. With a unit of 1, the
/// first step can be so long that the search ends where the model explains all outputs as noise.
pub(crate) const SEARCH_UNIT: f64 = 100.0;

/// Log density, in nats, of `outputs`, `[n]` (with prior mean 0), at `points`, `[n, d]`, under a covariance and a noise
/// variance, at least 0 and in squared units of the outputs. O(n^3).
///
/// Source: Rasmussen and Williams 2006, equations 2.30 and 5.9.
///
/// # Errors
/// [`GpError::NotPositiveDefinite`]; no jitter is added to the diagonal.
///
/// # Panics
/// If there is not one output per point, or there are fewer length-scales than dimensions.
pub fn log_marginal_likelihood(
    points: &Points,
    outputs: &[f64],
    covariance: &Covariance,
    noise_variance: f64,
) -> Result<Likelihood, GpError> {
    Ok(likelihood(points, outputs, covariance, noise_variance, false)?.0)
}

/// As [`log_marginal_likelihood`], with the constant prior mean that maximises the density of the outputs; also returns this
/// mean. The gradient is computed as if the mean were fixed. This is exact: at the maximum, the derivative of the density
/// with respect to the mean is 0.
///
/// # Errors
/// Those of [`log_marginal_likelihood`].
///
/// # Panics
/// In the cases of [`log_marginal_likelihood`].
pub(super) fn likelihood_and_mean(
    points: &Points,
    outputs: &[f64],
    covariance: &Covariance,
    noise_variance: f64,
) -> Result<(Likelihood, f64), GpError> {
    likelihood(points, outputs, covariance, noise_variance, true)
}

fn likelihood(
    points: &Points,
    outputs: &[f64],
    covariance: &Covariance,
    noise_variance: f64,
    fits_mean: bool,
) -> Result<(Likelihood, f64), GpError> {
    let n = points.n();
    assert_eq!(outputs.len(), n, "one output per point");
    // Only the upper triangles of `kernel` and of the matrices computed from it are read.
    let columns: Vec<Vec<f64>> =
        (0..points.d()).map(|dimension| (0..n).map(|i| points.row(i)[dimension]).collect()).collect();
    let mut kernel = vec![0.0; n * n];
    for (i, row) in kernel.chunks_mut(n.max(1)).enumerate() {
        covariance.fill(points.row(i), |dimension| &columns[dimension][i..], &mut row[i..]);
    }
    let mut matrix = kernel.clone();
    (0..n).for_each(|i| matrix[i * n + i] += noise_variance);
    let factor = Cholesky::new(n, matrix)?;
    let mut alpha = outputs.to_vec();
    factor.solve(&mut alpha);
    let (mut mean, mut square) = (0.0, dot(outputs, &alpha));
    if fits_mean {
        // Generalised least squares: (1^T A^-1 y) / (1^T A^-1 1), with y the outputs and A their covariance matrix, noise
        // included.
        let mut ones = vec![1.0; n];
        factor.solve(&mut ones);
        mean = alpha.iter().sum::<f64>() / ones.iter().sum::<f64>();
        alpha.iter_mut().zip(&ones).for_each(|(alpha, one)| *alpha -= mean * one);
        square = outputs.iter().zip(&alpha).map(|(output, alpha)| (output - mean) * alpha).sum();
    }
    let value = -0.5 * (square + factor.log_determinant() + n as f64 * libm::log(TAU));
    // Each derivative is 1/2 trace((alpha alpha^T - A^-1) dA), with A the covariance matrix of the outputs, noise included,
    // dA the derivative of A with respect to the logarithm of one hyperparameter, and alpha = A^-1 (outputs - mean). The
    // matrices alpha alpha^T - A^-1 and dA are symmetric, so their upper triangles suffice.
    let inverse = factor.upper_inverse();
    let scales = match &covariance.length_scale {
        LengthScale::Same(_) => 1,
        LengthScale::PerDimension(l) => l.len(),
    };
    let mut gradient = vec![0.0; scales + 2];
    let mut terms = vec![vec![0.0; n]; points.d()];
    let mut slopes = vec![0.0; n];
    for i in 0..n {
        let diagonal = 0.5 * (alpha[i] * alpha[i] - inverse[i * n + i]);
        // The covariance of a point with itself depends on the length-scales only if the covariance function is linear.
        let (x, here) = (points.row(i), &kernel[i * n..][..n]);
        gradient[scales] += diagonal * here[i];
        gradient[scales + 1] += diagonal * noise_variance;
        by_length_scales(covariance, x, diagonal, here[i], &mut gradient[..scales]);
        // s, the squared scaled distance or the scaled inner product, is a sum of one term t for each dimension. The term
        // of a dimension with the length-scale l is proportional to l^-2. So d s / d ln l = -2 t, and the derivative of a
        // covariance k(s) with respect to ln l is -2 t k'(s).
        let m = n - i - 1;
        let slopes = &mut slopes[..m];
        slopes.fill(0.0);
        for (dimension, terms) in terms.iter_mut().enumerate() {
            covariance.fill_terms(dimension, x[dimension], &columns[dimension][i + 1..], &mut terms[..m]);
            slopes.iter_mut().zip(&*terms).for_each(|(s, term)| *s += term);
        }
        let (here, inverse) = (&here[i + 1..], &inverse[i * n + i + 1..][..m]);
        covariance.slopes(slopes, here);
        for j in 0..m {
            let weight = alpha[i] * alpha[i + 1 + j] - inverse[j];
            gradient[scales] += weight * here[j];
            let factor = weight * slopes[j] * -2.0;
            for (dimension, terms) in terms.iter().enumerate() {
                gradient[if scales == 1 { 0 } else { dimension }] += factor * terms[j];
            }
        }
    }
    Ok((Likelihood { value, gradient }, mean))
}

/// Adds `weight` times the derivatives of k = k(x, x) with respect to the logarithms of the length-scales to `out`. The
/// derivatives are 0 unless the covariance is linear.
fn by_length_scales(covariance: &Covariance, x: &[f64], weight: f64, k: f64, out: &mut [f64]) {
    if covariance.shape != Shape::Linear {
        return;
    }
    for (dimension, x) in x.iter().enumerate() {
        let scaled = x / covariance.length_scale.of(dimension);
        let place = if out.len() == 1 { 0 } else { dimension };
        out[place] += weight * covariance.slope(0.0, k) * -2.0 * (scaled * scaled);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_likelihood_agrees_with_the_oracle() {
        // tests/oracles/outsourced_release_units.json, entry "gp_tiny": (length-scale, variance, noise variance, log
        // marginal likelihood).
        let points = Points::new(4, 2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.5, 1.5]);
        let y = [0.3, -0.2, 0.8, 0.1];
        for (l, variance, noise, expected) in
            [(1.25, 1.0, 1e-5, -3.2781649141109037), (0.7, 2.0, 0.1, -5.2076055698089)]
        {
            let covariance = Covariance::squared_exponential(l, variance);
            let found = log_marginal_likelihood(&points, &y, &covariance, noise).unwrap().value;
            assert!((found - expected).abs() < 1e-9, "{found} {expected}");
        }
    }

    /// The expected values are from scikit-learn 1.9.1: GaussianProcessRegressor(ConstantKernel(1.3) * RBF([0.8, 1.7]) +
    /// WhiteKernel(0.05), optimizer=None, alpha=0).fit(X, y), then log_marginal_likelihood(kernel_.theta,
    /// eval_gradient=True), with the gradient in the order of [`Likelihood::gradient`]. For the three Matern shapes,
    /// Matern([0.8, 1.7], nu=NU) with NU = 0.5, 1.5 and 2.5 takes the place of RBF([0.8, 1.7]).
    #[test]
    fn every_stationary_shape_has_the_likelihood_and_gradient_of_scikit_learn() {
        let points = Points::new(5, 2, vec![0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.5, 1.5, -0.7, 0.4]);
        let y = [0.3, -0.2, 0.8, 0.1, -0.5];
        let known = [
            (
                Shape::SquaredExponential,
                -5.263_128_242_631_907_5,
                [
                    -0.312_937_073_421_734_16,
                    0.549_818_212_542_088_2,
                    -1.319_162_631_456_518_4,
                    -0.099_897_722_660_374_57,
                ],
            ),
            (
                Shape::Matern12,
                -5.543_279_666_755_732,
                [
                    0.044_235_912_419_232_08,
                    0.282_375_228_599_112_2,
                    -1.834_541_607_778_338_5,
                    -0.087_640_616_738_450_83,
                ],
            ),
            (
                Shape::Matern32,
                -5.384_627_619_610_788,
                [
                    0.027_956_466_289_151_095,
                    0.507_566_999_745_215_7,
                    -1.667_754_110_443_733_7,
                    -0.098_066_275_420_197_77,
                ],
            ),
            (
                Shape::Matern52,
                -5.328_626_875_601_119,
                [
                    -0.011_913_969_177_069_793,
                    0.561_633_137_474_431_2,
                    -1.580_764_577_699_264_5,
                    -0.101_828_738_671_774_54,
                ],
            ),
        ];
        for (shape, value, gradient) in known {
            let covariance = Covariance::per_dimension(shape, vec![0.8, 1.7], 1.3);
            let found = log_marginal_likelihood(&points, &y, &covariance, 0.05).unwrap();
            assert!((found.value - value).abs() < 1e-10, "{shape:?}: {} {value}", found.value);
            for (found, expected) in found.gradient.iter().zip(gradient) {
                assert!((found - expected).abs() < 1e-10, "{shape:?}: {found} {expected}");
            }
        }
    }
}
