//! Exact Gaussian noise on a lattice.

use super::exact::discrete_gaussian;
use super::lattice::Lattice;
use super::pair::{Distinguisher, KnownLaws, Laws, Pair, under_gaussian};
use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Positive, Sampler};
use std::num::NonZeroU32;

/// Rounds every number to a lattice and adds noise of x spacings. For each number, a new integer x is sampled exactly,
/// with probability proportional to exp(-x^2 / (2 sigma^2)).
///
/// * Precondition: neighbouring inputs differ by at most `sensitivity` in the L2 norm.
/// * Postcondition: rho-zero-concentrated DP with rho = (sensitivity / spacing + c sqrt(n))^2 / (2 sigma^2) for n
///   numbers, c = 1 if the spacing is a power of two and 1.5 if not. This holds for the numbers that the computer
///   outputs: the cost includes rounding.
///
/// Source: Canonne, Kamath and Steinke 2020, Algorithm 3 and Theorem 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteGaussian {
    lattice: Lattice,
    sigma: NonZeroU32,
    sensitivity: Positive,
}

/// Largest standard deviation in spacings; up to this value, the sampler's exact fractions fit 128 bits with a margin.
pub const LARGEST_SIGMA: u32 = 1 << 20;

impl DiscreteGaussian {
    /// From the lattice, the standard deviation in spacings, and the L2 sensitivity in the units of the input.
    ///
    /// # Errors
    /// [`MechanismError::Shape`] if sigma exceeds [`LARGEST_SIGMA`].
    pub fn new(lattice: Lattice, sigma: NonZeroU32, sensitivity: Positive) -> Result<Self, MechanismError> {
        if sigma.get() > LARGEST_SIGMA {
            return Err(MechanismError::Shape {
                expected: format!("a standard deviation of at most {LARGEST_SIGMA} spacings"),
                found: sigma.to_string(),
            });
        }
        Ok(Self { lattice, sigma, sensitivity })
    }
}

impl Mechanism for DiscreteGaussian {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, input: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        let steps = self.lattice.l2(self.sensitivity.get(), input.len());
        let ratio = steps / f64::from(self.sigma.get());
        Ok(Price {
            mechanism: "discrete Gaussian noise",
            sampler: Sampler::Full,
            sensitivity: Some(steps * self.lattice.spacing()),
            cost: Cost::ZeroConcentratedDp { rho: 0.5 * ratio * ratio },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Exact,
        })
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        let multiples = self.lattice.round(input)?;
        let noisy =
            multiples.into_iter().map(|m| m.saturating_add(discrete_gaussian(self.sigma.get(), stream)));
        Ok(self.lattice.values(noisy))
    }

    /// Two inputs that differ in one number by the sensitivity. The two values of this number are chosen so that
    /// rounding (halves away from 0) moves them up to one spacing further apart.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        self.lattice.worst_pair(self.sensitivity, like.len())
    }

    fn distinguisher(&self, [a, b]: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        let lattice = self.lattice;
        let (means, sigma) = (lattice.multiples([a, b])?, f64::from(self.sigma.get()));
        let apart = || means[0].iter().zip(&means[1]).map(|(a, b)| (a - b).abs()).filter(|by| *by > 0.0);
        let premise = "the noise is discrete Gaussian and only its size is unknown";
        // If several numbers differ, the distribution of the loss is not known, only the likelihood ratio.
        let one = || KnownLaws { laws: Laws::DiscreteGaussian { sigma, steps: apart().sum() }, premise };
        let laws = (apart().count() <= 1).then(one);
        let log_ratio = under_gaussian([&means[0], &means[1]], sigma, |y: &Vec<f64>| y);
        let on_lattice = move |y: &Vec<f64>| log_ratio.log_ratio(&lattice.in_spacings(y));
        let known = Distinguisher::by_ratio(on_lattice, laws);
        Ok(known.with_support(move |y| lattice.is_off_lattice(y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lattice has steps of 1/4, and the noise has a standard deviation of 3 steps.
    #[test]
    fn outputs_are_distinguished_by_the_lattice_and_by_their_probabilities() {
        let of = |value| Positive::new(value).unwrap();
        let lattice = Lattice::new(of(0.25));
        let mechanism = DiscreteGaussian::new(lattice, NonZeroU32::new(3).unwrap(), of(1.0)).unwrap();
        // The cost rho is (4 + sqrt 4)^2 / (2 * 9).
        let price = mechanism.price(&vec![0.0; 4], &Neighbours::AnyValue).unwrap();
        assert_eq!((price.cost, price.sensitivity), (Cost::ZeroConcentratedDp { rho: 2.0 }, Some(1.5)));
        let (a, b) = (vec![1.0, 0.2, 7.0], vec![0.0, 0.2, 7.0]);
        let one = mechanism.distinguisher([&a, &b]).unwrap();
        assert_eq!(one.laws.as_ref().unwrap().laws, Laws::DiscreteGaussian { sigma: 3.0, steps: 4.0 });
        // In steps, y^2 - (y - 4)^2 is 8 at y = 3, and the logarithm of the likelihood ratio is 8 / (2 * 3^2).
        assert!((one.log_ratio(&vec![0.75, 0.0, 0.0]) - 8.0 / 18.0).abs() < 1e-15);
        assert_eq!((one.tests[0].1)(&vec![0.75, 0.1, 0.0]), 1.0);
        let two = mechanism.distinguisher([&a, &vec![0.0, 0.5, 7.0]]).unwrap();
        assert!(two.laws.is_none() && two.tests.len() == 2, "the law of two differing numbers is unknown");
        let none = mechanism.distinguisher([&a, &a]).unwrap();
        assert_eq!(none.laws.unwrap().laws, Laws::DiscreteGaussian { sigma: 3.0, steps: 0.0 });
        let largest = NonZeroU32::new(LARGEST_SIGMA).unwrap();
        assert!(DiscreteGaussian::new(lattice, largest, of(1.0)).is_ok());
        assert!(DiscreteGaussian::new(lattice, largest.checked_add(1).unwrap(), of(1.0)).is_err());
        assert_eq!(
            mechanism.worst_pair(&vec![9.0; 2]).unwrap().inputs,
            [vec![-0.125, 0.0], vec![0.875, 0.0]]
        );
    }
}
