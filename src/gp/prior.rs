//! Samples of a Gaussian process before any observation.

use super::covariance::{Covariance, LengthScale};
use super::products::transposed;
use super::simd::multiversion;
use super::{ArmCovariance, Cholesky, Eigen, FeatureLength, FourierFeatures, GpError, Points, dot};
use crate::rng::Stream;

/// A Gaussian process with squared-exponential covariance on a grid (a product of coordinate lists).
///
/// The covariance matrix is the variance times a Kronecker product of correlation matrices, one for each dimension. So the
/// square root of the covariance matrix is the standard deviation times the Kronecker product of the square roots of these
/// correlation matrices. With m points along each of d dimensions, the square root takes one eigendecomposition of order m
/// for each dimension, instead of one eigendecomposition of order m^d. No jitter is needed.
#[derive(Clone, Debug)]
pub struct GridPrior {
    /// For each dimension except the last, the order of its correlation matrix and the matrix's square root, row-major.
    roots: Vec<(usize, Vec<f64>)>,
    /// For the last dimension, the order of its correlation matrix and the transposed square root of this matrix,
    /// row-major.
    last: (usize, Vec<f64>),
    sd: f64,
}

impl GridPrior {
    /// Largest number of points along one dimension. [`Self::new`] does not check this limit. For a dimension with m
    /// points, the decomposition needs roughly five matrices of order m (0.7 GB for m = 4096) and O(m^3) time. Afterwards
    /// only one of these matrices, the square root, is kept.
    pub const MAX_ALONG: usize = 4096;

    /// A prior with mean 0 on the product of `axes`, which are d lists of coordinates, one list for each dimension, in
    /// units of the inputs. The coordinate of the last dimension varies fastest. `length_scale` is above 0, in units of the
    /// coordinates; `variance` is at least 0, in squared units of the outcome.
    ///
    /// # Errors
    /// [`GpError::NoConvergence`].
    pub fn new(axes: &[Vec<f64>], length_scale: f64, variance: f64) -> Result<Self, GpError> {
        Self::with_length_scales(axes, &LengthScale::Same(length_scale), variance)
    }

    /// As [`Self::new`], but with a length-scale for each dimension, above 0 and in units of that dimension.
    ///
    /// # Errors
    /// [`GpError::NoConvergence`].
    ///
    /// # Panics
    /// If there are fewer length-scales than axes.
    pub fn with_length_scales(
        axes: &[Vec<f64>],
        length_scale: &LengthScale,
        variance: f64,
    ) -> Result<Self, GpError> {
        let of = |(dimension, axis): (usize, &Vec<f64>)| root(axis, length_scale.of(dimension));
        let mut roots = axes.iter().enumerate().map(of).collect::<Result<Vec<_>, GpError>>()?;
        let last = roots.pop().map_or((1, vec![1.0]), |(order, root)| (order, transposed(&root, order)));
        Ok(Self { roots, last, sd: variance.sqrt() })
    }

    /// One random function: its values at all grid points, `[n]` with n the product of the axes' lengths, in units of the
    /// outcome, from n standard normals of `stream`.
    #[must_use]
    pub fn sample(&self, stream: &mut Stream) -> Vec<f64> {
        let (last, transposed) = &self.last;
        let n = self.roots.iter().map(|(order, _)| order).product::<usize>() * last;
        let mut values = vec![0.0; n];
        stream.fill_normal(&mut values);
        let mut scratch = vec![0.0; n];
        // Applies each dimension's root in turn. For a dimension with `order` points, the values are a tensor of shape
        // outer x order x inner: outer is the product of the earlier dimensions' numbers of points, inner that of the later
        // dimensions.
        let mut inner = n;
        for (order, root) in &self.roots {
            inner /= order;
            for (from, to) in values.chunks(order * inner).zip(scratch.chunks_mut(order * inner)) {
                apply(root, *order, inner, from, to);
            }
            std::mem::swap(&mut values, &mut scratch);
        }
        for (from, to) in values.chunks(*last).zip(scratch.chunks_mut(*last)) {
            apply_last(transposed, from, to);
        }
        scratch.iter_mut().for_each(|value| *value *= self.sd);
        scratch
    }
}

/// A Gaussian process at any set of arms, through the Cholesky factor of their covariance matrix: exact, O(n^3) once
/// and O(n^2) per sample.
#[derive(Clone, Debug)]
pub struct CholeskyPrior {
    factor: Cholesky,
}

impl CholeskyPrior {
    /// A prior with mean 0 at all n arms.
    ///
    /// # Errors
    /// [`GpError::NotPositiveDefinite`] if a jitter of 1e-6 times the largest variance is not enough.
    pub fn new(covariance: &ArmCovariance) -> Result<Self, GpError> {
        Ok(Self { factor: Cholesky::with_jitter(covariance.n(), &covariance.dense())? })
    }

    /// The jitter that was added to the variances, in squared units of the outcome; 0 if none.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        self.factor.jitter()
    }

    /// One random function: its value at every arm, `[n]`, in units of the outcome, from n standard normals of `stream`.
    /// Rasmussen and Williams 2006, appendix A.2.
    #[must_use]
    pub fn sample(&self, stream: &mut Stream) -> Vec<f64> {
        let mut z = vec![0.0; self.factor.n()];
        stream.fill_normal(&mut z);
        self.factor.times(&z)
    }
}

/// A Gaussian process at many scattered points, through M random Fourier features: O(n M d) per sample. Averaged over
/// the random features, the values have exactly the given covariance; their distribution tends to a Gaussian as M grows.
#[derive(Clone, Copy, Debug)]
pub struct FourierPrior<'a> {
    /// The covariance, in squared units of the outcome.
    pub covariance: &'a Covariance,
    /// Number M of features; new features are drawn for every function.
    pub features: usize,
}

impl FourierPrior<'_> {
    /// One random function with mean 0: its values, `[n]`, in units of the outcome, at `points`, `[n, d]`. Rahimi and
    /// Recht 2008.
    ///
    /// # Errors
    /// [`GpError::NotStationary`] for a linear covariance.
    ///
    /// # Panics
    /// If there are fewer length-scales than dimensions.
    pub fn sample(&self, points: &Points, stream: &mut Stream) -> Result<Vec<f64>, GpError> {
        let (d, m) = (points.d(), self.features);
        let features = FourierFeatures::draw(self.covariance, d, m, FeatureLength::Estimator, stream)?;
        let mut weights = vec![0.0; m];
        stream.fill_normal(&mut weights);
        let mut phi = vec![0.0; m];
        let value = |index| {
            features.fill(points.row(index), &mut phi);
            dot(&phi, &weights)
        };
        Ok((0..points.n()).map(value).collect())
    }
}

multiversion! {
    /// to = root * from, for vectors. The root is given transposed, so that the compiler can vectorise the inner loop,
    /// which runs over the entries of `to`.
    fn apply_last(transposed: &[f64], from: &[f64], to: &mut [f64]) {
        to.fill(0.0);
        for (&value, weights) in from.iter().zip(transposed.chunks_exact(to.len())) {
            for (sum, &weight) in to.iter_mut().zip(weights) {
                *sum += weight * value;
            }
        }
    }

    /// to = root * from, for matrices `from` and `to` of shape order x inner.
    fn apply(root: &[f64], order: usize, inner: usize, from: &[f64], to: &mut [f64]) {
        to.fill(0.0);
        for (weights, out) in root.chunks_exact(order).zip(to.chunks_exact_mut(inner)) {
            for (&weight, row) in weights.iter().zip(from.chunks_exact(inner)) {
                for (sum, &value) in out.iter_mut().zip(row) {
                    *sum += weight * value;
                }
            }
        }
    }
}

/// The number of points along one axis, and the symmetric square root of the correlation matrix of these points.
fn root(axis: &[f64], length_scale: f64) -> Result<(usize, Vec<f64>), GpError> {
    let order = axis.len();
    let correlation = axis.iter().flat_map(|a| {
        axis.iter().map(move |b| {
            let difference = (a - b) / length_scale;
            libm::exp(-0.5 * difference * difference)
        })
    });
    let eigen = Eigen::new(order, correlation.collect())?;
    // Negative eigenvalues are rounding errors; the exact eigenvalues are at least 0.
    Ok((order, eigen.function(|value| value.max(0.0).sqrt())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn the_root_squares_to_the_correlation() {
        let axis: Vec<f64> = (0..30).map(|i| f64::from(i) * 0.3).collect();
        let (order, root) = root(&axis, 1.25).unwrap();
        for i in 0..order {
            for j in 0..order {
                let product: f64 = (0..order).map(|k| root[i * order + k] * root[j * order + k]).sum();
                let difference: f64 = (axis[i] - axis[j]) / 1.25;
                assert!((product - libm::exp(-0.5 * difference * difference)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn samples_have_the_covariance_of_the_kernel() {
        // 4,000 samples on a 3 x 4 grid: the sample covariance of two standard normals has standard error at most
        // sqrt(2 / 4,000) = 0.0224; six standard errors are 0.134.
        let axes = [vec![0.0, 0.7, 1.4], vec![0.0, 0.7, 1.4, 2.1]];
        let prior = GridPrior::new(&axes, 1.0, 1.0).unwrap();
        let mut stream = Key::root(11).stream();
        let n = 4000;
        let mut sums = vec![0.0; 144];
        for _ in 0..n {
            let sample = prior.sample(&mut stream);
            for i in 0..12 {
                for j in 0..12 {
                    sums[i * 12 + j] += sample[i] * sample[j];
                }
            }
        }
        let point = |i: usize| (axes[0][i / 4], axes[1][i % 4]);
        for i in 0..12 {
            for j in 0..12 {
                let ((a, b), (c, d)) = (point(i), point(j));
                let expected = libm::exp(-0.5 * ((a - c).powi(2) + (b - d).powi(2)));
                let found = sums[i * 12 + j] / f64::from(n);
                assert!((found - expected).abs() < 0.134, "{i} {j}: {found} {expected}");
            }
        }
    }
}
