//! Mean and standard error, always with the number of replications.

use serde::{Deserialize, Serialize};

/// The mean of a metric over replications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard error of the mean, the sample standard deviation over sqrt(n); 0 for a single replication.
    pub se: f64,
    /// Number of replications.
    pub n: u64,
}

impl Estimate {
    /// Mean and standard error of `values`, summed in their order; `None` for no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let se = if values.len() > 1 { (squares / (n - 1.0) / n).sqrt() } else { 0.0 };
        Some(Self { mean, se, n: values.len() as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worked_example() {
        // Mean 5, sample variance 32/7, standard error sqrt(32/7/8).
        let estimate = Estimate::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((estimate.mean, estimate.n), (5.0, 8));
        assert!((estimate.se - (32.0_f64 / 56.0).sqrt()).abs() < 1e-15);
        assert_eq!(Estimate::of(&[3.0]).unwrap().se, 0.0);
        assert_eq!(Estimate::of(&[]), None);
    }
}
