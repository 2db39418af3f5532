//! Clopper-Pearson: exact confidence limits for a probability from counts.

use crate::special::incomplete_beta;

/// Lower limit of a success probability after `hits` successes in `trials`. Whatever the true probability is, it lies
/// below this limit with probability at most `error`.
///
/// Source: Clopper and Pearson 1934; the limit is a quantile of a beta law.
#[must_use]
pub fn lower_limit(hits: u64, trials: u64, error: f64) -> f64 {
    if hits == 0 || trials == 0 {
        return 0.0;
    }
    // I_p(a, b) is the regularised incomplete beta function. P(at least `hits` successes) is
    // I_p(hits, trials - hits + 1), which increases with p.
    let (a, b) = (hits as f64, (trials - hits) as f64 + 1.0);
    limit(a, b, error, false)
}

/// Upper limit of a success probability after `hits` successes in `trials`. Whatever the true probability is, it lies
/// above this limit with probability at most `error`.
#[must_use]
pub fn upper_limit(hits: u64, trials: u64, error: f64) -> f64 {
    if hits >= trials {
        return 1.0;
    }
    let (a, b) = (hits as f64 + 1.0, (trials - hits) as f64);
    // Solves 1 - I_p(a, b) = error. `incomplete_beta` returns 1 - I_p(a, b) too, so no digits are lost by a
    // subtraction.
    limit(a, b, error, true)
}

/// P(at least `hits` successes in `trials`), where every trial succeeds with probability `p`.
pub(super) fn at_least(hits: u64, trials: u64, p: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    if hits > trials { 0.0 } else { incomplete_beta(hits as f64, (trials - hits) as f64 + 1.0, p).0 }
}

/// The p at which I_p(a, b) (or 1 - I_p(a, b), if `complement`) equals `target`. The result is
/// rounded down, or up if `complement`, so that the limit stays valid.
fn limit(a: f64, b: f64, target: f64, complement: bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        // Bisection also finds small probabilities: 200 steps reach 1e-60.
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high || high - low <= 1e-14 * high {
            break;
        }
        let (below, above) = incomplete_beta(a, b, middle);
        let goes_up = if complement { above > target } else { below < target };
        if goes_up {
            low = middle;
        } else {
            high = middle;
        }
    }
    if complement { high } else { low }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// P(X >= hits) for a binomial, summed directly.
    fn summed(hits: u64, trials: u64, p: f64) -> f64 {
        let log_choose = |k: u64| {
            libm::lgamma(trials as f64 + 1.0)
                - libm::lgamma(k as f64 + 1.0)
                - libm::lgamma((trials - k) as f64 + 1.0)
        };
        (hits..=trials)
            .map(|k| libm::exp(log_choose(k) + k as f64 * p.ln() + (trials - k) as f64 * (-p).ln_1p()))
            .sum()
    }

    #[test]
    fn limits_solve_the_binomial_tails() {
        for (hits, trials) in [(1, 10), (5, 10), (9, 10), (10, 10), (3, 1000), (997, 1000), (120, 400)] {
            let low = lower_limit(hits, trials, 0.025);
            assert!((summed(hits, trials, low) / 0.025 - 1.0).abs() < 1e-8, "{hits} of {trials}: {low}");
        }
        for (hits, trials) in [(0, 10), (1, 10), (5, 10), (9, 10), (3, 1000), (997, 1000)] {
            let high = upper_limit(hits, trials, 0.025);
            let at_most = 1.0 - summed(hits + 1, trials, high);
            assert!((at_most / 0.025 - 1.0).abs() < 1e-6, "{hits} of {trials}: {high}");
        }
        assert!((at_least(5, 10, 0.3) - summed(5, 10, 0.3)).abs() < 1e-12);
        assert_eq!((lower_limit(0, 10, 0.025), upper_limit(10, 10, 0.025)), (0.0, 1.0));
    }

    #[test]
    fn the_upper_limit_without_hits_is_about_3_7_over_the_number_of_trials() {
        for trials in [1_000u64, 1_000_000, 100_000_000] {
            let high = upper_limit(0, trials, 0.025);
            assert!((high * trials as f64 - 3.688_88).abs() < 0.01, "{}", high * trials as f64);
        }
    }
}
