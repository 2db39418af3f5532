//! Exactly sampled real deviates: exponential and normal numbers whose binary digits are drawn only when they are
//! needed.
//!
//! No floating-point number is used between the random words and the integer to which a scaled deviate is rounded. A
//! deviate is a whole part and a fraction; comparisons draw digits until two fractions differ, and all digits not yet
//! drawn stay independent and uniform.
//!
//! Source: von Neumann 1951, "Various techniques used in connection with random digits" (exponential); Karney 2016,
//! "Sampling exactly from the normal distribution", Algorithm N (normal).

use crate::rng::Stream;

/// Half of 2^64: the value of a fraction's first binary digit in the fraction's first word.
const HALF: u64 = 1 << 63;

/// A uniform number in [0, 1): binary digits, 64 in a word, drawn when they are needed.
#[derive(Clone, Debug)]
struct Fraction {
    first: u64,
    more: Vec<u64>,
}

impl Fraction {
    fn new(stream: &mut Stream) -> Self {
        Self { first: stream.word(), more: Vec::new() }
    }

    fn word(&mut self, index: usize, stream: &mut Stream) -> u64 {
        let Some(place) = index.checked_sub(1) else { return self.first };
        while self.more.len() <= place {
            self.more.push(stream.word());
        }
        self.more[place]
    }

    /// Whether this fraction lies below another one. Two fractions are equal with probability 0.
    fn below(&mut self, other: &mut Self, stream: &mut Stream) -> bool {
        if self.first != other.first {
            return self.first < other.first;
        }
        let mut index = 1;
        loop {
            let (own, others) = (self.word(index, stream), other.word(index, stream));
            if own != others {
                return own < others;
            }
            index += 1;
        }
    }
}

/// A non-negative real number; only the digits that are needed are drawn.
#[derive(Clone, Debug)]
struct Deviate {
    whole: u64,
    fraction: Fraction,
}

/// Exponential with mean 1. Each fraction is accepted with probability exp(-fraction), which is the probability that a
/// falling run of uniform numbers has odd length if it begins with the fraction. Each rejection adds 1 to the whole
/// part.
fn exponential(stream: &mut Stream) -> Deviate {
    let mut whole = 0;
    loop {
        let mut fraction = Fraction::new(stream);
        let mut last = Fraction::new(stream);
        let mut odd = true;
        if last.below(&mut fraction, stream) {
            loop {
                odd = !odd;
                let mut next = Fraction::new(stream);
                if !next.below(&mut last, stream) {
                    break;
                }
                last = next;
            }
        }
        if odd {
            return Deviate { whole, fraction };
        }
        whole += 1;
    }
}

/// The absolute value of a standard normal number (Karney's Algorithm N). The density at whole part k and fraction x must be
/// proportional to exp(-(k + x)^2 / 2) = exp(-k / 2) exp(-k (k - 1) / 2) exp(-x (2 k + x) / 2). First k is drawn with a
/// probability proportional to exp(-k / 2). The other two factors are the probabilities with which k and x are accepted: k
/// after k (k - 1) successes of probability exp(-1/2), x after k + 1 successes of [`within_step`].
fn half_normal(stream: &mut Stream) -> Deviate {
    loop {
        let mut whole = 0u64;
        while exp_minus_half(stream) {
            whole += 1;
        }
        if !(0..whole * whole.saturating_sub(1)).all(|_| exp_minus_half(stream)) {
            continue;
        }
        let mut fraction = Fraction::new(stream);
        if (0..=whole).all(|_| within_step(whole, &mut fraction, stream)) {
            return Deviate { whole, fraction };
        }
    }
}

/// True with probability exp(-1/2): if a falling run of uniform numbers, the first of which must be below 1/2, has even
/// length. The length is 0, which is even, if the first number is not below 1/2.
fn exp_minus_half(stream: &mut Stream) -> bool {
    let mut last = Fraction::new(stream);
    if last.first >= HALF {
        return true;
    }
    let mut even = false;
    loop {
        let mut next = Fraction::new(stream);
        if !next.below(&mut last, stream) {
            return even;
        }
        last = next;
        even = !even;
    }
}

/// True with probability exp(-x (2 k + x) / (2 k + 2)), where x is the fraction (Karney's Algorithm B): if a falling run of
/// uniform numbers, the first of which must be below x, has even length. Each number of the run also needs a success with
/// probability (2 k + x) / (2 k + 2); the run ends at the first failure. The length may be 0.
fn within_step(k: u64, x: &mut Fraction, stream: &mut Stream) -> bool {
    let mut even = true;
    let mut last: Option<Fraction> = None;
    loop {
        let mut next = Fraction::new(stream);
        let falls = match &mut last {
            None => next.below(x, stream),
            Some(last) => next.below(last, stream),
        };
        if !falls {
            return even;
        }
        let side = stream.below(2 * k + 2);
        let heads = side < 2 * k || (side == 2 * k && Fraction::new(stream).below(x, stream));
        if !heads {
            return even;
        }
        even = !even;
        last = Some(next);
    }
}

/// `scale` times a deviate, rounded to the nearest integer: digits are drawn until the integer is certain.
fn rounded(scale: u64, mut deviate: Deviate, stream: &mut Stream) -> i128 {
    let base = i128::from(scale) * i128::from(deviate.whole);
    // In units of 2^-64, 1/2 plus scale times the fraction lies in [low, low + scale), whatever the digits not yet drawn.
    let low = u128::from(scale) * u128::from(deviate.fraction.first) + u128::from(HALF);
    let high = low + u128::from(scale.saturating_sub(1));
    if low >> 64 == high >> 64 {
        return base + (low >> 64) as i128;
    }
    let mut words = 2;
    loop {
        let digits: Vec<u64> = (0..words).map(|index| deviate.fraction.word(index, stream)).collect();
        if let Some(part) = decided(scale, &digits) {
            return base + i128::from(part);
        }
        words += 1;
    }
}

/// `scale` times a fraction that begins with these words, rounded to an integer; `None` if later digits could change it.
fn decided(scale: u64, digits: &[u64]) -> Option<u64> {
    let floor = |extra: u64| {
        // Long multiplication from the last word; the carry out of the first word is the whole part.
        let mut carry = u128::from(extra);
        let mut first = 0;
        for &digit in digits.iter().rev() {
            let product = u128::from(scale) * u128::from(digit) + carry;
            first = product as u64;
            carry = product >> 64;
        }
        carry as u64 + u64::from(first >= HALF)
    };
    let (low, high) = (floor(0), floor(scale.saturating_sub(1)));
    (low == high).then_some(low)
}

fn with_sign(size: i128, stream: &mut Stream) -> i128 {
    if stream.word() >= HALF { -size } else { size }
}

/// The integer nearest to a Laplace deviate of this scale.
pub(super) fn rounded_laplace(scale: u64, stream: &mut Stream) -> i128 {
    let deviate = exponential(stream);
    let size = rounded(scale, deviate, stream);
    with_sign(size, stream)
}

/// The integer nearest to a normal deviate of this standard deviation.
pub(super) fn rounded_normal(standard_deviation: u64, stream: &mut Stream) -> i128 {
    let deviate = half_normal(stream);
    let size = rounded(standard_deviation, deviate, stream);
    with_sign(size, stream)
}

/// True with probability `p`, exactly, for `p` from 0 to 1. Reads one word, rarely more. [`Stream::bernoulli`] reads the
/// same first word and has the same answer, except in at most one of 2^53 cases.
pub(super) fn coin(p: f64, stream: &mut Stream) -> bool {
    let mut left = p;
    loop {
        let word = stream.word();
        // Multiplication by a power of two and subtraction of the whole part are exact.
        let scaled = left * 18_446_744_073_709_551_616.0;
        let whole = scaled.floor();
        if whole >= 18_446_744_073_709_551_616.0 || word < whole as u64 {
            return true;
        }
        if word > whole as u64 || scaled == whole {
            return false;
        }
        left = scaled - whole;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use crate::special::normal_cdf;

    const N: usize = 200_000;

    /// Probability that a Laplace deviate of scale 1 lies below x.
    fn laplace_cdf(x: f64) -> f64 {
        if x < 0.0 { 0.5 * x.exp() } else { 1.0 - 0.5 * (-x).exp() }
    }

    /// Returns two numbers. The first is the chi-squared statistic of the integers drawn, against the probabilities of the
    /// cells k - 1/2 to k + 1/2, where each tail is one cell. The second is the 0.9999 quantile of the statistic's
    /// distribution (by the approximation of Wilson and Hilferty).
    fn chi_square(scale: f64, cdf: fn(f64) -> f64, draws: &[i128]) -> (f64, f64) {
        let most = (3.5 * scale).ceil() as i128;
        let mut counts = vec![0u32; (2 * most + 3) as usize];
        draws.iter().for_each(|k| counts[((*k).clamp(-most - 1, most + 1) + most + 1) as usize] += 1);
        let mut statistic = 0.0;
        for (place, &count) in counts.iter().enumerate() {
            let k = (place as i128 - most - 1) as f64;
            let below = if place == 0 { 0.0 } else { cdf((k - 0.5) / scale) };
            let above = if place + 1 == counts.len() { 1.0 } else { cdf((k + 0.5) / scale) };
            let expected = (above - below) * N as f64;
            statistic += (f64::from(count) - expected).powi(2) / expected;
        }
        let freedom = (counts.len() - 1) as f64;
        let a = 2.0 / (9.0 * freedom);
        (statistic, freedom * (1.0 - a + 3.719 * a.sqrt()).powi(3))
    }

    #[test]
    fn small_scales_have_the_probabilities_of_their_cells() {
        type Case = (fn(u64, &mut Stream) -> i128, fn(f64) -> f64);
        let cases: [Case; 2] = [(rounded_laplace, laplace_cdf), (rounded_normal, normal_cdf)];
        for (case, (sampler, cdf)) in cases.into_iter().enumerate() {
            for scale in [1u64, 2, 5, 17] {
                let mut stream = Key::root(40).index(case as u64).index(scale).stream();
                let draws: Vec<i128> = (0..N).map(|_| sampler(scale, &mut stream)).collect();
                let (found, most) = chi_square(scale as f64, cdf, &draws);
                assert!(found < most, "{case} {scale}: {found} above {most}");
                // A law that is 5 % wider is rejected.
                let (found, most) = chi_square(scale as f64 * 1.05, cdf, &draws);
                assert!(found > most, "{case} {scale}: a wider law is not rejected, {found}");
            }
        }
    }

    /// At scales that are in use, and at one that needs more than 64 digits in every fourth draw, the largest distance
    /// between the empirical and the exact distribution function is below its 0.9999 quantile, 2.23 / sqrt(N), and the
    /// moments are those of the distribution.
    #[test]
    fn large_scales_have_the_stated_distribution() {
        for (place, scale) in [1u64 << 30, (1 << 45) + 12_345, (1 << 62) - 1].into_iter().enumerate() {
            for (normal, cdf) in [(false, laplace_cdf as fn(f64) -> f64), (true, normal_cdf)] {
                let mut stream = Key::root(41).index(place as u64).index(u64::from(normal)).stream();
                let mut draws: Vec<f64> = (0..N)
                    .map(|_| {
                        let draw = if normal {
                            rounded_normal(scale, &mut stream)
                        } else {
                            rounded_laplace(scale, &mut stream)
                        };
                        draw as f64 / scale as f64
                    })
                    .collect();
                draws.sort_by(f64::total_cmp);
                let distance = draws
                    .iter()
                    .enumerate()
                    .map(|(k, x)| {
                        let p = cdf(*x);
                        (p - k as f64 / N as f64).abs().max(((k + 1) as f64 / N as f64 - p).abs())
                    })
                    .fold(0.0, f64::max);
                assert!(distance < 2.23 / (N as f64).sqrt(), "{scale} {normal}: {distance}");
                let moment = |power| draws.iter().map(|x| x.powi(power)).sum::<f64>() / N as f64;
                // Means and variances of x, x^2 and x^4.
                let laws = if normal {
                    [(0.0, 1.0), (1.0, 2.0), (3.0, 96.0)]
                } else {
                    [(0.0, 2.0), (2.0, 20.0), (24.0, 39_744.0)]
                };
                for (power, (mean, variance)) in [1, 2, 4].into_iter().zip(laws) {
                    let error = 5.0 * (variance / N as f64).sqrt();
                    assert!(
                        (moment(power) - mean).abs() < error,
                        "{scale} {normal} {power}: {}",
                        moment(power)
                    );
                }
            }
        }
    }

    /// If 64 digits do not decide the integer, more are drawn, and the integer follows from the longer product.
    #[test]
    fn an_undecided_integer_draws_more_digits() {
        // 3 x is 1/2 at x = 1/6, in binary 0.00101010... With only the first word of 1/6, 3 x may lie on either side of 1/2.
        let sixth = u64::MAX / 6;
        assert_eq!(decided(3, &[sixth]), None);
        assert_eq!(decided(3, &[sixth, 0]), Some(0));
        assert_eq!(decided(3, &[sixth, u64::MAX]), Some(1));
        assert_eq!(decided(3, &[sixth, u64::MAX / 3 * 2]), None);
        assert_eq!(decided(3, &[sixth, u64::MAX / 3 * 2, u64::MAX]), Some(1));
        let fraction = |more: Vec<u64>| Fraction { first: sixth, more };
        let stream = || Key::root(42).stream();
        let at = |more| rounded(3, Deviate { whole: 7, fraction: fraction(more) }, &mut stream());
        assert_eq!((at(vec![0]), at(vec![u64::MAX])), (21, 22));
        // Two words leave it open, and a third decides.
        let open = u64::MAX / 3 * 2;
        assert_eq!((at(vec![open, 0]), at(vec![open, u64::MAX])), (21, 22));
        // Compares with 128-bit arithmetic, for fractions of 88 binary digits.
        let mut words = stream();
        for _ in 0..10_000 {
            let (scale, first, second) = (words.word() >> 40, words.word(), words.word() >> 40 << 40);
            let exact = (u128::from(scale) * ((u128::from(first) << 24) + u128::from(second >> 40))
                + (1 << 87))
                >> 88;
            let found = decided(scale, &[first, second]);
            assert!(found.is_none_or(|found| u128::from(found) == exact), "{scale} {first} {second}");
        }
    }

    /// Equal words are distinguished by the words after them.
    #[test]
    fn ties_draw_more_digits() {
        let mut stream = Key::root(43).stream();
        let of = |more: &[u64]| Fraction { first: 5, more: more.to_vec() };
        assert!(
            of(&[1, 2]).below(&mut of(&[1, 3]), &mut stream) && !of(&[2]).below(&mut of(&[1]), &mut stream)
        );
        let (mut a, mut b) = (of(&[]), of(&[]));
        let below = a.below(&mut b, &mut stream);
        assert_eq!((a.more.len(), b.more.len(), below), (1, 1, a.more < b.more));
    }

    /// The deviate is the same for every scale, so that runs with different noise have common random numbers.
    #[test]
    fn the_deviate_does_not_depend_on_the_scale() {
        let draw = |scale| {
            let mut stream = Key::root(44).stream();
            (0..1000).map(|_| rounded_normal(scale, &mut stream)).collect::<Vec<i128>>()
        };
        let (small, large) = (draw(1000), draw(1 << 40));
        assert_eq!(small, draw(1000));
        for (small, large) in small.into_iter().zip(large) {
            assert!((small as f64 / 1000.0 - large as f64 / (1u64 << 40) as f64).abs() <= 0.000_5 + 1e-9);
        }
    }

    #[test]
    fn coins_have_their_probability_and_are_certain_at_0_and_1() {
        let mut stream = Key::root(45).stream();
        assert!((0..1000).all(|_| coin(1.0, &mut stream)) && (0..1000).all(|_| !coin(0.0, &mut stream)));
        for p in [0.25, 0.3, 1e-3, 1.0 - 1e-9] {
            let heads = (0..N).filter(|_| coin(p, &mut stream)).count() as f64;
            let error = 5.0 * (p * (1.0 - p) * N as f64).sqrt() + 1.0;
            assert!((heads - p * N as f64).abs() < error, "{p}: {heads}");
        }
        // Almost always the same answer as in floating point, from the same word.
        let (mut exact, mut plain) = (Key::root(46).stream(), Key::root(46).stream());
        assert!((0..N).all(|_| coin(0.3, &mut exact) == plain.bernoulli(0.3)));
    }

    /// Probabilities whose first 64 digits equal the first random word, so that the digits after them decide.
    #[test]
    fn a_tie_with_the_first_word_is_decided_by_the_digits_after_it() {
        let word = |seed: u64| Key::root(seed).stream().word();
        // Words below 2^52 have room for one more binary digit in a number of 53 bits.
        let short = (0..100_000).filter(|seed| word(*seed) < 1 << 52);
        let mut halves = [0; 2];
        for seed in short {
            let exact = word(seed) as f64 / 18_446_744_073_709_551_616.0;
            let mut stream = Key::root(seed).stream();
            assert!(!coin(exact, &mut stream), "a probability without further digits is not above the word");
            let half = (word(seed) as f64 + 0.5) / 18_446_744_073_709_551_616.0;
            let mut second = Key::root(seed).stream();
            second.word();
            let expected = second.word() < HALF;
            assert_eq!(coin(half, &mut Key::root(seed).stream()), expected);
            halves[usize::from(expected)] += 1;
        }
        assert!(halves[0] > 0 && halves[1] > 0, "{halves:?}");
    }

    /// The probability has digits beyond the first word, but a second random word is drawn only if the first does not
    /// decide.
    #[test]
    fn a_coin_of_small_probability_reads_one_word() {
        let p = 1.0 / 30_000.0_f64;
        assert!((p * 18_446_744_073_709_551_616.0).fract() != 0.0);
        let (mut stream, mut words) = (Key::root(45).stream(), Key::root(45).stream());
        let whole = (p * 18_446_744_073_709_551_616.0) as u64;
        for _ in 0..N {
            assert_eq!(coin(p, &mut stream), words.word() < whole);
        }
        assert_eq!(stream.word(), words.word());
    }
}
