//! The settings of a clipping norm that follows a quantile of the norms of agents' vectors.

use crate::privacy::mechanisms::NormCount;
use crate::vocab::{Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The clipping norm S follows a quantile of the norms of agents' vectors. After each sum, S <- S exp(-eta (b - gamma)),
/// where eta is `learning_rate` and gamma is `quantile`. b is the noisy share of the sampled vectors whose norm is at most
/// the norm to which vectors are clipped (S; with P regions S / sqrt(P)).
///
/// Each sampled vector adds 1/2 (if its norm is at most that norm) or -1/2 to a count with Gaussian noise of
/// standard deviation `sigma_b`; a vector of zeros adds nothing. Then b = 1/2 + count / m, where m is the planned number
/// of sampled agents (with `divisor: Arrived` and a Poisson sample, the sampling rate times the number of vectors
/// received). The count is released with the sums and costs privacy. Therefore the standard deviation of the noise in
/// the sums is raised to (z^-2 - (2 `sigma_b`)^-2)^(-1/2) times their sensitivity. Sums and count together then cost as
/// much as sums with the noise multiplier z and a fixed norm.
///
/// Source: Andrew, Thakkar, McMahan and Ramaswamy 2021, "Differentially private learning with adaptive clipping",
/// Algorithm 1 and Theorem 1.
///
/// Example: `AdaptiveClip(quantile: 0.5, count_noise: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AdaptiveClip {
    /// gamma, the target share of vectors that are not clipped, above 0 and below 1. Default: 0.5, the median.
    #[serde(default = "half")]
    pub quantile: Probability,
    /// eta, the factor on the steps of the norm's logarithm. Default: 0.2, as in the paper.
    #[serde(default = "fifth")]
    pub learning_rate: Positive,
    /// `sigma_b`, the standard deviation of the noise in the count, in agents. Default: a twentieth of the planned number
    /// of sampled agents, as in the paper, but at least 2 z: the noise of the sums then rises by 3.3 % at most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count_noise: Option<Positive>,
}

fn half() -> Probability {
    Probability::new(0.5).expect("0.5 is a probability")
}

fn fifth() -> Positive {
    Positive::new(0.2).expect("0.2 is above 0")
}

/// The norm stays within this factor of the first norm, so that noise in the count cannot make it 0 or infinite.
const WIDEST: f64 = 1e9;

impl AdaptiveClip {
    /// The mechanism of the count that is released with sums of noise multiplier `z` over `planned` sampled agents.
    #[must_use]
    pub fn count(&self, z: f64, planned: f64) -> NormCount {
        let default = || (planned / 20.0).max(2.0 * z);
        let sd = self.count_noise.map_or_else(default, Positive::get);
        NormCount { sd: Positive::new(sd).unwrap_or_else(|_| fifth()) }
    }

    /// b, the noisy share of vectors within the norm, from the noisy count over `sampled` agents.
    #[must_use]
    pub fn share(count: f64, sampled: f64) -> f64 {
        if sampled > 0.0 { 0.5 + count / sampled } else { 0.5 }
    }

    /// The norm S of the next sum, if this sum has the norm `norm` and `b` is the noisy share of vectors that were not
    /// clipped. `first` is the norm of the first sum.
    #[must_use]
    pub fn next(&self, norm: Positive, b: f64, first: Positive) -> Positive {
        let step = -self.learning_rate.get() * (b - self.quantile.get());
        let (low, high) = (libm::log(first.get() / WIDEST), libm::log(first.get() * WIDEST));
        let log = (libm::log(norm.get()) + step).clamp(low, high);
        Positive::new(libm::exp(log)).unwrap_or(norm)
    }

    /// What is wrong with these settings for sums of noise multiplier `z` over `planned` sampled agents.
    pub(super) fn problems(&self, z: f64, planned: f64) -> Vec<Problem> {
        let mut problems = Vec::new();
        if !(self.quantile.get() > 0.0 && self.quantile.get() < 1.0) {
            let found = self.quantile.to_string();
            let expected = "a share above 0 and below 1: with 0 the norm could only shrink, with 1 only grow";
            problems.push(Problem::wrong("quantile", expected, found, "quantile: 0.5 (the median)"));
        }
        if z > 0.0 && !self.count(z, planned).admits(z) {
            let expected = format!(
                "a standard deviation above {}: with less, the count alone costs more privacy than the noise multiplier \
                 {z} allows for sums and count together",
                0.5 * z
            );
            let found = self.count_noise.map_or_else(String::new, |noise| noise.to_string());
            problems.push(Problem::wrong(
                "count_noise",
                expected,
                found,
                format!("count_noise: {}", 2.0 * z),
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// The norm reaches the quantile of the distribution of norms, up to the error that sampling and the noise of the
    /// counts explain.
    ///
    /// Each of 400 agents is sampled with probability q = 0.5, and the norms of vectors are log-uniform on [1, 100]: the
    /// quantile 0.7 is the norm 100^0.7 = 25.1. Near this norm, the difference x between ln S and its target follows
    /// x <- x - eta (f x + e), where f = 1 / ln 100 is the density of the norm's logarithm, and e is the error of b. An
    /// agent adds +-1/2 to the count if it is sampled, so the count has a variance of at most 400 / 8 = m / 4 before its
    /// noise, for m = 200 planned agents, and var(e) is at most (m / 4 + sigma_b^2) / m^2. The stationary variance of x
    /// is eta^2 var(e) / (1 - (1 - eta f)^2). The mean of 1,000 steps of this AR(1) process has a standard deviation of
    /// roughly sd(e) / (f sqrt(1000)).
    #[test]
    fn the_norm_reaches_the_quantile() {
        let recipe = AdaptiveClip {
            quantile: Probability::new(0.7).unwrap(),
            learning_rate: fifth(),
            count_noise: Some(Positive::new(10.0).unwrap()),
        };
        let mut stream = Key::root(11).stream();
        let first = Positive::new(1.0).unwrap();
        let (mut norm, mut logs) = (first, Vec::new());
        let m = 200.0;
        for round in 0..1300 {
            let mut halves = 0.0;
            for _ in 0..400 {
                let length = libm::exp(stream.uniform() * libm::log(100.0));
                if stream.bernoulli(0.5) {
                    halves += if length <= norm.get() { 0.5 } else { -0.5 };
                }
            }
            let b = AdaptiveClip::share(halves + 10.0 * stream.normal(), m);
            norm = recipe.next(norm, b, first);
            if round >= 300 {
                logs.push(libm::log(norm.get()));
            }
        }
        let f = 1.0 / libm::log(100.0);
        let e = ((0.25 * m + 100.0) / (m * m)).sqrt();
        let expected = 0.7 * libm::log(100.0);
        let mean = logs.iter().sum::<f64>() / logs.len() as f64;
        let allowed = 4.0 * e / (f * (logs.len() as f64).sqrt());
        assert!((mean - expected).abs() < allowed, "{mean} for {expected} +- {allowed}");
        let keeps = 1.0 - 0.2 * f;
        let sd = 0.2 * e / (1.0 - keeps * keeps).sqrt();
        let farthest = logs.iter().map(|log| (log - expected).abs()).fold(0.0, f64::max);
        assert!(farthest < 5.0 * sd, "{farthest}, standard deviation {sd}");
    }

    #[test]
    fn the_norm_stays_finite() {
        let recipe = AdaptiveClip { quantile: half(), learning_rate: fifth(), count_noise: None };
        let first = Positive::new(2.0).unwrap();
        let mut norm = first;
        for _ in 0..100 {
            norm = recipe.next(norm, -1e6, first);
        }
        assert!((norm.get() / 2e9 - 1.0).abs() < 1e-9, "{norm}");
    }
}
