//! A Fourier transform of power-of-two length; results are bit-identical on every platform.
//!
//! The output of the forward transform is in bit-reversed order, and the backward transform expects its input in that
//! order. Between the two transforms, [`Fft::place`] finds the value of a frequency, so no values need to be reordered.

use crate::accounting::complex::Complex;
use std::f64::consts::TAU;

#[derive(Debug)]
pub(super) struct Fft {
    /// exp(-pi i k / h) for k < h, for each half-length h = n/2, n/4, ..., 1 in this order.
    turns: Vec<Complex>,
}

impl Fft {
    /// A transform of length `n`, a power of two, at least 2.
    pub(super) fn new(n: usize) -> Self {
        let half = n / 2;
        // Each factor is computed as the product of a coarse and a fine factor. This is far faster than computing a sine
        // and a cosine for each factor, and the result differs in the last two bits at most.
        let fine = 1 << (half.trailing_zeros() / 2);
        let turn = |k: usize| Complex::turn(-TAU * (k as f64 / n as f64));
        let near: Vec<Complex> = (0..fine).map(turn).collect();
        let mut turns = Vec::with_capacity(n);
        for k in (0..half).step_by(fine) {
            let far = turn(k);
            turns.extend(near.iter().map(|near| far * *near));
        }
        let (mut from, mut length) = (0, half);
        while length > 1 {
            for k in (0..length).step_by(2) {
                turns.push(turns[from + k]);
            }
            from += length;
            length /= 2;
        }
        Self { turns }
    }

    pub(super) fn len(&self) -> usize {
        self.turns.len() + 1
    }

    /// The rotation factors exp(-pi i k / `half`) for blocks of length 2 `half`.
    fn twiddle_factors(&self, half: usize) -> &[Complex] {
        &self.turns[self.len() - 2 * half..][..half]
    }

    /// The index of the coefficient of frequency `k` in the output of `forward`.
    pub(super) fn place(&self, k: usize) -> usize {
        let bits = self.len().trailing_zeros();
        k.reverse_bits() >> (usize::BITS - bits)
    }

    /// The forward transform, by decimation in frequency.
    pub(super) fn forward(&self, values: &mut [Complex]) {
        let mut half = self.len() / 2;
        while half >= 1 {
            in_pairs(values, self.twiddle_factors(half), |a, b, turn| (a + b, (a - b) * turn));
            half /= 2;
        }
    }

    /// The inverse transform, by decimation in time; it divides by the length.
    pub(super) fn backward(&self, values: &mut [Complex]) {
        let n = self.len();
        let mut half = 1;
        while half < n {
            in_pairs(values, self.twiddle_factors(half), |a, b, turn| {
                let turned = b * turn.conj();
                (a + turned, a - turned)
            });
            half *= 2;
        }
        let scale = 1.0 / n as f64;
        values.iter_mut().for_each(|v| *v = v.scale(scale));
    }
}

/// Divides the values into blocks of length 2 `turns.len()`. In each block, the values k and k + `turns.len()` are a pair.
/// `step` computes the two new values of a pair from the old ones and the factor `turns[k]`.
#[inline(always)]
fn in_pairs(
    values: &mut [Complex],
    turns: &[Complex],
    step: impl Fn(Complex, Complex, Complex) -> (Complex, Complex),
) {
    let half = turns.len();
    for block in values.chunks_exact_mut(2 * half) {
        let (left, right) = block.split_at_mut(half);
        // The loop uses indices, because a `zip` of short slices costs more time than the arithmetic.
        for k in 0..half {
            (left[k], right[k]) = step(left[k], right[k], turns[k]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forward_agrees_with_the_definition_and_backward_undoes_it() {
        let n = 16;
        let fft = Fft::new(n);
        let signal: Vec<Complex> =
            (0..n).map(|k| Complex::new(1.0 / (k + 1) as f64, (k * k % 7) as f64)).collect();
        let mut values = signal.clone();
        fft.forward(&mut values);
        for k in 0..n {
            let mut sum = Complex::ZERO;
            for (j, v) in signal.iter().enumerate() {
                sum = sum + *v * Complex::turn(-TAU * (j * k) as f64 / n as f64);
            }
            assert!((sum - values[fft.place(k)]).norm_squared() < 1e-24);
        }
        fft.backward(&mut values);
        for (a, b) in signal.iter().zip(values) {
            assert!((*a - b).norm_squared() < 1e-28);
        }
    }
}
