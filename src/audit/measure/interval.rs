//! Clopper-Pearson: exact confidence limits for a probability from counts.

/// Lower limit of a success probability after `hits` successes in `trials`: the true probability lies below it with
/// probability at most `error`, whatever it is.
///
/// Source: Clopper and Pearson 1934; the limit is a quantile of a beta law.
#[must_use]
pub fn lower_limit(hits: u64, trials: u64, error: f64) -> f64 {
    if hits == 0 || trials == 0 {
        return 0.0;
    }
    // P(at least `hits` successes) = I_p(hits, trials - hits + 1), increasing in p.
    let (a, b) = (hits as f64, (trials - hits) as f64 + 1.0);
    limit(a, b, error, false)
}

/// Upper limit of a success probability after `hits` successes in `trials`: the true probability lies above it with
/// probability at most `error`, whatever it is.
#[must_use]
pub fn upper_limit(hits: u64, trials: u64, error: f64) -> f64 {
    if hits >= trials {
        return 1.0;
    }
    let (a, b) = (hits as f64 + 1.0, (trials - hits) as f64);
    // 1 - I_p(a, b) = error; asked for in the complement, so that no digits are lost.
    limit(a, b, error, true)
}

/// P(at least `hits` successes in `trials`) where each has probability `p`.
pub(super) fn at_least(hits: u64, trials: u64, p: f64) -> f64 {
    if hits == 0 {
        return 1.0;
    }
    if hits > trials { 0.0 } else { incomplete_beta(hits as f64, (trials - hits) as f64 + 1.0, p).0 }
}

/// Where I_p(a, b) (or 1 - I_p, if `complement`) equals `target`, rounded outwards.
fn limit(a: f64, b: f64, target: f64, complement: bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..200 {
        // Small probabilities are found by halving too: 200 steps reach 1e-60.
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

/// The regularised incomplete beta function I_x(a, b) and 1 - I_x(a, b), by Lentz's continued fraction.
///
/// Source: Press, Teukolsky, Vetterling and Flannery 2007, section 6.4.
fn incomplete_beta(a: f64, b: f64, x: f64) -> (f64, f64) {
    if x <= 0.0 {
        return (0.0, 1.0);
    }
    if x >= 1.0 {
        return (1.0, 0.0);
    }
    let log_front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    let front = libm::exp(log_front);
    if x < (a + 1.0) / (a + b + 2.0) {
        let below = (front * fraction(a, b, x) / a).min(1.0);
        (below, 1.0 - below)
    } else {
        let above = (front * fraction(b, a, 1.0 - x) / b).min(1.0);
        (1.0 - above, above)
    }
}

fn fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let keep = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / keep(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for step in 1..100_000 {
        let m = f64::from(step);
        for coefficient in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / keep(1.0 + coefficient * d);
            c = keep(1.0 + coefficient / c);
            h *= c * d;
        }
        if (c * d - 1.0).abs() < 1e-15 {
            break;
        }
    }
    h
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
    fn no_hits_in_many_trials_leave_the_rule_of_three_point_seven() {
        for trials in [1_000u64, 1_000_000, 100_000_000] {
            let high = upper_limit(0, trials, 0.025);
            assert!((high * trials as f64 - 3.688_88).abs() < 0.01, "{}", high * trials as f64);
        }
    }
}
