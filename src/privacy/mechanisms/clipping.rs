//! Clipping, which bounds the sensitivity to which noise is scaled.
//!
//! Clipping releases nothing and so has no privacy cost; it establishes the precondition of the mechanism that follows.

use super::MechanismError;
use super::pair::Pair;
use super::rounded::Grid;
use crate::vocab::{Finite, Positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scales a vector down so that its L2 norm is at most `bound`; returns whether the vector was changed. A vector with
/// NaN or infinities becomes zero, since its norm is not known.
///
/// * Postcondition: the L2 norm is at most `bound` (1 + 1e-14), for up to 2^26 numbers and bounds of at least 1e-290.
///   Squares are summed with compensation, so that rounding does not lose many small squares beside a large one.
///
/// Source: Abadi et al. 2016, Algorithm 1.
pub fn clip_norm(values: &mut [f64], bound: Positive) -> bool {
    let largest = values.iter().fold(0.0f64, |most, v| most.max(v.abs()));
    if !values.iter().all(|v| v.is_finite()) {
        values.fill(0.0);
        return true;
    }
    if largest == 0.0 {
        return false;
    }
    // Numbers are divided by the largest absolute value, so that no square overflows, and a square that vanishes is too
    // small to count beside the largest one, which is 1.
    let norm = largest * compensated_sum(values.iter().map(|v| (v / largest) * (v / largest))).sqrt();
    if norm <= bound.get() {
        return false;
    }
    let factor = bound.get() / norm;
    if factor >= f64::MIN_POSITIVE {
        values.iter_mut().for_each(|v| *v *= factor);
    } else {
        // A subnormal factor has lost digits, and may be too large by a factor of up to 2.
        values.iter_mut().for_each(|v| *v = (*v / norm) * bound.get());
    }
    true
}

/// The sum of up to 2^26 numbers that are at least 0, with a relative error of at most 2 / 2^53.
///
/// Source: Neumaier 1974; relative error 2^-53 + n^2 2^-106 for n numbers (Higham 2002, section 4.3).
fn compensated_sum(values: impl Iterator<Item = f64>) -> f64 {
    let (mut sum, mut lost) = (0.0f64, 0.0f64);
    for value in values {
        let next = sum + value;
        lost += if sum >= value { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

/// Clips a number to [-bound, bound]; returns the result and whether it differs from the number. NaN becomes 0.
///
/// * Postcondition: any two results differ by at most 2 bound.
#[must_use]
pub fn clip_value(value: f64, bound: Positive) -> (f64, bool) {
    if value.is_nan() {
        return (0.0, true);
    }
    let clipped = value.clamp(-bound.get(), bound.get());
    (clipped, clipped != value)
}

/// A public range that numbers are clipped to: `Range(low: -3, high: 3)`.
///
/// Example: `Range(low: -3, high: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Range {
    /// Smallest number.
    pub low: Finite,
    /// Largest number, above `low`.
    pub high: Finite,
}

/// The lattice on which noise of this scale is drawn exactly for numbers in [-bound, bound], and the largest distance
/// between two such numbers after rounding, in lattice spacings.
pub(super) fn symmetric_grid(bound: Positive, scale: f64) -> Result<(Grid, f64), MechanismError> {
    let grid = Grid::between(scale, 2.0 * bound.get())?;
    Ok((grid, 2.0 * grid.round(bound.get()) as f64))
}

impl Range {
    /// The largest distance between two numbers in the range, which is the sensitivity of one number.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] unless `high` - `low` is a finite number above 0.
    pub fn width(&self) -> Result<Positive, MechanismError> {
        Positive::new(self.high.get() - self.low.get()).map_err(|_| MechanismError::Shape {
            expected: "a range whose `low` lies below its `high`".to_owned(),
            found: format!("{} and {}", self.low, self.high),
        })
    }

    /// The lattice on which noise of this scale is drawn exactly, and the largest distance between two numbers of the
    /// range after rounding, in lattice spacings. This distance is exact, because rounding preserves order.
    pub(super) fn grid(&self, scale: f64) -> Result<(Grid, f64), MechanismError> {
        let grid = Grid::between(scale, self.width()?.get())?;
        Ok((grid, (grid.round(self.high.get()) - grid.round(self.low.get())) as f64))
    }

    /// The nearest number in the range; `low` for NaN.
    #[must_use]
    pub fn clip(&self, value: f64) -> f64 {
        // The order of the two calls matters: `max` of NaN and a number is the number, so NaN becomes `low`.
        value.max(self.low.get()).min(self.high.get())
    }

    /// Two numbers outside the range, one above and one below it, each as far from the range as the range is wide. Clipping
    /// must move them to the ends of the range, which are as far apart as two clipped numbers can be.
    #[must_use]
    pub fn worst_pair(&self) -> Option<Pair<f64>> {
        let (low, high) = (self.low.get(), self.high.get());
        let ends = [high + (high - low), low - (high - low)];
        Some(Pair { inputs: ends, words: format!("a number of {} or {}", ends[0], ends[1]) })
    }

    /// Whether a number lies outside the range. The answer depends on protected data: use it only for counts that stay
    /// with the owner.
    #[must_use]
    pub fn exceeded_by(&self, value: f64) -> bool {
        self.clip(value) != value
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn norms_are_bounded_and_small_vectors_untouched(
            values in prop::collection::vec(-1e300f64..1e300, 0..8), bound in 1e-3f64..1e6,
        ) {
            let mut clipped = values.clone();
            let moved = clip_norm(&mut clipped, Positive::new(bound).unwrap());
            let norm = clipped.iter().map(|v| v * v).sum::<f64>().sqrt();
            prop_assert!(norm <= bound * (1.0 + 1e-14));
            prop_assert!(moved || clipped == values);
        }
    }

    proptest! {
        /// Numbers may be nearly as large, and bounds nearly as small, as floating point allows. The factor by which numbers
        /// are multiplied, the bound divided by the norm, may then be subnormal.
        #[test]
        fn norms_are_bounded_at_any_size(
            direction in prop::collection::vec(-1f64..1.0, 1..4), size in 200i32..1020, bound in -960i32..0,
        ) {
            let mut clipped: Vec<f64> = direction.iter().map(|v| libm::scalbn(*v, size)).collect();
            let bound = Positive::new(libm::scalbn(1.0, bound)).unwrap();
            clip_norm(&mut clipped, bound);
            let norm = clipped.iter().map(|v| (v / bound.get()) * (v / bound.get())).sum::<f64>().sqrt();
            prop_assert!(norm <= 1.0 + 1e-14, "{norm} times the bound");
        }
    }

    #[test]
    fn a_subnormal_factor_bounds_the_norm_too() {
        let mut values = [1.7e308];
        assert!(clip_norm(&mut values, Positive::new(1e-14).unwrap()));
        assert!((values[0] / 1e-14 - 1.0).abs() <= 1e-14, "{:e}", values[0]);
    }

    /// A plain sum loses every square that is below 2^-53 of the first square: the clipped norm would then be too large by
    /// 1.5e-11 of the bound.
    #[test]
    fn many_small_numbers_beside_a_large_one_count() {
        let mut values = vec![1e-8; 300_001];
        values[0] = 1.0;
        assert!(clip_norm(&mut values, Positive::new(0.5).unwrap()));
        // The small squares are added first, so that none is lost. Their sum is 3e-11 of the large square, and has a
        // relative error below 1e-10.
        let norm = values.iter().rev().map(|v| v * v).sum::<f64>().sqrt();
        assert!(norm / 0.5 - 1.0 <= 1e-14, "{:e}", norm / 0.5 - 1.0);
        assert!(norm / 0.5 - 1.0 >= -1e-14, "no more is taken away than needed");
    }

    #[test]
    fn ranges_hold_and_must_not_be_empty() {
        let range = |low, high| Range { low: Finite::new(low).unwrap(), high: Finite::new(high).unwrap() };
        let some = range(-1.0, 3.0);
        assert_eq!(
            [-9.0, 0.5, 4.0, f64::NAN, f64::INFINITY].map(|v| some.clip(v)),
            [-1.0, 0.5, 3.0, -1.0, 3.0]
        );
        assert_eq!(some.width().unwrap().get(), 4.0);
        assert!(some.exceeded_by(3.5) && !some.exceeded_by(3.0));
        assert!(range(1.0, 1.0).width().is_err() && range(-1e308, 1e308).width().is_err());
    }

    /// Two numbers within the bound differ by at most twice the bound, and the lattice is the one for this sensitivity.
    #[test]
    fn a_symmetric_range_has_twice_its_bound_as_sensitivity() {
        let (grid, reach) = symmetric_grid(Positive::new(8.0).unwrap(), 1e6).unwrap();
        assert_eq!(grid, Grid::between(1e6, 16.0).unwrap());
        assert_eq!(reach, 16.0 / grid.spacing());
    }

    #[test]
    fn nan_and_infinities_are_bounded_too() {
        let bound = Positive::new(2.0).unwrap();
        let mut values = [f64::NAN, 1.0];
        assert!(clip_norm(&mut values, bound));
        assert_eq!(values, [0.0, 0.0]);
        assert_eq!(clip_value(f64::NAN, bound), (0.0, true));
        assert_eq!(clip_value(f64::INFINITY, bound), (2.0, true));
        assert_eq!(clip_value(-1.5, bound), (-1.5, false));
    }

    /// Twice a bound of 1/64 is 2^-5: with noise of scale 1, the spacing is 2^-35, and the ends are 2^30 spacings apart.
    #[test]
    fn the_lattice_of_a_symmetric_range_covers_both_ends() {
        let (grid, apart) = symmetric_grid(Positive::new(1.0 / 64.0).unwrap(), 1.0).unwrap();
        assert_eq!((grid.spacing(), apart), (libm::exp2(-35.0), libm::exp2(30.0)));
    }
}
