//! The number of replications that a paired comparison needs to find a difference of a stated size.

use super::statistics::{Estimate, student_quantile};
use crate::special::{gamma_quantile, normal_cdf};
use serde::Serialize;

/// Number of intervals of Simpson's rule.
const INTERVALS: usize = 2_000;
/// Largest number of replications that is stated.
const MOST: u64 = 10_000_000;
/// Confidence level of [`Needed::sd_upper`], the upper bound on the standard deviation, from which [`Needed::cautious`] is
/// computed.
const CAUTION: f64 = 0.8;

/// The probability that a two-sided t test of `n` pairs at level 1 - `confidence` rejects the hypothesis that the true mean
/// difference is 0, if the true mean difference is `effect` times the standard deviation of a difference.
///
/// The test statistic has the noncentral t distribution with n - 1 degrees of freedom and noncentrality
/// v = sqrt(n) effect. Given the ratio s of the sample standard deviation to the true one, the test rejects with
/// probability Phi(v - c s) + Phi(-v - c s), where c is the critical value and Phi is the standard normal distribution
/// function. The integral of this probability over the density of s is computed by Simpson's rule.
/// Source: Johnson, Kotz and Balakrishnan 1995, "Continuous Univariate Distributions" 2, chapter 31.
#[must_use]
pub(in crate::study) fn power_of(effect: f64, n: u64, confidence: f64) -> f64 {
    let df = (n - 1) as f64;
    let critical = student_quantile(0.5 + confidence / 2.0, df);
    let centre = (n as f64).sqrt() * effect.abs();
    let constant = std::f64::consts::LN_2 + df / 2.0 * libm::log(df / 2.0) - libm::lgamma(df / 2.0);
    let density = |s: f64| match s > 0.0 {
        true => libm::exp(constant + (df - 1.0) * libm::log(s) - df * s * s / 2.0),
        // The density at s = 0: with one degree of freedom it is that of a half-normal
        // distribution; with more it is 0.
        false if n == 2 => libm::exp(constant),
        false => 0.0,
    };
    let value =
        |s: f64| density(s) * (normal_cdf(centre - critical * s) + normal_cdf(-centre - critical * s));
    let reach = 9.0 / (2.0 * df).sqrt();
    let (low, high) = ((1.0 - reach).max(0.0), 1.0 + reach);
    let step = (high - low) / INTERVALS as f64;
    let inner: f64 = (1..INTERVALS)
        .map(|index| if index % 2 == 1 { 4.0 } else { 2.0 } * value(low + step * index as f64))
        .sum();
    ((value(low) + inner + value(high)) * step / 3.0).clamp(0.0, 1.0)
}

/// The smallest number of pairs, at least 2, for which [`power_of`] is at least `power`; `None` if it is above ten million.
#[must_use]
pub(in crate::study) fn pairs_for(effect: f64, confidence: f64, power: f64) -> Option<u64> {
    let enough = |n: u64| power_of(effect, n, confidence) >= power;
    let (mut low, mut high) = (1, 2);
    while !enough(high) {
        if high >= MOST {
            return None;
        }
        low = high;
        high = (high * 2).min(MOST);
    }
    while high - low > 1 {
        let middle = u64::midpoint(low, high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}

/// The number of replications that are needed to find an effect.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Needed {
    /// The effect: a mean difference, in the unit of the metric.
    pub effect: f64,
    /// Probability with which the effect is to be found.
    pub power: f64,
    /// The standard deviation of a difference in the pilot.
    pub sd: f64,
    /// Number of replications that are needed if `sd` is the true standard deviation; absent if it is above ten million.
    pub replications: Option<u64>,
    /// Upper bound on the true standard deviation, with 80 % confidence.
    pub sd_upper: f64,
    /// Number of replications that are needed if `sd_upper` is the true standard deviation. With this number, a pilot
    /// whose spread is small by chance does not mislead. Absent if it is above ten million.
    pub cautious: Option<u64>,
}

impl Needed {
    /// Computes the numbers from a pilot study. `pilot` is the mean of its paired differences, with standard error and
    /// number of pairs. `None` for fewer than two pairs, or if all differences are equal.
    ///
    /// The cautious number uses an upper confidence limit of the standard deviation: Browne 1995, "On the use of a pilot
    /// sample for sample size determination", Statistics in Medicine 14:1933-1940.
    #[must_use]
    pub(in crate::study) fn of(pilot: Estimate, effect: f64, power: f64, confidence: f64) -> Option<Self> {
        if pilot.n < 2 || pilot.se <= 0.0 {
            return None;
        }
        let sd = pilot.se * (pilot.n as f64).sqrt();
        let df = (pilot.n - 1) as f64;
        // (n - 1) s^2 / sigma^2 has a chi-square distribution: twice a gamma variable of shape (n - 1) / 2.
        let sd_upper = sd * (df / (2.0 * gamma_quantile(df / 2.0, 1.0 - CAUTION))).sqrt();
        let needs = |sd: f64| pairs_for(effect / sd, confidence, power);
        Some(Self { effect, power, sd, replications: needs(sd), sd_upper, cautious: needs(sd_upper) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::special::incomplete_beta;

    /// P(T <= t) for t >= 0, where T has the noncentral t distribution with `df` degrees of freedom and noncentrality
    /// `centre`, by a series: Lenth 1989, algorithm AS 243.
    fn noncentral(t: f64, df: f64, centre: f64) -> f64 {
        let half = centre * centre / 2.0;
        let x = t * t / (df + t * t);
        let mut sum = normal_cdf(-centre);
        for j in 0..2_000 {
            let j = f64::from(j);
            let p = libm::exp(-half + j * libm::log(half) - libm::lgamma(j + 1.0));
            let q = centre / std::f64::consts::SQRT_2
                * libm::exp(-half + j * libm::log(half) - libm::lgamma(j + 1.5));
            sum += 0.5 * (p * incomplete_beta(j + 0.5, df / 2.0, x).0);
            sum += 0.5 * (q * incomplete_beta(j + 1.0, df / 2.0, x).0);
        }
        sum
    }

    #[test]
    fn two_computations_of_the_power_agree() {
        for (effect, n) in [(0.5, 34), (0.2, 199), (1.0, 5), (0.8, 3), (2.0, 2), (0.05, 1_000)] {
            let df = (n - 1) as f64;
            let (t, centre) = (student_quantile(0.975, df), (n as f64).sqrt() * effect);
            // P(T < -t) with noncentrality v is P(T > t) with noncentrality -v, which the series gives for t >= 0.
            let other = 1.0 - noncentral(t, df, centre) + (1.0 - noncentral(t, df, -centre));
            let found = power_of(effect, n, 0.95);
            assert!((found - other).abs() < 1e-7, "{effect} {n}: {found} {other}");
        }
    }

    #[test]
    fn numbers_of_pairs_are_those_of_other_programs() {
        // G*Power 3.1, "means: difference between two dependent means", two-sided, alpha .05, power .8; R's power.t.test
        // gives 33.37 for an effect of .5.
        for (effect, n) in [(0.2, 199), (0.3, 90), (0.5, 34), (0.8, 15)] {
            assert_eq!(pairs_for(effect, 0.95, 0.8), Some(n), "{effect}");
        }
        assert_eq!(pairs_for(100.0, 0.95, 0.8), Some(2));
        assert_eq!(pairs_for(1e-6, 0.95, 0.8), None);
    }

    #[test]
    fn a_small_pilot_is_not_trusted() {
        let needed = |n: u64| {
            let pilot = Estimate { mean: 0.3, se: 1.0 / (n as f64).sqrt(), n };
            Needed::of(pilot, 0.5, 0.8, 0.95).unwrap()
        };
        // Chi-square with 9 degrees of freedom: its lower 20 % quantile is 5.380053.
        assert!((needed(10).sd_upper - (9.0 / 5.380_053_f64).sqrt()).abs() < 1e-6);
        assert_eq!(needed(10).replications, Some(34));
        assert!(needed(10).cautious > needed(1_000).cautious && needed(1_000).cautious > Some(34));
        assert_eq!(Needed::of(Estimate { mean: 1.0, se: 0.0, n: 9 }, 0.5, 0.8, 0.95), None);
    }
}
