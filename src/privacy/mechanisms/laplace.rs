//! Laplace noise.

use super::computed::{largest_distance, on_computed_numbers};
use super::pair::{Distinguisher, Pair, under_laplace};
use super::rounded::Grid;
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Epsilon, Neighbours, NonNegative, Positive, Sampler};

/// Adds independent Laplace noise, of the same scale, to every number.
///
/// * Precondition: numbers are finite, and neighbouring inputs differ by at most `sensitivity` in the L1 norm, apart
///   from the error stated by [`computed_within`](Self::computed_within). Exact arithmetic refuses errors that add up to
///   more than 2^-11 times the sensitivity.
/// * Postcondition: epsilon-DP with epsilon = sensitivity / scale. With exact arithmetic (the default) the scale of the
///   noise is larger than `scale`, for two reasons. For errors of the numbers, the scale grows by the larger of two
///   shares, 2^-20 and 2 E / `sensitivity`, where E is the sum of the stated errors of all numbers. Rounding adds
///   roughly one part in 2^30 for each number, or more if `scale` and `sensitivity` differ by a factor above 2^21.
///
/// Source: Dwork, McSherry, Nissim and Smith 2006; Dwork and Roth 2014, Theorem 3.6.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Laplace {
    scale: Positive,
    sensitivity: Positive,
    /// Largest distance of a number from its exact value.
    error: f64,
    arithmetic: NoiseArithmetic,
}

impl Laplace {
    /// Noise of a given scale for a given L1 sensitivity, both in the units of the input.
    #[must_use]
    pub const fn new(scale: Positive, sensitivity: Positive) -> Self {
        Self { scale, sensitivity, error: 0.0, arithmetic: NoiseArithmetic::Exact }
    }

    /// The smallest Laplace noise that is epsilon-DP.
    ///
    /// # Errors
    /// If sensitivity / epsilon is not a finite number above 0.
    pub fn calibrated(epsilon: Epsilon, sensitivity: Positive) -> Result<Self, MechanismError> {
        let scale = Positive::new(sensitivity.get() / epsilon.get()).map_err(MechanismError::out_of_range)?;
        Ok(Self::new(scale, sensitivity))
    }

    /// Scale of the noise, as stated or calibrated; the noise of exact arithmetic is slightly larger.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.scale.get()
    }

    /// The size that the noise exceeds with probability at most e^-a, in a release of one number.
    #[must_use]
    pub fn tail(&self, a: f64) -> f64 {
        match (self.arithmetic, self.exact(1)) {
            (NoiseArithmetic::Exact, Ok((grid, scale))) => grid.spacing() * (a * scale as f64 + 1.0),
            _ => a * self.scale(),
        }
    }

    fn multiplier(&self) -> f64 {
        self.scale.get() / self.sensitivity.get()
    }

    /// The lattice for `length` numbers, and the scale of the noise in multiples of the lattice's spacing.
    fn exact(&self, length: usize) -> Result<(Grid, u64), MechanismError> {
        let grid = Grid::between(self.scale.get(), self.sensitivity.get())?;
        let reach = grid.l1(largest_distance(self.sensitivity, self.error, length)?, length);
        Ok((grid, grid.scale(self.multiplier(), reach)))
    }
}

on_computed_numbers!(Laplace);

impl Mechanism for Laplace {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, input: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            self.exact(input.len())?;
        }
        Ok(Price {
            mechanism: "Laplace noise",
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::Laplace { scale: self.multiplier() },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        all_finite(input)?;
        if self.arithmetic == NoiseArithmetic::Exact {
            let (grid, scale) = self.exact(input.len())?;
            let noisy = |value: &f64| grid.plus_laplace(grid.round(*value), scale, stream);
            return Ok(input.iter().map(noisy).collect());
        }
        Ok(input.iter().map(|value| value + self.scale.get() * stream.laplace()).collect())
    }

    /// As many zeros as `like` has numbers; on D' the first one is moved by the whole sensitivity.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        let mut moved = vec![0.0; like.len()];
        *moved.first_mut()? = self.sensitivity.get();
        let words = format!("one number, 0 or {0}, at sensitivity {0}", self.sensitivity);
        Some(Pair::new(vec![0.0; like.len()], moved, words))
    }

    fn distinguisher(&self, [a, b]: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        Ok(under_laplace([a, b], self.scale(), |y| y))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// The tail is `a` times the scale, plus at most half a spacing of the lattice for each of two roundings.
    #[test]
    fn the_tail_of_exact_noise_is_that_of_the_scale() {
        let laplace = Laplace::new(Positive::new(3.0).unwrap(), Positive::new(1.0).unwrap());
        for a in [0.5, 3.0, 20.0] {
            let tail = laplace.tail(a);
            assert!(tail >= 3.0 * a && tail < 3.0 * a * (1.0 + 1e-3), "{a}: {tail}");
            assert_eq!(laplace.with(NoiseArithmetic::Ideal).tail(a), 3.0 * a);
        }
    }

    /// Noise in floating point is added, and a scale that is too small for a lattice is refused only in exact arithmetic.
    #[test]
    fn noise_in_floating_point_is_added_and_has_no_lattice() {
        let of = |scale: f64| Laplace::new(Positive::new(scale).unwrap(), Positive::new(scale).unwrap());
        let ideal = |scale| of(scale).with(NoiseArithmetic::Ideal);
        let key = crate::rng::Key::root(4);
        let found = ideal(3.0).privatise(&vec![1.0], &mut key.stream()).unwrap();
        assert_eq!(found, [1.0 + 3.0 * key.stream().laplace()]);
        assert!(of(1e-300).price(&vec![0.0], &Neighbours::ReplaceOne).is_err());
        assert!(ideal(1e-300).price(&vec![0.0], &Neighbours::ReplaceOne).is_ok());
    }
}
