//! Exact samplers on the integers, without floating point.
//!
//! Source: Canonne, Kamath and Steinke 2020, "The discrete Gaussian for differential privacy", Algorithms 1 to 3.

use crate::rng::Stream;

/// True with probability numerator / denominator, exactly. The numerator is at most the denominator, which is not 0.
fn bernoulli(numerator: u128, denominator: u128, stream: &mut Stream) -> bool {
    below(denominator, stream) < numerator
}

/// Uniform on 0, 1, ..., n - 1, exactly, by rejection on the bits that n - 1 needs.
fn below(n: u128, stream: &mut Stream) -> u128 {
    let bits = 128 - (n - 1).leading_zeros();
    loop {
        let mut word = u128::from(stream.word());
        if bits > 64 {
            word |= u128::from(stream.word()) << 64;
        }
        let word = if bits == 0 { 0 } else { word >> ((if bits > 64 { 128 } else { 64 }) - bits) };
        if word < n {
            return word;
        }
    }
}

/// True with probability exp(-numerator / denominator), exactly (Algorithm 1).
pub(super) fn bernoulli_exp(numerator: u128, denominator: u128, stream: &mut Stream) -> bool {
    // With x = numerator / denominator, exp(-x) = exp(-1)^floor(x) exp(-(x - floor(x))).
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    (0..whole).all(|_| bernoulli_exp_below_one(1, 1, stream))
        && bernoulli_exp_below_one(rest, denominator, stream)
}

/// True with probability exp(-x), exactly, for the ratio x = numerator / denominator of at most 1. Trials are made for
/// k = 1, 2, .., each with success probability x / k, until the first one fails. The result is true if that k is odd.
fn bernoulli_exp_below_one(numerator: u128, denominator: u128, stream: &mut Stream) -> bool {
    let mut k = 1;
    while bernoulli(numerator, denominator * k, stream) {
        k += 1;
    }
    k % 2 == 1
}

/// An integer x with probability proportional to exp(-|x| / scale), exactly (Algorithm 2). The scale is at least 1.
pub(super) fn discrete_laplace(scale: u32, stream: &mut Stream) -> i64 {
    let t = u128::from(scale);
    loop {
        // The magnitude is a part below the scale t plus a whole multiple of t. First the part is drawn, then the multiple.
        let part = below(t, stream);
        if !bernoulli_exp_below_one(part, t, stream) {
            continue;
        }
        let mut multiples = 0u128;
        while bernoulli_exp_below_one(1, 1, stream) {
            multiples += 1;
        }
        let magnitude = (part + t * multiples) as i64;
        let negative = bernoulli(1, 2, stream);
        if !(negative && magnitude == 0) {
            return if negative { -magnitude } else { magnitude };
        }
    }
}

/// An integer x with probability proportional to exp(-x^2 / (2 sigma^2)), exactly (Algorithm 3). Sigma is between 1
/// and 2^20.
pub(super) fn discrete_gaussian(sigma: u32, stream: &mut Stream) -> i64 {
    let variance = u128::from(sigma) * u128::from(sigma);
    let t = sigma + 1;
    loop {
        let candidate = discrete_laplace(t, stream);
        // A candidate y is accepted with probability exp(-(|y| - sigma^2 / t)^2 / (2 sigma^2)); the exponent is a ratio of
        // integers.
        let distance = (u128::from(candidate.unsigned_abs()) * u128::from(t)).abs_diff(variance);
        let denominator = 2 * variance * u128::from(t) * u128::from(t);
        // If the square of the distance does not fit in 128 bits, the candidate is rejected. Algorithm 3 would accept so
        // large a candidate with negligible probability.
        let Some(numerator) = distance.checked_mul(distance) else { continue };
        if bernoulli_exp(numerator, denominator, stream) {
            return candidate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    const N: usize = 200_000;

    /// The chi-square statistic of observed integers against exact weights, and its 0.9999 quantile. Each of the integers -k
    /// to k is a cell; both tails together are one further cell.
    fn chi_square(k: i64, weight: impl Fn(i64) -> f64, mut draw: impl FnMut() -> i64) -> (f64, f64) {
        let total: f64 = (-4000..=4000).map(&weight).sum();
        let mut counts = vec![0u32; (2 * k + 2) as usize];
        for _ in 0..N {
            let x = draw();
            let cell = if x.abs() <= k { x + k } else { 2 * k + 1 };
            counts[cell as usize] += 1;
        }
        let inside: Vec<f64> = (-k..=k).map(|x| weight(x) / total).collect();
        let outside = 1.0 - inside.iter().sum::<f64>();
        let statistic = counts
            .iter()
            .zip(inside.iter().chain([&outside]))
            .map(|(&count, p)| {
                let expected = p * N as f64;
                (f64::from(count) - expected).powi(2) / expected
            })
            .sum();
        let freedom = (2 * k + 1) as f64;
        // Wilson-Hilferty: the 0.9999 quantile of chi-square.
        let a = 2.0 / (9.0 * freedom);
        (statistic, freedom * (1.0 - a + 3.719 * a.sqrt()).powi(3))
    }

    #[test]
    fn frequencies_are_those_of_the_laws() {
        for scale in [1u32, 3, 7] {
            let mut stream = Key::root(8).index(u64::from(scale)).stream();
            let (found, most) = chi_square(
                3 * i64::from(scale),
                |x| (-(x.abs() as f64) / f64::from(scale)).exp(),
                || discrete_laplace(scale, &mut stream),
            );
            assert!(found < most, "Laplace {scale}: {found} above {most}");
        }
        for sigma in [1u32, 2, 5] {
            let mut stream = Key::root(9).index(u64::from(sigma)).stream();
            let weight = |x: i64| (-((x * x) as f64) / (2.0 * f64::from(sigma).powi(2))).exp();
            let (found, most) =
                chi_square(3 * i64::from(sigma), weight, || discrete_gaussian(sigma, &mut stream));
            assert!(found < most, "Gaussian {sigma}: {found} above {most}");
            // The test also rejects a wrong law.
            let wrong = |x: i64| (-((x * x) as f64) / (2.1 * f64::from(sigma).powi(2))).exp();
            let (found, most) =
                chi_square(3 * i64::from(sigma), wrong, || discrete_gaussian(sigma, &mut stream));
            assert!(found > most, "Gaussian {sigma} cannot be told from a wider one: {found}");
        }
    }

    #[test]
    fn the_largest_sigma_does_not_overflow() {
        let mut stream = Key::root(10).stream();
        let sigma = 1 << 20;
        let mean_square: f64 = (0..2000)
            .map(|_| (discrete_gaussian(sigma, &mut stream) as f64 / f64::from(sigma)).powi(2))
            .sum::<f64>()
            / 2000.0;
        assert!((mean_square - 1.0).abs() < 4.0 * (2.0f64 / 2000.0).sqrt(), "{mean_square}");
    }

    /// A number below n consists of the top bits of a word, as many as n - 1 needs. If n - 1 needs more than 64 bits, the
    /// number consists of the top bits of two words together.
    #[test]
    fn a_number_below_a_power_of_two_is_the_first_bits_of_a_word() {
        let key = Key::root(3);
        let words = |n: usize| -> Vec<u64> {
            let mut stream = key.stream();
            (0..n).map(|_| stream.word()).collect()
        };
        for bits in [1, 3, 63, 64] {
            let mut stream = key.stream();
            for word in words(20) {
                assert_eq!(below(1 << bits, &mut stream), u128::from(word >> (64 - bits)), "{bits}");
            }
        }
        let (mut stream, pairs) = (key.stream(), words(20));
        for pair in pairs.chunks(2) {
            let both = u128::from(pair[0]) | u128::from(pair[1]) << 64;
            assert_eq!(below(1 << 65, &mut stream), both >> 63);
        }
        assert_eq!(below(1, &mut stream), 0);
    }
}
