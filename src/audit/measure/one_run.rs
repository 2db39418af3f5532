//! One run instead of many: canaries are included at random, and the auditor guesses which canaries were included.

use super::evidence::ERROR;
use super::experiment::CanaryScores;
use super::interval::at_least;
use serde::Serialize;

/// The result of one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct OneRun {
    /// Number of canaries in the run, each included independently with probability 1/2.
    pub canaries: u64,
    /// Number of canaries for which the auditor made a guess: the canaries whose scores have the largest absolute
    /// values. The share of the canaries for which a guess is made was chosen on another run.
    pub guesses: u64,
    /// Number of right guesses.
    pub correct: u64,
    /// No epsilon below this is possible at the audit's delta, with the audit's confidence, whatever the system does.
    pub epsilon_lower: f64,
}

impl OneRun {
    /// Chooses, on the run `choosing`, for which share of the canaries guesses are made. Then makes guesses for this
    /// share of the canaries of the run `counted`.
    pub(super) fn of(choosing: CanaryScores, counted: CanaryScores, delta: f64) -> Self {
        let (choosing, counted) = (by_size(choosing), by_size(counted));
        let shares = (0..=20).map(|k| libm::exp2(-0.5 * f64::from(k)));
        let at = |coins: &CanaryScores, share: f64| {
            let guesses = ((share * coins.len() as f64) as usize).clamp(1, coins.len());
            let correct = coins[..guesses].iter().filter(|(is_in, score)| *is_in == (*score > 0.0)).count();
            let (canaries, guesses, correct) = (coins.len() as u64, guesses as u64, correct as u64);
            Self {
                canaries,
                guesses,
                correct,
                epsilon_lower: bound(canaries, guesses, correct, delta, ERROR),
            }
        };
        let mut best = (1.0, f64::NEG_INFINITY);
        for share in shares {
            let found = at(&choosing, share).epsilon_lower;
            if found > best.1 {
                best = (share, found);
            }
        }
        at(&counted, best.0)
    }
}

/// Sorts canaries by the absolute value of their scores in descending order, so that the most
/// certain guesses come first.
fn by_size(mut coins: CanaryScores) -> CanaryScores {
    coins.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    coins
}

/// The largest epsilon that is refuted, at `delta`, by `correct` right guesses out of `guesses`, in a run with
/// `canaries` canaries; 0 if none is refuted. The probability of refuting an epsilon for which the run is (epsilon,
/// delta)-DP is at most `error`.
///
/// Source: Steinke, Nasr and Jagielski 2023, "Privacy auditing with one (1) training run", Theorem 5.2 and appendix D.
#[must_use]
pub(super) fn bound(canaries: u64, guesses: u64, correct: u64, delta: f64, error: f64) -> f64 {
    if p_value(canaries, guesses, correct, 0.0, delta) > error {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    while high < 64.0 && p_value(canaries, guesses, correct, high, delta) < error {
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if p_value(canaries, guesses, correct, middle, delta) < error {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// An upper bound on the probability of at least `correct` right guesses if the run is (epsilon, delta)-DP for every
/// canary. Let B be the number of successes in `guesses` trials that each succeed with probability 1 / (1 + e^-epsilon).
/// The bound is the sum of two terms. The first term is P(B >= correct). The second term is 2 m delta a, where m is the
/// number of canaries, and a is the largest value of P(correct - i <= B < correct) / i for i = 1, ..., correct.
fn p_value(canaries: u64, guesses: u64, correct: u64, epsilon: f64, delta: f64) -> f64 {
    let right = 1.0 / (1.0 + libm::exp(-epsilon));
    let tail = at_least(correct, guesses, right);
    if delta <= 0.0 || correct == 0 {
        return tail;
    }
    let odds = libm::log1p(-right) - libm::log(right);
    let (n, mut k) = (guesses as f64, correct as f64 - 1.0);
    let mut log_mass = libm::lgamma(n + 1.0) - libm::lgamma(k + 1.0) - libm::lgamma(n - k + 1.0)
        + k * libm::log(right)
        + (n - k) * libm::log1p(-right);
    let (mut sum, mut most) = (0.0, 0.0f64);
    for i in 1..=correct {
        sum += libm::exp(log_mass);
        most = most.max(sum / i as f64);
        // From k to k - 1 right guesses.
        log_mass += libm::log(k / (n - k + 1.0)) + odds;
        k -= 1.0;
        if sum > 0.999_999 || k < 0.0 {
            break;
        }
    }
    (tail + 2.0 * canaries as f64 * delta * most).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn the_bound_is_that_of_the_paper() {
        // At delta 0 the p-value is a binomial tail, which equals the error probability at the bound.
        for (guesses, correct) in [(100, 80), (1000, 731), (100_000, 60_000)] {
            let found = bound(guesses, guesses, correct, 0.0, 0.05);
            let right = 1.0 / (1.0 + libm::exp(-found));
            assert!((at_least(correct, guesses, right) - 0.05).abs() < 1e-6, "{found}");
        }
        assert_eq!(bound(100, 100, 50, 0.0, 0.05), 0.0);
        // By hand for three guesses, all right, at epsilon 0, with B as in `p_value`: P(B = 3) is 1/8. P(B = 2) is 3/8, the
        // mean of P(B = 1) and P(B = 2) is 3/8, and the mean of P(B = 0), P(B = 1) and P(B = 2) is 7/24.
        let found = p_value(10, 3, 3, 0.0, 1e-3);
        assert!((found - (0.125 + 2.0 * 10.0 * 1e-3 * 0.375)).abs() < 1e-12, "{found}");
        // A larger delta never proves more.
        assert!(bound(1000, 1000, 800, 1e-5, 0.05) < bound(1000, 1000, 800, 0.0, 0.05));
    }

    /// Randomised response on the inclusion of every canary, with epsilon exactly 1: the bound may exceed 1 in at most
    /// 5 % of 400 runs, up to chance.
    #[test]
    fn one_run_exceeds_the_truth_no_more_often_than_it_may() {
        let right = 1.0 / (1.0 + libm::exp(-1.0));
        let coins = |key: Key| -> CanaryScores {
            let mut stream = key.stream();
            (0..300)
                .map(|_| {
                    let (is_in, guess) = (stream.bernoulli(0.5), stream.bernoulli(right));
                    (is_in, if is_in == guess { 1.0 } else { -1.0 })
                })
                .collect()
        };
        let above = (0..400)
            .filter(|&seed| {
                let key = Key::root(seed).child("one run");
                OneRun::of(coins(key.child("choose")), coins(key.child("count")), 0.0).epsilon_lower > 1.0
            })
            .count();
        // P(Binomial(400, 0.05) > 38) is below 1e-4.
        assert!(above <= 38, "{above}");
    }
}
