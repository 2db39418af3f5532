//! Random Fourier features: a stationary covariance as the inner product of random cosines.

use super::GpError;
use super::covariance::{Covariance, Shape};
use super::vectors::{add_multiple, subtract_multiple};
use crate::rng::Stream;
use std::f64::consts::TAU;

/// How feature vectors, `[m]` and in units of the outcome, are scaled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FeatureLength {
    /// sqrt(2 variance / m) cos(..): the inner product estimates the covariance without bias.
    #[default]
    Estimator,
    /// Every feature vector is scaled so that its squared length is exactly the variance, as in FTS (federated Thompson
    /// sampling).
    Exact,
}

/// m random features phi(x) = sqrt(2 variance / m) cos(S x + b), in units of the outcome, or the same cosines scaled as
/// [`FeatureLength::Exact`]. Agents that share features use the same S and b.
///
/// Source: Rahimi and Recht 2008. Frequencies of a Matern covariance with parameter nu follow Student's t with 2 nu
/// degrees of freedom (Rasmussen and Williams 2006, equation 4.15).
#[derive(Clone, Debug, PartialEq)]
pub struct FourierFeatures {
    d: usize,
    length: FeatureLength,
    variance: f64,
    /// Frequencies S, m x d, in inverse units of the inputs.
    frequencies: Vec<f64>,
    /// Phases b, m numbers in [0, 2 pi).
    phases: Vec<f64>,
}

impl FourierFeatures {
    /// Draws `m` features of inputs with `d` dimensions: frequencies `[m, d]`, in inverse units of the inputs, and phases
    /// `[m]`, in radians.
    ///
    /// # Errors
    /// [`GpError::NotStationary`] for a linear covariance, which is not a function of the distance.
    ///
    /// # Panics
    /// If there are fewer length-scales than dimensions.
    pub fn draw(
        covariance: &Covariance,
        d: usize,
        m: usize,
        length: FeatureLength,
        stream: &mut Stream,
    ) -> Result<Self, GpError> {
        let degrees = match covariance.shape {
            Shape::SquaredExponential => None,
            Shape::Matern12 => Some(1),
            Shape::Matern32 => Some(3),
            Shape::Matern52 => Some(5),
            Shape::Linear => return Err(GpError::NotStationary),
        };
        let mut frequencies = Vec::with_capacity(m * d);
        let mut phases = Vec::with_capacity(m);
        for _ in 0..m {
            let first = frequencies.len();
            frequencies.extend((0..d).map(|_| stream.normal()));
            // Multivariate Student's t: all dimensions share the denominator.
            let spread = degrees.map_or(1.0, |degrees: u32| {
                let chi_squared: f64 = (0..degrees).map(|_| stream.normal()).map(|z| z * z).sum();
                (chi_squared / f64::from(degrees)).sqrt()
            });
            for (dimension, frequency) in frequencies[first..].iter_mut().enumerate() {
                *frequency /= spread * covariance.length_scale.of(dimension);
            }
            phases.push(TAU * stream.uniform());
        }
        Ok(Self { d, length, variance: covariance.variance, frequencies, phases })
    }

    /// Number of features, m.
    #[must_use]
    pub fn m(&self) -> usize {
        self.phases.len()
    }

    /// Number of dimensions of an input, d.
    #[must_use]
    pub fn d(&self) -> usize {
        self.d
    }

    /// Writes the features of one input `x`, `[d]`, into `out`, `[m]`, in units of the outcome; their inner products are
    /// in squared units of the outcome. O(m d).
    ///
    /// # Panics
    /// If `x` does not have d coordinates, or `out` does not have m places.
    pub fn fill(&self, x: &[f64], out: &mut [f64]) {
        assert_eq!(x.len(), self.d, "one coordinate per dimension");
        assert_eq!(out.len(), self.m(), "one place per feature");
        for (k, value) in out.iter_mut().enumerate() {
            *value = libm::cos(self.angle(k, x));
        }
        let square = match self.length {
            FeatureLength::Estimator => 0.5 * self.m() as f64,
            FeatureLength::Exact => super::dot(out, out),
        };
        // The probability that all cosines are 0 is 0.
        let factor = if square > 0.0 { (self.variance / square).sqrt() } else { 0.0 };
        out.iter_mut().for_each(|value| *value *= factor);
    }

    /// The inner product, in units of the outcome, of `weights`, `[m]` and dimensionless, with the features of an input `x`,
    /// `[d]`. The features are scaled as [`FeatureLength::Estimator`], whatever the scaling of [`Self::fill`]. The gradient
    /// of the inner product, per unit of the input, is added to `gradient`, `[d]`. O(m d).
    ///
    /// # Panics
    /// If there are not m weights, or if `x` or `gradient` does not have d coordinates.
    pub fn weighted(&self, weights: &[f64], x: &[f64], gradient: &mut [f64]) -> f64 {
        assert_eq!(
            (weights.len(), x.len(), gradient.len()),
            (self.m(), self.d, self.d),
            "m weights, d coordinates"
        );
        let factor = (2.0 * self.variance / self.m().max(1) as f64).sqrt();
        let mut value = 0.0;
        for (k, weight) in weights.iter().enumerate() {
            let angle = self.angle(k, x);
            value += weight * libm::cos(angle);
            let slope = -factor * weight * libm::sin(angle);
            add_multiple(gradient, slope, self.frequency(k));
        }
        factor * value
    }

    /// The k-th row of `frequencies`, `[d]`.
    #[inline]
    fn frequency(&self, k: usize) -> &[f64] {
        &self.frequencies[k * self.d..(k + 1) * self.d]
    }

    /// The argument of the k-th cosine at `x`, `[d]`.
    #[inline]
    fn angle(&self, k: usize, x: &[f64]) -> f64 {
        let (mut angle, x) = (self.phases[k], &x[..self.d]);
        let row = self.frequency(k);
        for i in 0..row.len() {
            angle += row[i] * x[i];
        }
        angle
    }

    /// The value of [`Self::weighted`] for the same `weights`, `[m]`, and `x`, `[d]`, without its gradient, in half the
    /// time.
    ///
    /// # Panics
    /// If there are not m weights, or if `x` does not have d coordinates.
    #[must_use]
    pub fn weighted_value(&self, weights: &[f64], x: &[f64]) -> f64 {
        assert_eq!((weights.len(), x.len()), (self.m(), self.d), "m weights, d coordinates");
        let mut value = 0.0;
        for (k, weight) in weights.iter().enumerate() {
            value += weight * libm::cos(self.angle(k, x));
        }
        (2.0 * self.variance / self.m().max(1) as f64).sqrt() * value
    }

    /// The inner product, in units of the outcome, of `weights`, `[m]` and dimensionless, with the features of an input `x`,
    /// `[d]`, as [`Self::fill`] scales them. The gradient of the inner product, per unit of the input, replaces `gradient`,
    /// `[d]`. O(m d).
    ///
    /// # Panics
    /// If there are not m weights, or if `x` or `gradient` does not have d coordinates.
    pub fn product(&self, weights: &[f64], x: &[f64], gradient: &mut [f64]) -> f64 {
        assert_eq!(
            (weights.len(), x.len(), gradient.len()),
            (self.m(), self.d, self.d),
            "m weights, d coordinates"
        );
        if self.length == FeatureLength::Estimator {
            gradient.fill(0.0);
            return self.weighted(weights, x, gradient);
        }
        // Let w be the weights, c the cosines, c' the derivatives of the cosines, and sd the square root of the variance.
        // The product is sd (w c) / |c|, and the gradient of the product is sd ((w c') - (w c) (c c') / |c|^2) / |c|.
        let (mut along, mut square) = (0.0, 0.0);
        let mut of_square = vec![0.0; self.d];
        gradient.fill(0.0);
        for (k, weight) in weights.iter().enumerate() {
            let angle = self.angle(k, x);
            let (cos, sin) = (libm::cos(angle), libm::sin(angle));
            along += weight * cos;
            square += cos * cos;
            subtract_multiple(gradient, weight * sin, self.frequency(k));
            subtract_multiple(&mut of_square, cos * sin, self.frequency(k));
        }
        // The probability that all cosines are 0 is 0.
        let factor = if square > 0.0 { (self.variance / square).sqrt() } else { 0.0 };
        let share = if square > 0.0 { along / square } else { 0.0 };
        for (slope, by_square) in gradient.iter_mut().zip(&of_square) {
            *slope = factor * (*slope - share * by_square);
        }
        factor * along
    }

    /// Features of one input `x`, `[d]`: `[m]`, in units of the outcome.
    ///
    /// # Panics
    /// If `x` does not have d coordinates.
    #[must_use]
    pub fn of(&self, x: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.m()];
        self.fill(x, &mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// Central differences with a step of 1e-5 have an error of at most 1e-10 times the largest third derivative, which is
    /// below 100 here.
    #[test]
    fn products_are_those_of_the_features_and_gradients_those_of_finite_differences() {
        let covariance = Covariance::per_dimension(Shape::Matern52, vec![0.4, 0.9, 0.6], 1.7);
        for length in [FeatureLength::Exact, FeatureLength::Estimator] {
            let mut stream = Key::root(5).stream();
            let features = FourierFeatures::draw(&covariance, 3, 40, length, &mut stream).unwrap();
            let weights: Vec<f64> = (0..40).map(|_| stream.normal()).collect();
            let at = |x: &[f64]| -> f64 { features.of(x).iter().zip(&weights).map(|(phi, w)| phi * w).sum() };
            let (x, mut gradient) = ([0.31, 0.72, 0.45], [7.0; 3]);
            let value = features.product(&weights, &x, &mut gradient);
            assert!((value - at(&x)).abs() < 1e-12, "{length:?}: {value} {}", at(&x));
            let weighted = features.weighted(&weights, &x, &mut [0.0; 3]);
            assert_eq!(features.weighted_value(&weights, &x), weighted);
            for input in 0..3 {
                let moved = |step: f64| {
                    let mut moved = x;
                    moved[input] += step;
                    at(&moved)
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope - gradient[input]).abs() < 1e-7, "{length:?}: {slope} {}", gradient[input]);
            }
        }
    }
}
