//! The noisy count of vectors within the clipping norm, released together with the sums of these vectors.

use super::rounded::Grid;
use super::{MechanismError, NoiseArithmetic};
use crate::rng::Stream;
use crate::vocab::Positive;

/// A sum over the sampled vectors, with Gaussian noise: each vector adds 1/2 if its norm is at most the clipping norm,
/// and -1/2 if it is larger. A vector of zeros, such as that of an agent without data, adds nothing. If no vector is
/// zero, the sum without noise is the number of vectors within the clipping norm, minus half the number of all sampled
/// vectors.
///
/// * Precondition: the count is over the same sample as the sums with which it is released.
/// * Postcondition: a vector adds at most 1/2, in absolute value, to the count, so the count's noise multiplier is 2
///   `sd`. Sums of noise multiplier z' and the count together cost as much as one Gaussian release of noise multiplier
///   (z'^-2 + (2 sd)^-2)^(-1/2).
///
/// Source: Andrew, Thakkar, McMahan and Ramaswamy 2021, "Differentially private learning with adaptive clipping",
/// Theorem 1 and Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormCount {
    /// Standard deviation of the noise on the count, as a number of vectors.
    pub sd: Positive,
}

/// Relative margin for the rounding of multipliers.
const ROUNDED: f64 = 1e-12;

impl NormCount {
    /// The largest absolute value that one vector adds to the count.
    const REACH: f64 = 0.5;

    /// Whether sums can be released with this count so that both together have the noise multiplier `z`. This requires that
    /// the noise multiplier of the count alone exceeds `z` by more than one part in 10^6.
    #[must_use]
    pub fn admits(self, z: f64) -> bool {
        self.multiplier() > z * (1.0 + 1e-6)
    }

    /// The count's noise multiplier, 2 `sd`.
    #[must_use]
    pub fn multiplier(self) -> f64 {
        self.sd.get() / Self::REACH
    }

    /// The noise multiplier of sums that, together with the count, have noise multiplier `z`:
    /// (z^-2 - (2 sd)^-2)^(-1/2), rounded up; infinite if the count alone has noise multiplier `z` or less. 0 if `z` is 0.
    #[must_use]
    pub fn of_sums(self, z: f64) -> f64 {
        if z <= 0.0 {
            return 0.0;
        }
        let left = 1.0 / (z * z) - 1.0 / (self.multiplier() * self.multiplier());
        if left > 0.0 { (1.0 + ROUNDED) / left.sqrt() } else { f64::INFINITY }
    }

    /// The noise multiplier of sums and count together.
    #[must_use]
    pub fn with_sums(self, of_sums: f64) -> f64 {
        1.0 / (1.0 / (of_sums * of_sums) + 1.0 / (self.multiplier() * self.multiplier())).sqrt()
    }

    /// The number of halves that a vector adds to the count: 1, -1 or 0. `shortened` is whether
    /// clipping changed the vector.
    pub(super) fn halves(vector: &[f64], shortened: bool) -> i64 {
        if shortened { -1 } else { i64::from(vector.iter().any(|value| *value != 0.0)) }
    }

    /// A count of this many halves, with noise or without.
    pub(super) fn released(
        self,
        halves: i64,
        arithmetic: Option<NoiseArithmetic>,
        stream: &mut Stream,
    ) -> Result<f64, MechanismError> {
        let count = halves as f64 * Self::REACH;
        match arithmetic {
            None => Ok(count),
            Some(NoiseArithmetic::Ideal) => Ok(count + self.sd.get() * stream.normal()),
            Some(NoiseArithmetic::Exact) => {
                // Rounding leaves 1/2 as it is, because it is a multiple of the spacing, a power of two far below 1/2. For
                // noise that would need a wider spacing, `Grid::between` returns an error.
                let (grid, scale) = self.exact()?;
                Ok(grid.plus_normal(i128::from(halves) * grid.round(Self::REACH), scale, stream))
            }
        }
    }

    /// The lattice, and the noise in multiples of its spacing.
    pub(super) fn exact(self) -> Result<(Grid, u64), MechanismError> {
        let grid = Grid::between(self.sd.get(), Self::REACH)?;
        Ok((grid, grid.scale(self.multiplier(), grid.norm(Self::REACH, 1))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(sd: f64) -> NormCount {
        NormCount { sd: Positive::new(sd).unwrap() }
    }

    /// By hand: z = 1 and sd = 1 give (1 - 1/4)^(-1/2) = 2 / sqrt(3) = 1.1547005. z = 0.5 and sd = 10 give
    /// (4 - 1/400)^(-1/2) = 0.5001563; as in the paper, sd is a twentieth of the number of vectors, here 200.
    #[test]
    fn the_noise_of_sums_is_that_of_the_paper() {
        assert!((of(1.0).of_sums(1.0) - 1.154_700_538_379_251_5).abs() < 1e-11);
        assert!((of(10.0).of_sums(0.5) - 0.500_156_323_2).abs() < 1e-9, "{}", of(10.0).of_sums(0.5));
        assert!(of(0.5).of_sums(1.0).is_infinite() && !of(0.5).admits(1.0) && of(0.6).admits(1.0));
        assert_eq!(of(1.0).of_sums(0.0), 0.0);
    }

    #[test]
    fn zero_vectors_add_nothing_to_the_count() {
        assert_eq!(NormCount::halves(&[0.0, 0.0], false), 0);
        assert_eq!(NormCount::halves(&[0.0, 1e-300], false), 1);
        assert_eq!(NormCount::halves(&[1.0, 0.0], true), -1);
    }

    proptest! {
        /// Sums and count together never have less noise than stated.
        #[test]
        fn both_together_have_the_stated_noise(z in 0.01f64..20.0, factor in 1.001f64..100.0) {
            let count = of(0.5 * z * factor);
            let both = count.with_sums(count.of_sums(z));
            prop_assert!(both >= z && both <= z * (1.0 + 1e-9), "{both} for {z}");
        }
    }

    /// A count of 3 halves is 1.5; the noise is `sd` times the next normal deviate of the stream.
    #[test]
    fn a_count_in_floating_point_has_noise_of_the_stated_deviation() {
        let key = crate::rng::Key::root(6);
        let released = of(3.0).released(3, Some(NoiseArithmetic::Ideal), &mut key.stream()).unwrap();
        assert_eq!(released, 1.5 + 3.0 * key.stream().normal());
    }

    /// A noise multiplier of exactly (1 + 1e-6) `z` is not enough.
    #[test]
    fn a_count_needs_more_noise_than_the_margin() {
        let limit = 0.5 * (1.0 + 1e-6);
        assert!(!of(limit).admits(1.0) && of(limit.next_up()).admits(1.0));
    }
}
