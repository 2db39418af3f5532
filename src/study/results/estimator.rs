//! A mean with its standard error, from values that are read one by one, in two passes, and not kept in memory.

use super::statistics::{Estimate, SHRUNK};

/// Which of two passes over the same values, in the same order, is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::study) enum Pass {
    /// The values are added up, which gives the mean.
    Means,
    /// The squares of the values' distances from the mean are added up, which gives the standard error.
    Errors,
}

/// The sums of one number over replications. After both passes, [`Estimator::estimate`] returns bit for bit what
/// [`Estimate::of`] returns for the same values in the same order.
#[derive(Clone, Copy, Debug)]
pub(in crate::study) struct Estimator {
    /// Sum of the values.
    sum: f64,
    /// Sum of the squares of the values' distances from the mean.
    squares: f64,
    /// Number of values.
    n: u64,
    /// `sum` and `squares` for the values times 2^-600. They are used if `sum` or `squares` exceeds the largest finite
    /// `f64`.
    shrunk: (f64, f64),
}

impl Default for Estimator {
    fn default() -> Self {
        // The standard library adds up from -0, so that the sum of values that are all -0 is -0.
        Self { sum: -0.0, squares: 0.0, n: 0, shrunk: (-0.0, 0.0) }
    }
}

impl Estimator {
    /// Adds a value.
    pub(in crate::study) fn add(&mut self, pass: Pass, value: f64) {
        match pass {
            Pass::Means => {
                self.sum += value;
                self.shrunk.0 += value * SHRUNK;
                self.n += 1;
            }
            Pass::Errors => {
                let distance = value - self.mean();
                self.squares += distance * distance;
                let distance = value * SHRUNK - self.shrunk.0 / self.n as f64;
                self.shrunk.1 += distance * distance;
            }
        }
    }

    /// Number of values.
    pub(in crate::study) fn n(&self) -> u64 {
        self.n
    }

    /// Mean of the values, once the first pass has ended; not a number if there are no values.
    pub(in crate::study) fn mean(&self) -> f64 {
        self.sum / self.n as f64
    }

    /// Mean and standard error, once both passes have ended; `None` for no values.
    pub(in crate::study) fn estimate(&self) -> Option<Estimate> {
        (self.n > 0).then(|| Estimate::of_sums(self.n, (self.sum, self.squares), || self.shrunk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_passes_give_the_bits_of_all_values_at_once() {
        let bits = |estimate: Option<Estimate>| {
            estimate.map(|estimate| (estimate.mean.to_bits(), estimate.se.to_bits(), estimate.n))
        };
        // Numbers of very different sizes, so that another order of additions gives other bits.
        let value = |k: u32| libm::sin(f64::from(k)) * libm::exp(f64::from(k % 23) - 9.0);
        for count in [0, 1, 2, 3, 10, 1000] {
            let values: Vec<f64> = (0..count).map(value).collect();
            for values in [values, vec![-0.0; count as usize]] {
                let mut estimator = Estimator::default();
                for pass in [Pass::Means, Pass::Errors] {
                    values.iter().for_each(|value| estimator.add(pass, *value));
                }
                assert_eq!(bits(estimator.estimate()), bits(Estimate::of(&values)), "{count} values");
            }
        }
    }
}
