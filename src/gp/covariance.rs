//! Covariance functions of two inputs.

use super::Points;
use super::blocks::BLOCK;
use super::exponential::exp;
use super::simd::multiversion;

/// The shape of a covariance, dimensionless, as a function of two scaled inputs: inputs divided by the length-scale. r is
/// the distance between the scaled inputs, and s = r^2. Rasmussen and Williams 2006, chapter 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// exp(-s / 2).
    SquaredExponential,
    /// Matern with nu = 1/2: exp(-r).
    Matern12,
    /// Matern with nu = 3/2: (1 + a) exp(-a), a = sqrt(3) r.
    Matern32,
    /// Matern with nu = 5/2: (1 + a + a^2 / 3) exp(-a), a = sqrt(5) r.
    Matern52,
    /// The inner product of the scaled inputs; not stationary.
    Linear,
}

/// The length-scale or length-scales by which inputs are divided.
#[derive(Clone, Debug, PartialEq)]
pub enum LengthScale {
    /// The same in every dimension, in units of the points.
    Same(f64),
    /// One per dimension, `[d]`, each in units of that dimension.
    PerDimension(Vec<f64>),
}

impl LengthScale {
    /// The length-scale of one dimension, in units of that dimension.
    ///
    /// # Panics
    /// If there is one length-scale per dimension, and `dimension` is not below their number.
    #[must_use]
    pub fn of(&self, dimension: usize) -> f64 {
        match self {
            Self::Same(l) => *l,
            Self::PerDimension(l) => l[dimension],
        }
    }
}

/// A covariance function of two inputs, `[d]` each, in squared units of the outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariance {
    /// Shape.
    pub shape: Shape,
    /// Length-scale or length-scales, above 0 and in units of the inputs.
    pub length_scale: LengthScale,
    /// The factor by which the shape is multiplied, in squared units of the outcome. For a stationary shape, it is the
    /// variance of the function at every point.
    pub variance: f64,
}

impl Covariance {
    /// A covariance with the same `length_scale` in every dimension. `length_scale` is above 0 and in units of the inputs,
    /// `variance` in squared units of the outcome.
    #[must_use]
    pub fn new(shape: Shape, length_scale: f64, variance: f64) -> Self {
        Self { shape, length_scale: LengthScale::Same(length_scale), variance }
    }

    /// A covariance with one length-scale per dimension, `[d]`, each above 0 and in units of that dimension (automatic
    /// relevance determination: Rasmussen and Williams 2006, equation 5.1); `variance` is in squared units of the
    /// outcome.
    #[must_use]
    pub fn per_dimension(shape: Shape, length_scales: Vec<f64>, variance: f64) -> Self {
        Self { shape, length_scale: LengthScale::PerDimension(length_scales), variance }
    }

    /// variance * exp(-|x - z|^2 / (2 l^2)) for inputs x and z, with the length-scale l above 0 and in units of the
    /// inputs, and `variance` in squared units of the outcome. Rasmussen and Williams 2006, equation 4.9.
    #[must_use]
    pub fn squared_exponential(length_scale: f64, variance: f64) -> Self {
        Self::new(Shape::SquaredExponential, length_scale, variance)
    }

    /// Matern with nu = 5/2, length-scale above 0 and in units of the inputs, `variance` in squared units of the outcome.
    /// Rasmussen and Williams 2006, equation 4.17.
    #[must_use]
    pub fn matern52(length_scale: f64, variance: f64) -> Self {
        Self::new(Shape::Matern52, length_scale, variance)
    }

    /// Covariance of two inputs in their own units, `[d]` each, in squared units of the outcome.
    ///
    /// # Panics
    /// If there are fewer length-scales than dimensions.
    #[must_use]
    pub fn between(&self, x: &[f64], z: &[f64]) -> f64 {
        let linear = self.shape == Shape::Linear;
        let term = |x: f64, z: f64| if linear { x * z } else { (x - z) * (x - z) };
        let s = match &self.length_scale {
            LengthScale::Same(l) => x.iter().zip(z).map(|(&x, &z)| term(x, z)).sum::<f64>() / (l * l),
            LengthScale::PerDimension(l) => (0..x.len()).map(|i| term(x[i] / l[i], z[i] / l[i])).sum(),
        };
        self.of_scaled(s)
    }

    /// Adds to `out`, `[d]`, `weight` times the gradient of the covariance of `x` and `z`, `[d]` each, with respect to
    /// the coordinates of `x`. Returns the covariance, in squared units of the outcome. The gradient is in squared units of
    /// the outcome per unit of the input; `weight` may have any unit. At distance 0, a Matern covariance with nu = 1/2 has
    /// no gradient; 0 takes its place.
    ///
    /// # Panics
    /// If there are fewer length-scales than dimensions.
    pub fn add_gradient(&self, x: &[f64], z: &[f64], weight: f64, out: &mut [f64]) -> f64 {
        let scale = |dimension: usize| self.length_scale.of(dimension);
        let k = self.between(x, z);
        let squares = || (0..x.len()).map(|i| (x[i] - z[i]) / scale(i)).map(|r| r * r).sum::<f64>();
        let slope = weight * self.slope(if self.shape == Shape::Linear { 0.0 } else { squares() }, k);
        for (i, out) in out.iter_mut().enumerate() {
            let inner = if self.shape == Shape::Linear { z[i] } else { 2.0 * (x[i] - z[i]) };
            *out += slope * inner / (scale(i) * scale(i));
        }
        k
    }

    /// The derivative of the covariance with respect to s, the squared scaled distance or the scaled inner product, at
    /// an s where the covariance is `k`. The derivative is computed from `k`, to reuse the exponential in `k`. For a Matern
    /// covariance with nu = 1/2 and the scaled distance r, the derivative is -k / (2 r). At distance 0 that is infinite, and
    /// the function returns 0. The 0 is right for derivatives with respect to length-scales: they contain the derivative
    /// with respect to s only as a product with a term of s, and s times the derivative tends to 0 with s.
    pub(super) fn slope(&self, s: f64, k: f64) -> f64 {
        match self.shape {
            Shape::SquaredExponential => -0.5 * k,
            Shape::Matern12 if s == 0.0 => 0.0,
            Shape::Matern12 => -k / (2.0 * s.sqrt()),
            Shape::Matern32 => -1.5 * k / (1.0 + (3.0 * s).sqrt()),
            Shape::Matern52 => matern52_slope(s, k),
            Shape::Linear => self.variance,
        }
    }

    /// The variance if it is the same at all points; `None` for a linear covariance.
    pub(super) fn common_variance(&self) -> Option<f64> {
        (self.shape != Shape::Linear).then(|| self.of_scaled(0.0))
    }

    /// Covariance from the squared scaled distance, or from the scaled inner product.
    fn of_scaled(&self, s: f64) -> f64 {
        self.variance * of_shape(self.shape, s)
    }

    /// Writes the covariances of point `index` with every point of `points`, `[n, d]`, into `out`, `[n]`. O(n d).
    ///
    /// # Panics
    /// If there is no such point, `out` has another length, or there are fewer length-scales than dimensions.
    pub fn fill_column(&self, points: &Points, index: usize, out: &mut [f64]) {
        assert_eq!(out.len(), points.n(), "one place per point");
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            self.fill_block(points, index, block, out);
        }
    }

    /// Writes the covariances of point `index` with a block of points into `out`, which has one place for each of
    /// these points.
    pub(super) fn fill_block(&self, points: &Points, index: usize, block: usize, out: &mut [f64]) {
        self.fill(points.row(index), |dimension| points.block_column(block, dimension), out);
    }

    /// Writes the covariances of `x`, `[d]`, with points into `out`, `[m]`; `column` returns the coordinates of these points
    /// in a dimension, `[m]`. Each covariance equals the result of [`Self::between`] bit for bit. O(m d).
    pub(super) fn fill<'a>(&self, x: &[f64], column: impl Fn(usize) -> &'a [f64], out: &mut [f64]) {
        out.fill(0.0);
        for (dimension, &centre) in x.iter().enumerate() {
            let column = column(dimension);
            let scale = match &self.length_scale {
                LengthScale::Same(_) => 1.0,
                LengthScale::PerDimension(l) => l[dimension],
            };
            match self.shape {
                Shape::Linear => add_products(out, column, scale, centre / scale),
                // Differences are squared directly, because x.x + z.z - 2 x.z loses digits by cancellation.
                _ => add_squares(out, column, scale, centre / scale),
            }
        }
        let square = match self.length_scale {
            LengthScale::Same(l) => l * l,
            LengthScale::PerDimension(_) => 1.0,
        };
        match self.shape {
            Shape::SquaredExponential => squared_exponentials(out, square, self.variance),
            Shape::Matern52 => matern52s(out, square, self.variance),
            Shape::Matern12 | Shape::Matern32 | Shape::Linear => {
                out.iter_mut().for_each(|s| *s = self.of_scaled(*s / square));
            }
        }
    }

    /// Replaces each number of `s`, `[m]`, by the derivative that [`Self::slope`] returns for this number and the entry
    /// of `k`, `[m]`, with the same index.
    pub(super) fn slopes(&self, s: &mut [f64], k: &[f64]) {
        match self.shape {
            Shape::Matern52 => matern52_slopes(s, k),
            _ => s.iter_mut().zip(k).for_each(|(s, k)| *s = self.slope(*s, *k)),
        }
    }

    /// Writes into `out`, `[m]`, one dimension's terms of s, the squared scaled distance or the scaled inner product of one
    /// point and each of m other points. `x` is the coordinate of the one point in this dimension; `column`, `[m]`, holds
    /// the coordinates of the m other points.
    pub(super) fn fill_terms(&self, dimension: usize, x: f64, column: &[f64], out: &mut [f64]) {
        let l = self.length_scale.of(dimension);
        if self.shape == Shape::Linear {
            out.iter_mut().zip(column).for_each(|(term, z)| *term = (x / l) * (z / l));
        } else {
            scaled_squares(out, column, x, l);
        }
    }

    /// Writes into `out`, `[m]`, the derivatives of the covariances of an input and m points with respect to the input's
    /// coordinate `x` in one dimension. `slopes`, `[m]`, holds the covariances' derivatives with respect to s (see
    /// [`Self::slope`]), and `column`, `[m]`, the points' coordinates in that dimension.
    pub(super) fn fill_derivatives(
        &self,
        dimension: usize,
        x: f64,
        column: &[f64],
        slopes: &[f64],
        out: &mut [f64],
    ) {
        let l = self.length_scale.of(dimension);
        if self.shape == Shape::Linear {
            let each = out.iter_mut().zip(column).zip(slopes);
            each.for_each(|((out, z), slope)| *out = slope * z / (l * l));
        } else {
            derivatives(out, column, slopes, x, l);
        }
    }
}

#[inline(always)]
fn matern52_slope(s: f64, k: f64) -> f64 {
    let a = (5.0 * s).sqrt();
    -5.0 / 6.0 * k * (1.0 + a) / (1.0 + a + a * a / 3.0)
}

#[inline(always)]
fn of_shape(shape: Shape, s: f64) -> f64 {
    match shape {
        Shape::SquaredExponential => exp(-0.5 * s),
        Shape::Matern12 => exp(-s.sqrt()),
        Shape::Matern32 => {
            let a = (3.0 * s).sqrt();
            (1.0 + a) * exp(-a)
        }
        Shape::Matern52 => {
            let a = (5.0 * s).sqrt();
            (1.0 + a + 5.0 * s / 3.0) * exp(-a)
        }
        Shape::Linear => s,
    }
}

multiversion! {
    fn add_products(out: &mut [f64], column: &[f64], scale: f64, centre: f64) {
        for (sum, &x) in out.iter_mut().zip(column) {
            *sum += (x / scale) * centre;
        }
    }

    fn add_squares(out: &mut [f64], column: &[f64], scale: f64, centre: f64) {
        if scale == 1.0 {
            for (sum, &x) in out.iter_mut().zip(column) {
                let difference = x - centre;
                *sum += difference * difference;
            }
        } else {
            for (sum, &x) in out.iter_mut().zip(column) {
                let difference = x / scale - centre;
                *sum += difference * difference;
            }
        }
    }

    fn squared_exponentials(out: &mut [f64], square: f64, variance: f64) {
        for value in out {
            *value = variance * of_shape(Shape::SquaredExponential, *value / square);
        }
    }

    fn matern52s(out: &mut [f64], square: f64, variance: f64) {
        for value in out {
            *value = variance * of_shape(Shape::Matern52, *value / square);
        }
    }

    fn matern52_slopes(s: &mut [f64], k: &[f64]) {
        for (s, &k) in s.iter_mut().zip(k) {
            *s = matern52_slope(*s, k);
        }
    }

    fn scaled_squares(out: &mut [f64], column: &[f64], x: f64, scale: f64) {
        for (term, &z) in out.iter_mut().zip(column) {
            let difference = (x - z) / scale;
            *term = difference * difference;
        }
    }

    fn derivatives(out: &mut [f64], column: &[f64], slopes: &[f64], x: f64, scale: f64) {
        for index in 0..out.len().min(column.len()).min(slopes.len()) {
            out[index] = slopes[index] * (2.0 * (x - column[index])) / (scale * scale);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gradients_are_those_of_finite_differences() {
        let shapes =
            [Shape::SquaredExponential, Shape::Matern12, Shape::Matern32, Shape::Matern52, Shape::Linear];
        let (x, z) = ([0.3, -0.2, 0.9], [0.1, 0.4, 0.7]);
        for shape in shapes {
            let per_dimension = Covariance::per_dimension(shape, vec![0.3, 0.9, 1.4], 1.7);
            for covariance in [per_dimension, Covariance::new(shape, 0.6, 1.7)] {
                let mut found = [1.0; 3];
                let k = covariance.add_gradient(&x, &z, 2.0, &mut found);
                assert_eq!(k, covariance.between(&x, &z));
                for i in 0..3 {
                    let at = |step: f64| {
                        let mut moved = x;
                        moved[i] += step;
                        covariance.between(&moved, &z)
                    };
                    let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
                    assert!((found[i] - 1.0 - 2.0 * difference).abs() < 1e-8, "{covariance:?} {i}");
                }
                let mut none = [0.0; 3];
                covariance.add_gradient(&x, &x, 1.0, &mut none);
                assert!(shape == Shape::Linear || none == [0.0; 3]);
            }
        }
    }

    #[test]
    fn values_agree_with_the_oracle() {
        // tests/oracles/ldp_federated_units.json, entry "kernels": l = 0.2, points 0, 0.25, 0.5, 0.75, 1, first row.
        let points = Points::new(5, 1, vec![0.0, 0.25, 0.5, 0.75, 1.0]);
        let mut row = [0.0; 5];
        Covariance::squared_exponential(0.2, 1.0).fill_column(&points, 0, &mut row);
        let se = [
            1.0,
            0.457_833_361_771_614_3,
            0.043_936_933_623_407_434,
            0.000_883_826_306_935_051_5,
            3.726_653_172_078_677_7e-6,
        ];
        for (found, expected) in row.iter().zip(se) {
            assert!((found - expected).abs() <= 1e-14 * expected, "{found} {expected}");
        }
        Covariance::matern52(0.2, 1.0).fill_column(&points, 0, &mut row);
        let matern = [
            1.0,
            0.391_056_229_519_322_23,
            0.063_510_214_548_943_75,
            0.007_490_401_385_735_675,
            0.000_750_933_788_873_754_6,
        ];
        for (found, expected) in row.iter().zip(matern) {
            assert!((found - expected).abs() <= 1e-13 * expected, "{found} {expected}");
        }
    }
}
