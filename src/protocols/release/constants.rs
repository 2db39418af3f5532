//! The closed formulas of private release: sensitivities, noise scales and utility bounds.
//!
//! Source of all formulas: Kusner, Gardner, Garnett and Weinberger 2015. Algorithms and theorems are numbered as in this
//! paper, and formulas are corrected where a proof requires it. Neighbours are two validation sets that differ in one
//! record; the function of a validation set gives the performance of each setting on this set. Here n is the number of
//! settings, T the number of rounds, gamma_T the largest information gain of T outcomes, sigma the standard deviation of the
//! noise, and k1 the smallest correlation of two neighbours' functions. The prior variance of functions is 1. For another
//! prior variance s2, divide sigma, c and every other argument that has the unit of the outcome by sqrt(s2), and multiply
//! every result that has this unit (c, q, sensitivities and bounds on regret) by sqrt(s2). Logarithms are natural.

use crate::learners::BetaSchedule;
use crate::vocab::Delta;

/// beta_t of Algorithm 1 over n settings, t from 1.
#[must_use]
pub fn beta(n: usize, t: u64, delta: Delta) -> f64 {
    BetaSchedule::Kusner { delta }.at(t, n)
}

/// c of Algorithm 1: with probability at most delta / 3, two neighbours' functions lie further apart than c at one or more
/// of n settings. c = 2 sqrt((1 - k1) ln(3 n / delta)).
#[must_use]
pub fn c_noisy(n: usize, delta: f64, k1: f64) -> f64 {
    2.0 * ((1.0 - k1) * libm::log(3.0 * n as f64 / delta)).sqrt()
}

/// c of Algorithm 2: with probability at most delta / 2, two neighbours' functions lie further apart than c at one or more
/// of n settings. c = 2 sqrt((1 - k1) ln(2 n / delta)).
#[must_use]
pub fn c_noise_free(n: usize, delta: f64, k1: f64) -> f64 {
    2.0 * ((1.0 - k1) * libm::log(2.0 * n as f64 / delta)).sqrt()
}

/// q as printed in Algorithm 1: sigma sqrt(8 ln(3 / delta)). Half of q bounds the noise of one fixed round, except with
/// probability at most delta / 3.
#[must_use]
pub fn q_printed(sigma: f64, delta: f64) -> f64 {
    sigma * (8.0 * libm::log(3.0 / delta)).sqrt()
}

/// q, corrected: sigma sqrt(8 ln(6 T / delta)). Half of q bounds the noise of all T rounds of both data sets, except with
/// probability at most delta / 3. A bound for all rounds is needed, since the best of T outcomes may come from any round.
#[must_use]
pub fn q_corrected(sigma: f64, delta: f64, rounds: u64) -> f64 {
    sigma * (8.0 * libm::log(6.0 * rounds as f64 / delta)).sqrt()
}

/// Largest probability that posterior means of two neighbours lie further apart than Theorem 1 states, with its
/// constants computed from `delta`: delta (1/3 + 6 / (pi^2 (T + 1)^2)).
///
/// The first summand is for the functions, which lie further apart than c with probability at most delta / 3. The second
/// summand is for the confidence bound. Theorem 1 needs this bound after T rounds only, at every one of n settings and for
/// both data sets. The probability that it fails is at most 2 n exp(-beta_(T+1) / 2), which is 6 delta / (pi^2 (T + 1)^2).
/// The bound of Srinivas et al. 2010, Lemma 5.1, holds in all rounds at once, which Theorem 1 does not need; for each data
/// set, it fails with probability at most delta / 2. With that bound, the failure probability would be
/// delta / 3 + delta / 2 + delta / 2, which is 4/3 delta.
#[must_use]
pub fn failure_of_means(delta: f64, rounds: u64) -> f64 {
    delta / 3.0 + 2.0 * confidence_failure(delta, rounds + 1)
}

/// Largest probability that the best outcomes of two neighbours lie further apart than Theorem 3 states, or their
/// posterior means further than Theorem 1 states, with constants computed from `delta`. `noise` is the probability that
/// the noise of at least one outcome exceeds half of q.
///
/// The result is the sum of three probabilities: delta for the confidence bounds of both data sets in all rounds (twice the
/// sum of 3 delta / (pi^2 t^2) over every t), delta / 3 for functions that lie further apart than c, and `noise`. If none
/// of these three failures occurs, the statement of Theorem 1 holds too, so it needs no further summand.
#[must_use]
pub fn failure_of_best(delta: f64, noise: f64) -> f64 {
    delta + delta / 3.0 + noise
}

/// Largest probability that the noise of at least one outcome, in T rounds of both data sets, exceeds half of the corrected
/// q: the sum of 2 T tails, each of probability exp(-ln(6 T / delta)), which is delta / 3.
#[must_use]
pub fn failure_of_q_corrected(delta: f64) -> f64 {
    delta / 3.0
}

/// Largest probability that the noise of at least one outcome exceeds half of the printed q: exp(-ln(3 / delta)) for each of
/// T rounds, which sums up to T delta / 3, not to delta / 3. Each round is counted once, because the noise of a round is
/// assumed here to be the same for both data sets.
#[must_use]
pub fn failure_of_q_printed(delta: f64, rounds: u64) -> f64 {
    rounds as f64 * delta / 3.0
}

/// Largest probability that the confidence bound of one data set fails in round t: n exp(-beta_t / 2) = 3 delta /
/// (pi t)^2.
fn confidence_failure(delta: f64, t: u64) -> f64 {
    let root = std::f64::consts::PI * t as f64;
    3.0 * delta / (root * root)
}

/// C1 = 8 / ln(1 + 1 / sigma^2).
#[must_use]
pub fn c1(sigma: f64) -> f64 {
    8.0 / libm::log1p(1.0 / (sigma * sigma))
}

/// Omega / T, the bound on the mean regret of GP-UCB: sqrt(C1 beta_T gamma_T / T).
#[must_use]
pub fn mean_regret(sigma: f64, beta: f64, gamma: f64, rounds: u64) -> f64 {
    (c1(sigma) * beta * gamma / rounds as f64).sqrt()
}

/// Sensitivity of the posterior mean at every setting (Theorem 1): 2 sqrt(beta_(T+1)) + c.
#[must_use]
pub fn mean_sensitivity(beta_next: f64, c: f64) -> f64 {
    2.0 * beta_next.sqrt() + c
}

/// Theorem 2: for any a > 0, with probability 1 - (delta + e^-a), the posterior mean at the published setting is below its
/// maximum by at most (2 D / epsilon)(ln n + a), where D is the sensitivity of the posterior mean. The same holds, with
/// probability 1 - e^-a, for any exponential mechanism over n utilities of sensitivity D.
#[must_use]
pub fn choice_bound(sensitivity: f64, epsilon: f64, n: usize, a: f64) -> f64 {
    2.0 * sensitivity / epsilon * (libm::log(n as f64) + a)
}

/// Theorem 4 as printed: for any a > 0, a bound on the error of the published value against the optimum. It is sigma
/// sqrt(8 ln(1 / delta)) + W + (a / epsilon)(W + c + q), where W = Omega / T is `width`, and (W + c + q) / epsilon is
/// `noise_scale`.
#[must_use]
pub fn theorem_4(sigma: f64, delta: f64, width: f64, noise_scale: f64, a: f64) -> f64 {
    sigma * (8.0 * libm::log(1.0 / delta)).sqrt() + width + a * noise_scale
}

/// Omega of Algorithm 2, the bound on the simple regret after T rounds: A exp(-T tau / (ln T)^(d/4)), where A and tau are
/// the constants of the search's rate of convergence and d is the number of inputs.
#[must_use]
pub fn noise_free_regret(a: f64, tau: f64, rounds: u64, d: usize) -> f64 {
    let t = rounds as f64;
    a * libm::exp(-t * tau / libm::pow(libm::log(t), d as f64 / 4.0))
}

/// Sensitivity of one setting's mean loss over m records: min(g* / m, r L / (m lambda_min)), where g* is the range of the
/// loss and L its Lipschitz constant.
///
/// r, the argument `reach`, is 1 in the paper, but has to be 2. The margin of a record (x, y) is y times the inner product
/// of the weights w and x. With records of norm at most 1 and a training loss of Lipschitz constant 1, weights have norm up
/// to 1 / lambda_min. So the margins of two records differ by up to 2 / lambda_min. Example: the hinge loss with lambda = 2,
/// trained on the one record x = y = 1, gives w = 1/2; the validation records x = 1, y = 1 and x = 1, y = -1 have margins
/// 1/2 and -1/2, which differ by 1 = 2 / lambda.
#[must_use]
pub fn record_sensitivity(m: f64, range: f64, lipschitz: f64, lambda_min: f64, reach: f64) -> f64 {
    (range / m).min(reach * lipschitz / (m * lambda_min))
}

/// The largest difference between the losses of two regularisation parameters (Theorem 7):
/// (lambda_max - lambda_min) L / (lambda_max lambda_min), where L is the Lipschitz constant of the loss.
#[must_use]
pub fn path_length(lipschitz: f64, lambda_min: f64, lambda_max: f64) -> f64 {
    (lambda_max - lambda_min) * lipschitz / (lambda_max * lambda_min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::Covariance;
    use crate::gp::{ArmCovariance, Points, greedy_maximum};
    use serde_json::Value;
    use std::sync::Arc;

    /// The cases of one key of the oracle; fails if there are none.
    fn cases(key: &str) -> Vec<Value> {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/oracles/outsourced_release_units.json");
        let document: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let cases = document[key].as_array().unwrap_or_else(|| panic!("no key {key}")).clone();
        assert!(!cases.is_empty());
        cases
    }

    fn number(case: &Value, key: &str) -> f64 {
        case[key].as_f64().unwrap_or_else(|| panic!("no number {key} in {case}"))
    }

    fn same(found: f64, case: &Value, key: &str) {
        let expected = number(case, key);
        assert!((found - expected).abs() <= 1e-9 * expected.abs().max(1.0), "{key}: {found} in {case}");
    }

    fn delta(case: &Value) -> Delta {
        Delta::new(number(case, "delta")).unwrap()
    }

    #[test]
    fn single_constants_agree_with_the_oracle() {
        for case in cases("ku_beta") {
            same(beta(number(&case, "n") as usize, number(&case, "t") as u64, delta(&case)), &case, "beta");
        }
        let n = |case: &Value| number(case, "n") as usize;
        for case in cases("ku_c_alg1") {
            same(c_noisy(n(&case), number(&case, "delta"), number(&case, "k1")), &case, "c");
        }
        for case in cases("ku_c_alg2") {
            same(c_noise_free(n(&case), number(&case, "delta"), number(&case, "k1")), &case, "c");
        }
        for case in cases("ku_q") {
            same(q_printed(number(&case, "sigma"), number(&case, "delta")), &case, "q");
        }
        for case in cases("ku_q_corrected") {
            let rounds = number(&case, "T") as u64;
            same(q_corrected(number(&case, "sigma"), number(&case, "delta"), rounds), &case, "q");
        }
        for case in cases("ku_C1") {
            same(c1(number(&case, "sigma")), &case, "C1");
        }
    }

    /// Every failure probability equals the sum of the tail bounds from which it follows, for every n.
    #[test]
    fn failure_probabilities_are_sums_of_tails() {
        let tail = |bound: f64| (-bound * bound / 2.0).exp();
        for (n, rounds, d) in [(2usize, 1u64, 0.3f64), (400, 50, 0.05), (25, 7, 1e-3)] {
            let delta = Delta::new(d).unwrap();
            let confidence = |t: u64| n as f64 * tail(beta(n, t, delta).sqrt());
            // f - f' has variance 2 (1 - k1).
            let apart = n as f64 * tail(c_noisy(n, d, 0.9) / (0.2f64).sqrt());
            let means = apart + 2.0 * confidence(rounds + 1);
            assert!((failure_of_means(d, rounds) / means - 1.0).abs() < 1e-9);
            assert!(failure_of_means(d, rounds) < d / 2.0, "less than half of what is stated");
            let half = q_corrected(1.0, d, rounds) / 2.0;
            let corrected = 2.0 * rounds as f64 * tail(half);
            assert!((failure_of_q_corrected(d) / corrected - 1.0).abs() < 1e-9);
            let printed = rounds as f64 * tail(q_printed(1.0, d) / 2.0);
            assert!((failure_of_q_printed(d, rounds) / printed - 1.0).abs() < 1e-9);
            let rounds_of_both = 2.0 * (1..200_000).map(confidence).sum::<f64>();
            let best = rounds_of_both + apart + corrected;
            let stated = failure_of_best(d, failure_of_q_corrected(d));
            assert!(best <= stated && best > 0.999 * stated, "{best} {stated}");
            assert!((stated / (5.0 / 3.0 * d) - 1.0).abs() < 1e-12, "with 3/5 of delta, the total is delta");
            // With the printed q, the failure probability is more than delta even for a single round.
            assert!(failure_of_best(d, failure_of_q_printed(d, rounds)) >= (5.0 / 3.0 - 1e-12) * d);
        }
    }

    fn line(n: usize) -> Points {
        Points::new(n, 1, (0..n).map(|i| i as f64 / (n - 1) as f64).collect())
    }

    #[test]
    fn information_gains_agree_with_the_oracle() {
        for case in cases("ku_gamma") {
            assert_eq!(case["points"], "linspace(0,1,6)");
            let covariance = Covariance::squared_exponential(number(&case, "l"), 1.0);
            let arms = ArmCovariance::of_inputs(Arc::new(line(6)), covariance);
            let greedy = greedy_maximum(&arms, number(&case, "T") as usize, number(&case, "sigma2")).unwrap();
            same(*greedy.gains.last().unwrap(), &case, "greedy");
            let expected: Vec<usize> = serde_json::from_value(case["greedy_idx"].clone()).unwrap();
            // Arms with equal gains may be chosen in another order than the oracle's; the total gain is the same.
            assert_eq!(greedy.arms.len(), expected.len());
            assert!(greedy.upper_bound() >= number(&case, "brute_force_multiset"));
        }
    }

    #[test]
    fn algorithm_1_agrees_with_the_oracle() {
        for case in cases("ku_alg1") {
            let (n, rounds) = (number(&case, "n") as usize, number(&case, "T") as u64);
            let side = (n as f64).sqrt().round() as usize;
            let axis = line(side);
            let rows = (0..n).flat_map(|i| [axis.row(i / side)[0], axis.row(i % side)[0]]).collect();
            let covariance = Covariance::squared_exponential(number(&case, "l"), 1.0);
            let arms = ArmCovariance::of_inputs(Arc::new(Points::new(n, 2, rows)), covariance);
            let (sigma, d, k1) = (number(&case, "sigma"), number(&case, "delta"), number(&case, "k1"));
            let greedy = greedy_maximum(&arms, rounds as usize, sigma * sigma).unwrap();
            same(*greedy.gains.last().unwrap(), &case, "gamma_greedy");
            same(greedy.upper_bound(), &case, "gamma_upper");
            let width = mean_regret(sigma, beta(n, rounds, delta(&case)), greedy.upper_bound(), rounds);
            same(width, &case, "Omega_over_T");
            same(width * rounds as f64, &case, "Omega");
            let (c, q) = (c_noisy(n, d, k1), q_printed(sigma, d));
            same(c, &case, "c");
            same(q, &case, "q");
            let sensitivity = mean_sensitivity(beta(n, rounds + 1, delta(&case)), c);
            let epsilon = number(&case, "eps");
            same(sensitivity, &case, "Delta_mu");
            same(epsilon / (2.0 * sensitivity), &case, "exp_weight_coefficient");
            let scale = (width + c + q) / epsilon;
            same(scale, &case, "laplace_scale");
            let a = number(&case, "a");
            same(choice_bound(sensitivity, epsilon, n, a), &case, "thm2_bound");
            same(theorem_4(sigma, d, width, scale, a), &case, "thm4_bound");
        }
    }

    #[test]
    fn algorithm_2_agrees_with_the_oracle() {
        for case in cases("ku_alg2") {
            let (rounds, d) = (number(&case, "T") as u64, number(&case, "d") as usize);
            let omega = noise_free_regret(number(&case, "A"), number(&case, "tau"), rounds, d);
            same(omega, &case, "Omega");
            let c = c_noise_free(number(&case, "n") as usize, number(&case, "delta"), number(&case, "k1"));
            same(c, &case, "c");
            let scale = (omega + c) / number(&case, "eps");
            same(scale, &case, "laplace_scale");
            same(omega + 3.0 * scale, &case, "thm6_bound_a3");
        }
    }

    #[test]
    fn algorithm_3_agrees_with_the_oracle() {
        for case in cases("ku_alg3") {
            let of = |key| number(&case, key);
            let path = path_length(of("L"), of("lmin"), of("lmax"));
            let with = |reach| record_sensitivity(of("m"), of("g_star"), of("L"), of("lmin"), reach) + path;
            same(with(1.0), &case, "sensitivity");
            same(with(1.0) / of("eps"), &case, "laplace_scale");
            same(with(2.0), &case, "sensitivity_hinge_safe");
        }
    }
}
