//! The quantile of Zipf's law, computed without adding up all terms.

/// Number of terms that are added up one by one. The sum of the terms after them is computed from an integral.
const DIRECT: u64 = 32;

/// The quantile of Zipf's law on 1, ..., n with exponent `s` at probability `u` in (0, 1). It is the smallest k with
/// H(k) >= u H(n), where H(k) is the sum of 1 / i^s over i from 1 to k. Exact except for the rounding of H, whose
/// relative error is about 1e-15.
///
/// Source: the Euler-Maclaurin formula, for the sum of the terms after the 32nd (DLMF 2.10.1).
///
/// # Panics
/// If `n` is 0.
#[must_use]
pub fn zipf_quantile(n: u64, s: f64, u: f64) -> u64 {
    assert!(n > 0, "there is no rank in an empty set");
    let wanted = u * harmonic(n, s);
    let mut sum = 0.0;
    for k in 1..=DIRECT.min(n) {
        sum += libm::pow(k as f64, -s);
        if sum >= wanted {
            return k;
        }
    }
    let head = sum;
    if n <= DIRECT {
        return n;
    }
    let enough = |k: u64| head + beyond(k, s) >= wanted;
    // The guess is the y for which the integral of x^-s from 32.5 to y is `wanted - head`. The guess is
    // usually within 1 of the rank. If the rank is at most guess - 2 or above guess + 2 because of rounding, the search
    // extends to the end of the range on the side of the rank.
    let guess = inverse(wanted - head, s).clamp(DIRECT as f64, n as f64) as u64;
    let (mut low, mut high) = (guess.saturating_sub(2).max(DIRECT), guess.saturating_add(2).min(n));
    if low > DIRECT && enough(low) {
        low = DIRECT;
    }
    if !enough(high) {
        high = n;
    }
    // Invariant of the bisection: H(low) < u H(n) <= H(high).
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if enough(middle) { high = middle } else { low = middle }
    }
    high
}

/// H(k), the sum of the first k terms.
fn harmonic(k: u64, s: f64) -> f64 {
    let head: f64 = (1..=k.min(DIRECT)).map(|i| libm::pow(i as f64, -s)).sum();
    if k > DIRECT { head + beyond(k, s) } else { head }
}

/// H(k) - H(32), for k above 32.
fn beyond(k: u64, s: f64) -> f64 {
    // B_2j / (2j)! for j from 1 to 4, with the Bernoulli numbers B_2j.
    const BERNOULLI: [f64; 4] = [1.0 / 12.0, -1.0 / 720.0, 1.0 / 30_240.0, -1.0 / 1_209_600.0];
    let (from, to) = (DIRECT as f64, k as f64);
    let mut sum = integral(from, to, s) + 0.5 * (libm::pow(to, -s) - libm::pow(from, -s));
    // The sum of the odd derivatives of x^-s, each times its Bernoulli factor. The first derivative is -s x^(-s-1), and each
    // next one has two more factors of the form (s + i) / x.
    let derivative = |x: f64| {
        let (mut value, mut order, mut total) = (-s * libm::pow(x, -s - 1.0), s + 1.0, 0.0);
        for factor in BERNOULLI {
            total += factor * value;
            value *= order * (order + 1.0) / (x * x);
            order += 2.0;
        }
        total
    };
    sum += derivative(to) - derivative(from);
    sum
}

/// The integral of x^-s between two positive numbers.
fn integral(from: f64, to: f64, s: f64) -> f64 {
    let (exponent, ratio) = (1.0 - s, libm::log(to / from));
    if exponent.abs() * ratio < 1e-300 {
        return ratio * libm::pow(from, exponent);
    }
    libm::pow(from, exponent) * libm::expm1(exponent * ratio) / exponent
}

/// The y for which the integral of x^-s from 32.5 to y is approximately `value`; infinite if there is no such y.
fn inverse(value: f64, s: f64) -> f64 {
    let (from, exponent) = (DIRECT as f64 + 0.5, 1.0 - s);
    let scaled = value * libm::pow(from, -exponent);
    if exponent.abs() < 1e-9 {
        return from * libm::exp(scaled);
    }
    let inside = exponent * scaled;
    if inside <= -1.0 { f64::INFINITY } else { from * libm::exp(libm::log1p(inside) / exponent) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_agree_with_the_sums_of_all_terms() {
        for s in [0.0, 0.3, 1.0, 1.0 + 1e-12, 1.1, 2.0, 5.0] {
            for k in [1, 31, 32, 33, 100, 20_000] {
                // The small terms are added first, so that rounding errors stay small.
                let all: f64 = (1..=k).rev().map(|i| libm::pow(i as f64, -s)).sum();
                assert!((harmonic(k, s) / all - 1.0).abs() < 1e-13, "{s} {k}: {} for {all}", harmonic(k, s));
            }
        }
    }

    #[test]
    fn ranks_agree_with_sums_of_single_terms() {
        for (n, s) in
            [(1, 1.0), (5, 0.0), (32, 1.3), (33, 1.3), (5_000, 0.0), (5_000, 0.8), (5_000, 1.0), (5_000, 2.5)]
        {
            let total = harmonic(n, s);
            let (mut rank, mut sum) = (1, 1.0);
            for k in 0..20_000 {
                let u = (f64::from(k) + 0.5) / 20_000.0;
                while sum < u * total * (1.0 - 1e-13) && rank < n {
                    rank += 1;
                    sum += libm::pow(rank as f64, -s);
                }
                let found = zipf_quantile(n, s, u);
                // If u H(n) is exactly H(k) for a rank k, rounding decides whether k or k + 1 is found.
                assert!(
                    found == rank || found == rank + 1 && sum <= u * total * (1.0 + 1e-13),
                    "{n} {s} {u}: {found} {rank}"
                );
            }
        }
    }

    #[test]
    fn large_sets_take_no_longer_than_small_ones() {
        // Exponent 0 is the uniform distribution: H(k) = k. Here u n is a whole number, so rounding decides whether the rank
        // u n or the next one is found.
        assert!([1 << 38, (1 << 38) + 1].contains(&zipf_quantile(1 << 40, 0.0, 0.25)));
        assert_eq!(zipf_quantile(u64::MAX, 3.0, 0.5), 1);
        assert!(zipf_quantile(u64::MAX, 0.5, 1.0 - 1e-16) > 1 << 62);
    }
}
