//! The distributions of the sums that tree aggregation releases on two inputs, for attacks.

use super::MechanismError;
use crate::gp::Cholesky;

/// The distributions of the sums on two inputs, D and D': normal, with different means and the same covariance matrix C. C
/// is in multiples of the variance of the noise on a partial sum.
pub(super) struct Whitened {
    /// For each sum, the weight of each of its numbers in the log ratio: C^-1 times (means on D minus means on D').
    weights: Vec<Vec<f64>>,
    /// The average of the means on D and the means on D'.
    middle: Vec<Vec<f64>>,
    /// The distance of the two means in the metric of C^-1: the square root of d^T C^-1 d, where d is their difference.
    pub(super) apart: f64,
}

impl Whitened {
    /// For the first `seen` sums, whose `means` on the two inputs are given.
    pub(super) fn new(
        noise: SumNoise,
        seen: usize,
        means: &[Vec<Vec<f64>>; 2],
    ) -> Result<Self, MechanismError> {
        let length = means[0].first().map_or(0, Vec::len);
        let factor = noise.inverse(seen)?;
        let combined = |how: fn(f64, f64) -> f64| -> Vec<Vec<f64>> {
            let rows = means[0].iter().zip(&means[1]);
            rows.map(|(a, b)| a.iter().zip(b).map(|(a, b)| how(*a, *b)).collect()).collect()
        };
        let (difference, middle) = (combined(|a, b| a - b), combined(|a, b| 0.5 * (a + b)));
        let mut weights = difference.clone();
        for number in 0..length {
            let mut column: Vec<f64> = difference.iter().map(|sum| sum[number]).collect();
            factor.solve(&mut column);
            weights.iter_mut().zip(column).for_each(|(sum, weight)| sum[number] = weight);
        }
        let products = weights.iter().flatten().zip(difference.iter().flatten());
        let square: f64 = products.map(|(weight, by)| weight * by).sum();
        Ok(Self { weights, middle, apart: square.max(0.0).sqrt() })
    }

    /// ln of the ratio of the densities on D and on D', times the variance of the noise on a partial sum.
    pub(super) fn log_ratio(&self, sums: &[Vec<f64>]) -> f64 {
        let rows = sums.iter().zip(self.weights.iter().zip(&self.middle));
        let each = rows.flat_map(|(sum, (weights, middle))| {
            sum.iter().zip(weights.iter().zip(middle)).map(|(x, (weight, middle))| weight * (x - middle))
        });
        each.sum()
    }
}

/// How the sums follow from the noisy partial sums, all of which have independent noise of the same variance.
pub(super) enum SumNoise {
    /// For each sum, the place of the earlier sum to which one partial sum is added; `None` if the sum is itself one partial
    /// sum.
    Differences(Vec<Option<usize>>),
    /// For each partial sum, its weight in each of the sums.
    Weights(Vec<Vec<f64>>),
}

impl SumNoise {
    /// The inverse of the covariance matrix of the first `seen` sums.
    fn inverse(self, seen: usize) -> Result<Factor, MechanismError> {
        let columns = match self {
            Self::Differences(before) => return Ok(Factor::Differences(before)),
            Self::Weights(columns) => columns,
        };
        let mut values = vec![0.0; seen * seen];
        for column in columns {
            for (i, x) in column.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                column.iter().enumerate().for_each(|(j, z)| values[i * seen + j] += x * z);
            }
        }
        // Every sum has noise that no earlier sum has, so the matrix is positive definite.
        Cholesky::new(seen, values).map(Factor::Matrix).map_err(|_| MechanismError::Decomposition)
    }
}

/// The inverse of the covariance matrix of the sums.
enum Factor {
    Differences(Vec<Option<usize>>),
    Matrix(Cholesky),
}

impl Factor {
    /// Replaces b by C^-1 b.
    fn solve(&self, b: &mut [f64]) {
        match self {
            Self::Matrix(factor) => factor.solve(b),
            // C^-1 = M^T M, where M subtracts from each sum the sum that `before` names.
            Self::Differences(before) => {
                let then = |b: &[f64], t: usize| before[t].map_or(0.0, |place| b[place]);
                let parts: Vec<f64> = (0..b.len()).map(|t| b[t] - then(b, t)).collect();
                b.copy_from_slice(&parts);
                for (t, place) in before.iter().enumerate() {
                    if let Some(place) = place {
                        b[*place] -= parts[t];
                    }
                }
            }
        }
    }
}
