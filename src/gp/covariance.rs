//! Covariance functions of the distance between two points.

use super::Points;

/// The shape of a stationary covariance as a function of squared distance over squared length-scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// exp(-s / 2), s the squared scaled distance.
    SquaredExponential,
    /// Matern with nu = 5/2.
    Matern52,
}

/// A stationary, isotropic covariance function.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariance {
    /// Shape.
    pub shape: Shape,
    /// Length-scale in units of the points.
    pub length_scale: f64,
    /// Variance at distance 0.
    pub variance: f64,
}

impl Covariance {
    /// variance * exp(-|x - z|^2 / (2 l^2)).
    #[must_use]
    pub fn squared_exponential(length_scale: f64, variance: f64) -> Self {
        Self { shape: Shape::SquaredExponential, length_scale, variance }
    }

    /// Matern with nu = 5/2.
    #[must_use]
    pub fn matern52(length_scale: f64, variance: f64) -> Self {
        Self { shape: Shape::Matern52, length_scale, variance }
    }

    /// Covariance at a squared distance.
    #[must_use]
    pub fn at(&self, squared_distance: f64) -> f64 {
        let s = squared_distance / (self.length_scale * self.length_scale);
        self.variance
            * match self.shape {
                Shape::SquaredExponential => libm::exp(-0.5 * s),
                Shape::Matern52 => {
                    let a = (5.0 * s).sqrt();
                    (1.0 + a + 5.0 * s / 3.0) * libm::exp(-a)
                }
            }
    }

    /// Covariances of point `index` with every point; `out` has one place per point.
    pub fn fill_column(&self, points: &Points, index: usize, out: &mut [f64]) {
        // Squared differences directly, never x.x + z.z - 2 x.z, which cancels.
        out.fill(0.0);
        for dimension in 0..points.d() {
            let column = points.column(dimension);
            let centre = column[index];
            for (sum, &x) in out.iter_mut().zip(column) {
                let difference = x - centre;
                *sum += difference * difference;
            }
        }
        for value in out {
            *value = self.at(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_oracle() {
        // ldp_federated_units.json, kernels: l = 0.2, points 0, 0.25, 0.5, 0.75, 1, first row.
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
