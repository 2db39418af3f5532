//! Means with standard errors and numbers of replications, and confidence intervals by Student's t.

use crate::special::incomplete_beta;
use serde::{Deserialize, Deserializer, Serialize};

/// The mean of a metric over replications.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// Arithmetic mean.
    pub mean: f64,
    /// Standard error of the mean: the sample standard deviation divided by sqrt(n); 0 for a single replication.
    pub se: f64,
    /// Number of replications.
    pub n: u64,
}

/// Reads an estimate. Where a summary of schema 1 has only a mean, it is read as the mean of a single value, for which no
/// standard error is shown.
pub(in crate::study) fn estimate_or_mean<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Estimate>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Stored {
        Estimate(Estimate),
        Mean(f64),
    }
    Ok(Option::<Stored>::deserialize(deserializer)?.map(|stored| match stored {
        Stored::Estimate(estimate) => estimate,
        Stored::Mean(mean) => Estimate { mean, se: 0.0, n: 1 },
    }))
}

/// 2^-600. Any finite number multiplied by this has a finite square, and a sum of up to 2^60 such squares is finite too.
pub(super) const SHRUNK: f64 = f64::from_bits((1023 - 600) << 52);

impl Estimate {
    /// The two-sided p-value of the hypothesis that the true mean is 0, by Student's t with n - 1 degrees of freedom. If the
    /// values have no spread, the p-value is 0 for a mean other than 0. `None` for fewer than two values, or if all values
    /// are 0.
    #[must_use]
    pub fn p_value(self) -> Option<f64> {
        match (self.n > 1, self.se > 0.0) {
            (true, true) => {
                Some((2.0 * student_tail((self.mean / self.se).abs(), (self.n - 1) as f64)).min(1.0))
            }
            (true, false) if self.mean != 0.0 => Some(0.0),
            _ => None,
        }
    }

    /// Half the width of the interval around the mean that covers the true mean with probability `confidence`, by Student's
    /// t with n - 1 degrees of freedom; `None` for fewer than two values.
    #[must_use]
    pub fn half_width(self, confidence: f64) -> Option<f64> {
        (self.n > 1).then(|| student_quantile(0.5 + confidence / 2.0, (self.n - 1) as f64) * self.se)
    }

    /// Mean and standard error of `values`, summed in their order; `None` for no values.
    #[must_use]
    pub fn of(values: &[f64]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let sums = |scale: f64| {
            let sum: f64 = values.iter().map(|value| value * scale).sum();
            let mean = sum / values.len() as f64;
            (sum, values.iter().map(|value| (value * scale - mean) * (value * scale - mean)).sum())
        };
        Some(Self::of_sums(values.len() as u64, sums(1.0), || sums(SHRUNK)))
    }

    /// The estimate from the sum of n values and the sum of the squares of their distances from the mean. If these sums
    /// overflow, the estimate is computed from `shrunk`, the same two sums for the values times [`SHRUNK`], and is limited
    /// to finite numbers.
    pub(super) fn of_sums(n: u64, sums: (f64, f64), shrunk: impl FnOnce() -> (f64, f64)) -> Self {
        let count = n as f64;
        let of = |(sum, squares): (f64, f64)| {
            let se = if n > 1 { (squares / (count - 1.0) / count).sqrt() } else { 0.0 };
            Self { mean: sum / count, se, n }
        };
        let found = of(sums);
        if found.mean.is_finite() && found.se.is_finite() {
            return found;
        }
        let shrunk = of(shrunk());
        if !shrunk.mean.is_finite() {
            return found;
        }
        Self {
            mean: (shrunk.mean / SHRUNK).clamp(f64::MIN, f64::MAX),
            se: (shrunk.se / SHRUNK).min(f64::MAX),
            n,
        }
    }
}

/// Half the width of the interval around the mean of `values` that covers the true mean with probability
/// `confidence`, by Student's t with n - 1 degrees of freedom; `None` for fewer than two values.
#[must_use]
pub(in crate::study) fn half_width(values: &[f64], confidence: f64) -> Option<f64> {
    Estimate::of(values)?.half_width(confidence)
}

/// P(T > t) for t >= 0 and Student's t with `df` degrees of freedom: I_x(df/2, 1/2) / 2 with x = df / (df + t^2).
#[must_use]
pub(in crate::study) fn student_tail(t: f64, df: f64) -> f64 {
    incomplete_beta(df / 2.0, 0.5, df / (df + t * t)).0 / 2.0
}

/// The quantile of Student's t with `df` degrees of freedom (above 0, not necessarily whole), for `p` in [0.5, 1). The
/// relative error is about 1e-12, except for `p` close to 0.5 and for quantiles above about 1e150.
#[must_use]
pub(in crate::study) fn student_quantile(p: f64, df: f64) -> f64 {
    if p <= 0.5 {
        return 0.0;
    }
    let tail = |t: f64| student_tail(t, df);
    let (mut low, mut high) = (0.0, 1.0);
    while tail(high) > 1.0 - p && high < 1e300 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if tail(middle) > 1.0 - p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
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
        // Squares, and sums, that exceed the largest number.
        let large = Estimate::of(&[2e200, 4e200, 4e200, 4e200, 5e200, 5e200, 7e200, 9e200]).unwrap();
        assert!(
            (large.mean / 5e200 - 1.0).abs() < 1e-12 && (large.se / 1e200 - estimate.se).abs() < 1e-12,
            "{large:?}"
        );
        let largest = Estimate::of(&[f64::MAX, f64::MAX, f64::MIN]).unwrap();
        assert!(
            (largest.mean / (f64::MAX / 3.0) - 1.0).abs() < 1e-12 && largest.se.is_finite(),
            "{largest:?}"
        );
        assert_eq!(Estimate::of(&[]), None);
    }

    #[test]
    fn students_quantiles_are_those_of_the_tables() {
        // One and two degrees of freedom have closed forms: tan(pi (p - 1/2)) and (2p - 1) / sqrt(2 p (1 - p)).
        assert!((student_quantile(0.975, 1.0) - 12.706_204_736_174_7).abs() < 1e-9);
        assert!((student_quantile(0.975, 2.0) - 0.95 / (2.0 * 0.975 * 0.025_f64).sqrt()).abs() < 1e-10);
        for (df, quantile) in [(4.0, 2.776_445), (9.0, 2.262_157), (29.0, 2.045_230), (199.0, 1.971_957)] {
            assert!((student_quantile(0.975, df) - quantile).abs() < 1e-6, "{df}");
        }
        assert!((student_quantile(0.975, 1e7) - 1.959_964).abs() < 1e-5);
        let width = half_width(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0], 0.95).unwrap();
        assert!((width - 2.364_624 * (32.0_f64 / 56.0).sqrt()).abs() < 1e-6);
        assert_eq!(half_width(&[1.0], 0.95), None);
    }

    #[test]
    fn p_values_are_those_of_the_tables() {
        // Two degrees of freedom: P(|T| > t) = 1 - t / sqrt(2 + t^2). Mean 2, se 1/sqrt(3), so t = 2 sqrt(3).
        let t = 2.0 * 3.0_f64.sqrt();
        let found = Estimate::of(&[1.0, 2.0, 3.0]).unwrap().p_value().unwrap();
        assert!((found - (1.0 - t / (2.0 + t * t).sqrt())).abs() < 1e-13, "{found}");
        // The quantile and the tail invert each other.
        assert!((student_tail(student_quantile(0.99, 7.0), 7.0) - 0.01).abs() < 1e-13);
        let of = |values: &[f64]| Estimate::of(values).and_then(Estimate::p_value);
        assert_eq!((of(&[1.0, 1.0]), of(&[0.0, 0.0]), of(&[3.0])), (Some(0.0), None, None));
    }
}
