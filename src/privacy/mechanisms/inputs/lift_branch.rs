//! The privacy loss due to PO-GP-UCB's decision to lift: singular values are lifted if the smallest one is below the
//! threshold, and two neighbours may lie on either side of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// One of the authors' two ways to lift singular values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum JlVariant {
    /// Each singular value s becomes sqrt(s^2 + omega^2), as in the paper.
    #[default]
    Paper,
    /// Each singular value s becomes s + omega, as in the authors' public code.
    PublicCode,
}

impl JlVariant {
    /// A singular value after the lift by a threshold omega.
    pub(super) fn lifted(self, s: f64, omega: f64) -> f64 {
        match self {
            Self::Paper => libm::sqrt(s * s + omega * omega),
            Self::PublicCode => s + omega,
        }
    }
}

/// The least delta that an (epsilon, delta)-DP claim for the projection can have, because of the lifting decision
/// alone. Two data sets have the same singular vectors and a smallest singular value just above or below the threshold;
/// the r numbers of Z along its singular vector differ in variance by a factor of 2 (or 4 as the public code lifts).
/// `epsilon` is at least 0.
///
/// For N(0, 1) against N(0, v) in r coordinates the privacy loss is a monotone function of the squared norm, so the
/// curve is exact: differences of chi-squared probabilities, in both directions.
pub(super) fn branch_delta(epsilon: f64, r: usize, variant: JlVariant) -> f64 {
    let log_ratio = match variant {
        JlVariant::Paper => LN_2,
        JlVariant::PublicCode => 2.0 * LN_2,
    };
    let v = libm::exp(log_ratio);
    let above = |t: f64| (chi_squared_above(r, t), chi_squared_above(r, t / v));
    let half = 0.5 * r as f64 * log_ratio;
    // Privacy loss of lifted against unlifted numbers of squared norm t: t/2 (1 - 1/v) - r/2 ln v.
    let place = |loss: f64| 2.0 * (loss + half) / (1.0 - 1.0 / v);
    let growth = libm::exp(epsilon);
    let (plain, lifted) = above(place(epsilon));
    let lifted_first = lifted - growth * plain;
    let back = place(-epsilon);
    let plain_first = if back > 0.0 {
        let (plain, lifted) = above(back);
        (1.0 - plain) - growth * (1.0 - lifted)
    } else {
        0.0
    };
    lifted_first.max(plain_first).max(0.0)
}

/// Probability that a chi-squared variable of r degrees of freedom exceeds t > 0: the regularised upper incomplete
/// gamma function of r/2 and t/2, by its recurrence from 1/2 or 1.
fn chi_squared_above(r: usize, t: f64) -> f64 {
    let x = 0.5 * t;
    let (mut a, mut tail) =
        if r.is_multiple_of(2) { (1.0, libm::exp(-x)) } else { (0.5, libm::erfc(x.sqrt())) };
    while 2.0 * a < r as f64 {
        tail += libm::exp(a * libm::log(x) - x - libm::lgamma(a + 1.0));
        a += 1.0;
    }
    tail.min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_squared_tails_of_the_tables() {
        // Upper 5 % points: 3.8415, 5.9915, 18.3070, 24.9958 for 1, 2, 10, 15 degrees.
        for (r, t) in [(1, 3.841_459), (2, 5.991_465), (10, 18.307_038), (15, 24.995_790)] {
            assert!((chi_squared_above(r, t) - 0.05).abs() < 1e-7, "{r} {}", chi_squared_above(r, t));
        }
    }

    #[test]
    fn more_columns_give_more_away() {
        let at = |epsilon, r| branch_delta(epsilon, r, JlVariant::Paper);
        // r = 2: squared norms are exponential, with means 2 and 4. The loss exceeds epsilon beyond t = 4 (epsilon + ln
        // 2), with probability e^(-epsilon) / 2 if lifted and e^(-2 epsilon) / 4 if not: delta = e^(-epsilon) / 4.
        for epsilon in [0.0, 1.0, 5.0] {
            assert!((at(epsilon, 2) - 0.25 * libm::exp(-epsilon)).abs() < 1e-12);
        }
        assert!(at(3.0, 10) > 0.1 && at(3.0, 10) < at(3.0, 20));
        assert!(branch_delta(3.0, 10, JlVariant::PublicCode) > at(3.0, 10));
        assert!(at(16.0, 1) < 1e-6, "a large claim for one column is not refuted by this");
    }
}
