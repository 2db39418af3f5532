//! Rounded real noise, sampled exactly: with it, the privacy loss of an additive mechanism holds for the bits of its
//! floating-point output too.
//!
//! A number x is rounded to m = round(x / s) multiples of a public spacing s, a power of two. The release is
//! s (m + round(b E)), where b is an integer and E a real Laplace or normal deviate that is sampled exactly. Since m
//! is an integer, m + round(b E) = round(m + b E) with probability 1: a function of the output of the *ideal* mechanism
//! on the integer m, with real noise of scale b. So the privacy loss of the release is at most that of ideal noise whose
//! multiplier is b divided by the sensitivity *of the integers* m, whatever the accountant, composition and sampling. The
//! sensitivity of the integers includes everything that rounding, and floating-point arithmetic before it, can add; b is
//! chosen so large that b divided by this sensitivity is at least the noise multiplier in the ledger. Turning integers into
//! floating-point numbers at the end is post-processing as well.

use super::MechanismError;
use super::real_deviates::{rounded_laplace, rounded_normal};
use crate::rng::Stream;

/// The smaller of noise and sensitivity is about 2^FINER spacings of the lattice, unless `WIDEST` forbids it.
const FINER: i32 = 30;
/// The larger of noise and sensitivity is below 2^(WIDEST + 1) spacings.
const WIDEST: i32 = 51;
/// The smaller of noise and sensitivity is at least 2^LEAST spacings.
const LEAST: i32 = 21;
/// Noise and sensitivity may have binary exponents from minus this number to this number.
const LARGEST_EXPONENT: i32 = 900;
/// Relative error of a sensitivity that was summed up in floating point, with a margin.
const ARITHMETIC: f64 = 1e-12;
/// The sampler's limit for the scale of the noise, in spacings. A lattice keeps noise and sensitivity below 2^52 spacings.
const MOST: f64 = (1u64 << 62) as f64;
/// Largest integer to which an input is rounded. A larger input becomes this integer, which moves no two inputs further
/// apart.
const LARGEST: f64 = (1u128 << 90) as f64;

/// A lattice: the multiples of a public spacing, which is a power of two.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Grid {
    spacing: f64,
}

impl Grid {
    /// The lattice for noise of this scale on a quantity of this sensitivity, both in the units of the input.
    pub(super) fn between(scale: f64, sensitivity: f64) -> Result<Self, MechanismError> {
        Self::of_width(scale, sensitivity, WIDEST)
    }

    /// The lattice for noise of this scale and a quantity of this sensitivity. The larger of scale and sensitivity is below
    /// 2^(`widest` + 1) spacings.
    pub(super) fn of_width(scale: f64, sensitivity: f64, widest: i32) -> Result<Self, MechanismError> {
        let exponents = [scale, sensitivity].map(libm::ilogb);
        let (low, high) = (exponents[0].min(exponents[1]), exponents[0].max(exponents[1]));
        if !(scale > 0.0 && sensitivity > 0.0) || low < -LARGEST_EXPONENT || high > LARGEST_EXPONENT {
            return Err(MechanismError::Shape {
                expected: "noise and sensitivity from 1e-270 to 1e270 for exact arithmetic (write `arithmetic: Ideal`)"
                    .to_owned(),
                found: format!("{scale:e} and {sensitivity:e}"),
            });
        }
        if high - low > widest - LEAST {
            let most = libm::exp2(f64::from(widest - LEAST - 1));
            return Err(MechanismError::Shape {
                expected: format!(
                    "noise and sensitivity that differ by a factor of at most {most:e} for exact arithmetic (write \
                     `arithmetic: Ideal`)"
                ),
                found: format!("{scale:e} and {sensitivity:e}"),
            });
        }
        Ok(Self { spacing: libm::scalbn(1.0, (low - FINER).max(high - widest)) })
    }

    pub(super) fn spacing(&self) -> f64 {
        self.spacing
    }

    /// The integer m for which m spacings are nearest to a finite number. Division by a power of two is exact.
    pub(super) fn round(&self, value: f64) -> i128 {
        (value / self.spacing).round().clamp(-LARGEST, LARGEST) as i128
    }

    /// The number that is this multiple of the spacing.
    pub(super) fn value(&self, multiples: i128) -> f64 {
        multiples as f64 * self.spacing
    }

    /// The largest L1 distance, in spacings, of two vectors of `length` numbers after rounding, if their L1 distance
    /// was at most `distance`. Each number is rounded by at most 1/2 spacing.
    pub(super) fn l1(&self, distance: f64, length: usize) -> f64 {
        (distance / self.spacing + length as f64) * (1.0 + ARITHMETIC)
    }

    /// The largest L2 distance, in spacings, of two vectors of `length` numbers after rounding, if
    /// their L2 distance was at most `distance`.
    pub(super) fn l2(&self, distance: f64, length: usize) -> f64 {
        (distance / self.spacing + (length as f64).sqrt()) * (1.0 + ARITHMETIC)
    }

    /// The largest L2 norm, in spacings, of a vector of `length` numbers after rounding, if its norm was at most
    /// `norm`.
    pub(super) fn norm(&self, norm: f64, length: usize) -> f64 {
        (norm / self.spacing + 0.5 * (length as f64).sqrt()) * (1.0 + ARITHMETIC)
    }

    /// The least integer scale of noise, in spacings, that is at least `multiplier` times `reach`, the sensitivity of the
    /// rounded numbers in spacings.
    pub(super) fn scale(&self, multiplier: f64, reach: f64) -> u64 {
        let mut scale = (multiplier * reach).ceil().max(1.0);
        // The product was rounded, so it may be too small. The fused multiply-add has the sign of the exact difference.
        if multiplier.mul_add(reach, -scale) > 0.0 {
            scale = scale.next_up().ceil();
        }
        assert!(scale < MOST, "the lattice is too fine");
        scale as u64
    }

    /// `multiples` spacings plus Laplace noise whose scale is `scale` spacings.
    pub(super) fn plus_laplace(&self, multiples: i128, scale: u64, stream: &mut Stream) -> f64 {
        self.value(multiples + rounded_laplace(scale, stream))
    }

    /// `multiples` spacings plus normal noise whose standard deviation is `scale` spacings.
    pub(super) fn plus_normal(&self, multiples: i128, scale: u64, stream: &mut Stream) -> f64 {
        self.value(multiples + rounded_normal(scale, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The scale of the noise divided by the sensitivity of the rounded numbers (`reach`) is at least the multiplier in
        /// the ledger. Two numbers lie, after rounding, no further apart than the sensitivity that `l1` computes from their
        /// distance before rounding.
        #[test]
        fn noise_is_at_least_what_the_ledger_states(
            exponent in -300i32..300, ratio in -32f64..32.0, sensitivity in 1f64..2.0, length in 1usize..40,
            place in -1e3f64..1e3, share in -1f64..1.0,
        ) {
            let sensitivity = libm::scalbn(sensitivity, exponent);
            let noise = sensitivity * libm::exp2(ratio);
            let Ok(grid) = Grid::between(noise, sensitivity) else {
                prop_assert!(ratio.abs() > 28.0, "{ratio}");
                return Ok(());
            };
            let multiplier = noise / sensitivity;
            for reach in [grid.l1(sensitivity, length), grid.l2(sensitivity, length), grid.norm(sensitivity, length)] {
                let scale = grid.scale(multiplier, reach);
                prop_assert!(multiplier.mul_add(reach, -(scale as f64)) <= 0.0, "{scale} for {multiplier} {reach}");
                prop_assert!(scale as f64 <= multiplier * reach * (1.0 + 1e-9) + 1.0);
                let drawn = scale as f64 * grid.spacing() / noise;
                prop_assert!((1.0..1.000_01).contains(&drawn) || length > 1, "{drawn} times the noise");
            }
            let (a, b) = (place * sensitivity, place * sensitivity + share * sensitivity);
            let apart = grid.round(a).abs_diff(grid.round(b)) as f64;
            prop_assert!(apart <= grid.l1((a - b).abs(), 1), "{apart}");
        }
    }

    #[test]
    fn spacings_are_powers_of_two_and_large_numbers_are_clamped() {
        let grid = Grid::between(3.0, 1.0).unwrap();
        assert_eq!(grid.spacing(), libm::exp2(-30.0));
        assert_eq!((grid.round(-1.0), grid.value(1 << 30)), (-(1 << 30), 1.0));
        // All numbers beyond the upper end of the range are moved to this end.
        assert_eq!(grid.round(f64::MAX), grid.round(1e200));
        let refused =
            [(1e300, 1e300), (1e-300, 1e-300), (1e-300, 1.0), (1.0, 1e20), (f64::INFINITY, 1.0), (0.0, 1.0)];
        for (noise, sensitivity) in refused {
            assert!(Grid::between(noise, sensitivity).is_err(), "{noise} {sensitivity}");
        }
        // The factor that the message states is permitted, and so is every smaller one.
        let message = Grid::between(1.0, 1e20).unwrap_err().to_string();
        assert!(message.contains(&format!("a factor of at most {:e} ", libm::exp2(29.0))), "{message}");
        for (factor, fits) in [(29.0, true), (30.0, true), (31.0, false)] {
            assert_eq!(Grid::between(1.0, libm::exp2(factor)).is_ok(), fits, "2^{factor}");
            assert_eq!(Grid::between(libm::exp2(factor), 1.0).is_ok(), fits, "2^-{factor}");
        }
    }

    /// By hand on a lattice of spacing 2^-30: distances in spacings, a rounding error of half a spacing for each number of
    /// each vector, and a margin that is far below one spacing.
    #[test]
    fn distances_include_the_rounding_of_each_number() {
        let grid = Grid::between(3.0, 1.0).unwrap();
        let spacings = libm::exp2(30.0);
        for (found, rounding) in [
            (grid.l1(1.0, 3), 3.0),
            (grid.l2(1.0, 4), 2.0),
            (grid.norm(1.0, 16), 2.0),
            (grid.norm(1.0, 1), 0.5),
        ] {
            let over = found - (spacings + rounding);
            assert!(over > 0.0 && over < 0.01, "{over} for {rounding}");
        }
        assert_eq!((grid.scale(2.0, 4.0), grid.scale(2.0, 4.1), grid.scale(1e-9, 1.0)), (8, 9, 1));
        assert!(Grid::between(-1.0, 1.0).is_err() && Grid::between(1.0, -1.0).is_err());
    }

    /// A noisy number is the spacing times the sum of its integer and the integer noise from the stream.
    #[test]
    fn noise_is_added_to_the_multiple() {
        let grid = Grid::between(1.0, 1.0).unwrap();
        let key = crate::rng::Key::root(2);
        let noise = [rounded_normal(1 << 30, &mut key.stream()), rounded_laplace(1 << 30, &mut key.stream())];
        let found = [
            grid.plus_normal(1 << 40, 1 << 30, &mut key.stream()),
            grid.plus_laplace(1 << 40, 1 << 30, &mut key.stream()),
        ];
        assert_eq!(found, noise.map(|noise| grid.value((1 << 40) + noise)));
    }
}
