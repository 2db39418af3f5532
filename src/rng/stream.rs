//! A stream of random numbers from the generator ChaCha8, and samplers. The values of samplers are part of the replay
//! format.

use crate::special::normal_quantile;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng, TryRng};
use std::convert::Infallible;

/// The random numbers of one node of the seed tree.
///
/// `Stream` implements the generator traits of `rand` 0.10, so `random_range`, `shuffle`, `choose` and every `Distribution`
/// accept a `Stream`. Each number that `rand` requests takes one or more whole words of 64 bits. [`Stream::draw`] samples
/// from the distributions of `rand_distr` with the same bits on every CPU.
#[derive(Clone, Debug)]
pub struct Stream {
    core: ChaCha8Rng,
}

const HALF_ULP_OF_ONE: f64 = 1.0 / (1u64 << 53) as f64;

impl Stream {
    pub(super) fn from_seed(seed: [u8; 32]) -> Self {
        Self { core: ChaCha8Rng::from_seed(seed) }
    }

    /// The stream of a seed, starting at the word with the number `first`, counted from 0.
    pub(super) fn from_seed_at(seed: [u8; 32], first: u64) -> Self {
        let mut core = ChaCha8Rng::from_seed(seed);
        if first > 0 {
            // ChaCha8Rng counts positions in words of 32 bits.
            core.set_word_pos(2 * u128::from(first));
        }
        Self { core }
    }

    /// 64 uniform bits.
    #[inline]
    pub fn word(&mut self) -> u64 {
        self.core.next_u64()
    }

    /// Uniform on the 2^53 multiples of 2^-53 in [0, 1). Takes one word.
    pub fn uniform(&mut self) -> f64 {
        unit(self.word())
    }

    /// Uniform on the 2^52 odd multiples of 2^-53 in the open interval (0, 1). Takes one word.
    pub fn open_uniform(&mut self) -> f64 {
        open_unit(self.word())
    }

    /// Uniform between `low` and `high`; rounding may give `high` itself. Takes one word.
    pub fn uniform_between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// True with probability `p`. Takes one word.
    pub fn bernoulli(&mut self, p: f64) -> bool {
        self.uniform() < p
    }

    /// Standard normal by inversion: a non-decreasing function of the word drawn. Takes one word.
    pub fn normal(&mut self) -> f64 {
        normal_quantile(self.open_uniform())
    }

    /// Exponential with mean 1, by inversion. Takes one word.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.open_uniform())
    }

    /// Laplace with scale 1 (density exp(-|x|)/2), by inversion. Takes one word.
    pub fn laplace(&mut self) -> f64 {
        let u = self.open_uniform() - 0.5;
        // 1 - 2|u| lies in (0, 1], so the logarithm is finite.
        -u.signum() * libm::log(1.0 - 2.0 * u.abs())
    }

    /// Student's t with `degrees` degrees of freedom; `degrees` must be above 0. Takes two words. The number is the product
    /// of sqrt(v (U^(-2/v) - 1)) and cos(2 pi V), where v is `degrees`, U is uniform on (0, 1), and V is uniform on [0, 1).
    /// Source: Bailey 1994, "Polar generation of random variates with the t-distribution".
    pub fn student_t(&mut self, degrees: f64) -> f64 {
        let (radius, angle) = (self.open_uniform(), self.uniform());
        let squared = degrees * libm::expm1(-2.0 / degrees * libm::log(radius));
        squared.sqrt() * libm::cos(2.0 * std::f64::consts::PI * angle)
    }

    /// Standard Gumbel, by inversion. Takes one word.
    pub fn gumbel(&mut self) -> f64 {
        -libm::log(-libm::log(self.open_uniform()))
    }

    /// Uniform on 0, 1, ..., n - 1, without bias (Lemire's multiplication with rejection). Takes one word, rarely more.
    ///
    /// # Panics
    /// If `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0");
        loop {
            let product = u128::from(self.word()) * u128::from(n);
            // A product is rejected if its low half is below the threshold `n.wrapping_neg() % n`. The threshold is below n,
            // so a low half of at least n is accepted without the division that computes the threshold. A low half below n
            // is rare unless n is near 2^64.
            if product as u64 >= n || product as u64 >= n.wrapping_neg() % n {
                return (product >> 64) as u64;
            }
        }
    }

    /// Fills `out` with independent standard normal numbers, each from one word.
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        for value in out {
            *value = self.normal();
        }
    }

    /// `count` distinct positions out of 0..n, in order of drawing (a partial Fisher-Yates shuffle). Makes `count` draws
    /// of [`Self::below`].
    ///
    /// # Panics
    /// If `count` exceeds `n`.
    pub fn distinct(&mut self, n: usize, count: usize) -> Vec<usize> {
        assert!(count <= n, "cannot draw {count} distinct positions out of {n}");
        let mut pool: Vec<usize> = (0..n).collect();
        for i in 0..count {
            let j = i + self.below((n - i) as u64) as usize;
            pool.swap(i, j);
        }
        pool.truncate(count);
        pool
    }
}

/// The generator traits of `rand`. Every request takes whole words, so a request for 32 bits does not leave half a word
/// for the next request.
impl TryRng for Stream {
    type Error = Infallible;

    /// The upper half of one word.
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.word() >> 32) as u32)
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.word())
    }

    /// Eight bytes of each word, the lowest first; unused bytes of the last word are dropped.
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for part in bytes.chunks_mut(8) {
            part.copy_from_slice(&self.word().to_le_bytes()[..part.len()]);
        }
        Ok(())
    }
}

/// The multiple of 2^-53 in [0, 1) that a word represents.
#[inline]
pub(crate) fn unit(word: u64) -> f64 {
    (word >> 11) as f64 * HALF_ULP_OF_ONE
}

/// The middle of the cell of width 2^-52 that a word represents; it is never 0 or 1.
#[inline]
pub(crate) fn open_unit(word: u64) -> f64 {
    ((word >> 12) as f64 + 0.5) * (2.0 * HALF_ULP_OF_ONE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn stream() -> Stream {
        Key::root(1).child("sampler tests").stream()
    }

    #[test]
    fn open_uniform_never_touches_its_ends() {
        assert!(open_unit(0) > 0.0);
        assert!(open_unit(u64::MAX) < 1.0);
        assert!(unit(u64::MAX) < 1.0);
    }

    #[test]
    fn a_stream_is_a_generator_of_whole_words() {
        use rand::RngExt;
        use rand::seq::SliceRandom;
        let (mut ours, mut theirs) = (stream(), stream());
        // The crate `rand` makes the same f64 from a word as `uniform`. A number of 32 bits takes one word, and 11 bytes
        // take two words.
        assert_eq!(theirs.random::<f64>().to_bits(), ours.uniform().to_bits());
        assert_eq!(theirs.random::<u32>(), (ours.word() >> 32) as u32);
        let mut bytes = [0; 11];
        theirs.fill(&mut bytes[..]);
        assert_eq!(bytes[..8], ours.word().to_le_bytes());
        assert_eq!(bytes[8..], ours.word().to_le_bytes()[..3]);
        assert_eq!(theirs.word(), ours.word());
        let mut cards: Vec<u8> = (0..52).collect();
        cards.shuffle(&mut theirs);
        assert_ne!(cards, (0..52).collect::<Vec<u8>>());
        cards.sort_unstable();
        assert_eq!(cards, (0..52).collect::<Vec<u8>>());
        assert!((3..9u64).contains(&theirs.random_range(3..9u64)));
    }

    #[test]
    fn below_is_uniform() {
        // Chi-square with 6 degrees of freedom on 70,000 draws: 45.1 is exceeded with probability 4.5e-8.
        let mut stream = stream();
        let mut counts = [0u32; 7];
        for _ in 0..70_000 {
            counts[stream.below(7) as usize] += 1;
        }
        let chi2: f64 = counts.iter().map(|&c| (f64::from(c) - 10_000.0).powi(2) / 10_000.0).sum();
        assert!(chi2 < 45.1, "chi-square {chi2}, counts {counts:?}");
    }

    #[test]
    fn distinct_positions_are_distinct() {
        let mut picked = stream().distinct(50, 50);
        picked.sort_unstable();
        assert_eq!(picked, (0..50).collect::<Vec<_>>());
    }

    #[test]
    fn moments_match_the_laws() {
        // 200,000 draws; each bound is six standard errors of the sample mean of the quantity checked.
        let n = 200_000;
        let six_se = |variance: f64| 6.0 * (variance / f64::from(n)).sqrt();
        let mut s = stream();
        let (mut normal, mut normal2, mut exp, mut laplace2, mut gumbel) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for _ in 0..n {
            let z = s.normal();
            normal += z;
            normal2 += z * z;
            exp += s.exponential();
            laplace2 += s.laplace().powi(2);
            gumbel += s.gumbel();
        }
        let mean = |sum: f64| sum / f64::from(n);
        assert!(mean(normal).abs() < six_se(1.0));
        assert!((mean(normal2) - 1.0).abs() < six_se(2.0));
        assert!((mean(exp) - 1.0).abs() < six_se(1.0));
        assert!((mean(laplace2) - 2.0).abs() < six_se(20.0));
        assert!((mean(gumbel) - 0.577_215_664_901_532_9).abs() < six_se(1.644_934));
    }
}
