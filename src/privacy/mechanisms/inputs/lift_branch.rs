//! The privacy loss due to PO-GP-UCB's decision to lift. Singular values are lifted if the smallest one is below the
//! threshold, and the smallest singular values of two neighbours may lie on different sides of the threshold.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// One of the two ways in which the authors of PO-GP-UCB lift singular values by the threshold omega.
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

/// A lower bound on delta, due to the lifting decision alone: at this `epsilon`, an (epsilon, delta)-DP claim for the
/// projection with a smaller delta is false. The bound compares two data sets with the same singular vectors. The smallest
/// singular value of one lies just below the threshold, that of the other just above it. Along the singular vector of the
/// smallest value, the projected inputs Z have r numbers. The variances of these numbers in the two data sets differ by a
/// factor v of 2 (variant `Paper`) or 4 (`PublicCode`). `epsilon` is at least 0.
///
/// For N(0, 1) against N(0, v) in r coordinates the privacy loss is a monotone function of the squared norm. So the loss
/// exceeds epsilon on one side of a threshold of the squared norm, and delta is computed exactly: it is the chi-squared
/// probability of this side on D, minus e^epsilon times that on D'. The result is the larger delta of the two directions.
pub(super) fn branch_delta(epsilon: f64, r: usize, variant: JlVariant) -> f64 {
    let [lifted_first, plain_first] = both_directions(epsilon, r, variant);
    lifted_first.max(plain_first).max(0.0)
}

/// Delta with the lifted data as D, and with the unlifted data as D.
fn both_directions(epsilon: f64, r: usize, variant: JlVariant) -> [f64; 2] {
    let log_ratio = match variant {
        JlVariant::Paper => LN_2,
        JlVariant::PublicCode => 2.0 * LN_2,
    };
    let v = libm::exp(log_ratio);
    let half = 0.5 * r as f64 * log_ratio;
    // With the lifted data as D, the privacy loss of numbers of squared norm t (in units of the unlifted variance) is
    // t/2 (1 - 1/v) - r/2 ln v. `place` returns the t of a given loss.
    let place = |loss: f64| 2.0 * (loss + half) / (1.0 - 1.0 / v);
    // e^epsilon times a probability. Each of the two factors may be outside the range of floating point while their
    // product is not.
    let grown = |ln_probability: f64| libm::exp(epsilon + ln_probability);
    let at = place(epsilon);
    let lifted_first = chi_squared_above(r, at / v) - grown(ln_chi_squared_above(r, at));
    let back = place(-epsilon);
    let plain_first = if back > 0.0 {
        libm::exp(ln_chi_squared_below(r, back)) - grown(ln_chi_squared_below(r, back / v))
    } else {
        0.0
    };
    [lifted_first, plain_first]
}

/// Probability that a chi-squared variable of r degrees of freedom exceeds t > 0.
fn chi_squared_above(r: usize, t: f64) -> f64 {
    libm::exp(ln_chi_squared_above(r, t)).min(1.0)
}

/// The logarithm of the probability that a chi-squared variable of r degrees of freedom exceeds t > 0. The probability
/// is the regularised upper incomplete gamma function of r/2 and x = t/2. It is computed by the recurrence in its first
/// argument, from 1/2 (for odd r) or 1 (for even r) up to r/2; all terms of the recurrence are at least 0.
fn ln_chi_squared_above(r: usize, t: f64) -> f64 {
    let x = 0.5 * t;
    let (mut a, first) = if r.is_multiple_of(2) { (1.0, -x) } else { (0.5, ln_erfc_of_root(x)) };
    let mut tail = LogSum::of(first);
    while 2.0 * a < r as f64 {
        tail.add(a * libm::log(x) - x - libm::lgamma(a + 1.0));
        a += 1.0;
    }
    tail.ln()
}

/// ln erfc(sqrt(x)) for x > 0. For x >= 600, where erfc(sqrt(x)) is nearly too small for floating point, its upper bound
/// e^(-x) / sqrt(pi x) takes its place. This bound is too large by a factor of at most 1 + 1/(2x).
fn ln_erfc_of_root(x: f64) -> f64 {
    if x < 600.0 { libm::log(libm::erfc(x.sqrt())) } else { -x - 0.5 * libm::log(std::f64::consts::PI * x) }
}

/// The logarithm of the probability that a chi-squared variable of r degrees of freedom is at most t > 0. Let x be t/2. For
/// x < r/2 + 1, the probability is computed by the power series of the regularised lower incomplete gamma function; each
/// term of the series is then smaller than the one before. For x >= r/2 + 1, it is computed as 1 minus the probability that
/// the variable exceeds t. That probability is not close to 1 there, so the difference is precise.
fn ln_chi_squared_below(r: usize, t: f64) -> f64 {
    let (x, a) = (0.5 * t, 0.5 * r as f64);
    if x >= a + 1.0 {
        return libm::log1p(-chi_squared_above(r, t));
    }
    let (mut term, mut sum, mut n) = (1.0, 1.0, 1.0);
    while term > f64::EPSILON * sum {
        term *= x / (a + n);
        sum += term;
        n += 1.0;
    }
    a * libm::log(x) - x - libm::lgamma(a + 1.0) + libm::log(sum)
}

/// A sum of non-negative numbers. They are given by their logarithms, since they may be outside the range of floating point.
struct LogSum {
    largest: f64,
    /// The sum divided by e^largest.
    scaled: f64,
}

impl LogSum {
    fn of(ln: f64) -> Self {
        Self { largest: ln, scaled: 1.0 }
    }

    fn add(&mut self, ln: f64) {
        if ln <= self.largest {
            self.scaled += libm::exp(ln - self.largest);
        } else {
            self.scaled = self.scaled * libm::exp(self.largest - ln) + 1.0;
            self.largest = ln;
        }
    }

    fn ln(&self) -> f64 {
        self.largest + libm::log(self.scaled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chi_squared_tails_of_the_tables() {
        // Upper 5 % points: 3.8415, 5.9915, 18.3070, 24.9958 for 1, 2, 10, 15 degrees of freedom.
        for (r, t) in [(1, 3.841_459), (2, 5.991_465), (10, 18.307_038), (15, 24.995_790)] {
            assert!((chi_squared_above(r, t) - 0.05).abs() < 1e-7, "{r} {}", chi_squared_above(r, t));
        }
    }

    /// The lower and the upper tail sum to 1, and small probabilities keep their relative precision.
    #[test]
    fn lower_and_upper_tails_are_those_of_one_distribution() {
        for r in [1, 2, 3, 10, 41] {
            for t in [0.1, 1.0, r as f64, r as f64 + 1.9, r as f64 + 2.1, 2.0 * r as f64 + 5.0] {
                let sum = libm::exp(ln_chi_squared_below(r, t)) + chi_squared_above(r, t);
                assert!((sum - 1.0).abs() < 1e-13, "{r} {t}: {sum}");
            }
        }
        // With two degrees of freedom, the probability is 1 - e^(-t / 2).
        for t in [1e-200, 1e-10, 1e-3, 1.0, 3.9] {
            let exact = libm::log(-libm::expm1(-0.5 * t));
            assert!((ln_chi_squared_below(2, t) - exact).abs() < 1e-12 * exact.abs().max(1.0), "{t}");
        }
    }

    /// A projection to r = 2 columns, in closed form. The squared norms are exponential with means 2 and 2 v. With the
    /// lifted data as D, the loss exceeds epsilon for all squared norms above a threshold. With the unlifted data as D, it
    /// does so for all squared norms below another threshold, which is positive for small epsilon only.
    #[test]
    fn both_directions_for_two_columns_in_closed_form() {
        for (variant, v) in [(JlVariant::Paper, 2.0_f64), (JlVariant::PublicCode, 4.0)] {
            for epsilon in [0.0, 0.1, 0.5, 1.0, 2.0] {
                let (grown, log) = (libm::exp(epsilon), libm::log(v));
                let at = (epsilon + log) / (1.0 - 1.0 / v);
                let back = (log - epsilon) / (1.0 - 1.0 / v);
                let exact = [
                    libm::exp(-at / v) - grown * libm::exp(-at),
                    if back > 0.0 { -libm::expm1(-back) + grown * libm::expm1(-back / v) } else { 0.0 },
                ];
                let found = both_directions(epsilon, 2, variant);
                for (found, exact) in found.iter().zip(exact) {
                    assert!((found - exact).abs() < 1e-13, "{variant:?} {epsilon}: {found} for {exact}");
                }
            }
        }
    }

    #[test]
    fn delta_grows_with_the_number_of_columns() {
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

    /// Delta is correct also where e^epsilon overflows. Expected values are from the normal approximation: with 6000 columns
    /// the squared norm of lifted numbers has mean 12000 and standard deviation 219, and the loss is 720 at 11198, which is
    /// 3.66 standard deviations lower.
    #[test]
    fn a_claim_of_any_size_is_measured() {
        let at = |epsilon, r| branch_delta(epsilon, r, JlVariant::Paper);
        assert!((at(720.0, 6000) - 0.9999).abs() < 2e-4, "{}", at(720.0, 6000));
        assert!((at(700.0, 6000) - at(720.0, 6000)).abs() < 1e-3);
        assert!(at(720.0, 600) < 1e-12 && at(2000.0, 6000) < 1e-9, "claims that hold");
        let falls = (0..100).map(|k| at(f64::from(40 * k + 1), 6001)).collect::<Vec<f64>>();
        assert!(falls.windows(2).all(|two| two[1] <= two[0] * (1.0 + 1e-6) + 1e-12), "delta never rises");
        for (r, t) in [(1, 2.0), (2, 3.0), (9, 4.0), (10, 8.0), (300, 280.0), (301, 350.0)] {
            let both = libm::exp(ln_chi_squared_below(r, t)) + chi_squared_above(r, t);
            assert!((both - 1.0).abs() < 1e-10, "{r} {t} {both}");
        }
    }

    /// Lower tails against closed forms: 1 - e^(-t/2) for 2 degrees of freedom, 1 - e^(-t/2) (1 + t/2) for 4.
    #[test]
    fn lower_tails_are_those_of_the_closed_forms() {
        for t in [1e-3_f64, 0.5, 2.0, 5.9, 6.1, 30.0] {
            let half = t / 2.0;
            let two = -libm::expm1(-half);
            let four = if t < 0.01 { half * half / 2.0 } else { 1.0 - libm::exp(-half) * (1.0 + half) };
            assert!((libm::exp(ln_chi_squared_below(2, t)) / two - 1.0).abs() < 1e-10, "2, {t}");
            assert!((libm::exp(ln_chi_squared_below(4, t)) / four - 1.0).abs() < 1e-3, "4, {t}");
        }
    }

    /// Beyond the range of floating point: ln erfc(sqrt(x)) = -x - ln(pi x) / 2 - 1 / (2x) + O(x^-2).
    #[test]
    fn tails_beyond_floating_point_follow_the_asymptotic_series() {
        for x in [600.0_f64, 1000.0, 50_000.0] {
            let series = -x - 0.5 * (std::f64::consts::PI * x).ln() - 0.5 / x;
            let found = ln_erfc_of_root(x);
            assert!(found >= series && found < series + 0.6 / x, "{x}: {found} {series}");
        }
    }

    /// For x >= 600 the upper bound on erfc is used, for smaller x erfc itself.
    #[test]
    fn the_bound_begins_where_the_function_is_nearly_too_small() {
        let bound = |x: f64| -x - 0.5 * (std::f64::consts::PI * x).ln();
        assert!((ln_erfc_of_root(600.0) - bound(600.0)).abs() < 1e-10);
        assert!(bound(599.0) - ln_erfc_of_root(599.0) > 0.4 / 599.0, "the bound is larger than the function");
    }
}
