//! Exact Laplace noise on a lattice.

use super::exact::discrete_laplace;
use super::lattice::Lattice;
use super::pair::{Distinguisher, KnownLaws, Pair, under_laplace};
use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Positive, Sampler};
use std::num::NonZeroU32;

/// Rounds every number to a lattice and adds noise of x spacings. For each number, a new integer x is sampled exactly,
/// with probability proportional to exp(-|x| / scale).
///
/// * Precondition: neighbouring inputs differ by at most `sensitivity` in the L1 norm.
/// * Postcondition: epsilon-DP with epsilon = (sensitivity / spacing + c n) / scale for n numbers, c = 1 if the spacing
///   is a power of two and 1.5 if not. This holds for the numbers that the computer outputs: the cost includes
///   rounding. For each number, rounding may move the two values that it has on two neighbours up to c spacings further
///   apart.
///
/// Source: Canonne, Kamath and Steinke 2020, Algorithm 2; Ghosh, Roughgarden and Sundararajan 2012.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiscreteLaplace {
    lattice: Lattice,
    scale: NonZeroU32,
    sensitivity: Positive,
}

impl DiscreteLaplace {
    /// From the lattice, the scale in spacings, and the L1 sensitivity in the units of the input.
    #[must_use]
    pub const fn new(lattice: Lattice, scale: NonZeroU32, sensitivity: Positive) -> Self {
        Self { lattice, scale, sensitivity }
    }
}

impl Mechanism for DiscreteLaplace {
    type Input = Vec<f64>;
    type Output = Vec<f64>;

    fn price(&self, input: &Vec<f64>, _: &Neighbours) -> Result<Price, MechanismError> {
        let steps = self.lattice.l1(self.sensitivity.get(), input.len());
        Ok(Price {
            mechanism: "discrete Laplace noise",
            sampler: Sampler::Full,
            sensitivity: Some(steps * self.lattice.spacing()),
            cost: Cost::PureDp { epsilon: steps / f64::from(self.scale.get()) },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Exact,
        })
    }

    fn privatise(&self, input: &Vec<f64>, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        let multiples = self.lattice.round(input)?;
        let noisy =
            multiples.into_iter().map(|m| m.saturating_add(discrete_laplace(self.scale.get(), stream)));
        Ok(self.lattice.values(noisy))
    }

    /// Two inputs that differ in one number by the sensitivity. The two values of this number are chosen so that
    /// rounding (halves away from 0) moves them up to one spacing further apart.
    fn worst_pair(&self, like: &Vec<f64>) -> Option<Pair<Vec<f64>>> {
        self.lattice.worst_pair(self.sensitivity, like.len())
    }

    fn distinguisher(&self, [a, b]: [&Vec<f64>; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        let lattice = self.lattice;
        let (means, scale) = (lattice.multiples([a, b])?, f64::from(self.scale.get()));
        let steps: f64 = means[0].iter().zip(&means[1]).map(|(a, b)| (a - b).abs()).sum();
        let log_ratio = under_laplace([&means[0], &means[1]], scale, |y: &Vec<f64>| y);
        let on_lattice = move |y: &Vec<f64>| log_ratio.log_ratio(&lattice.in_spacings(y));
        let known = Distinguisher::by_ratio(on_lattice, KnownLaws::largest(steps / scale));
        Ok(known.with_support(move |y| lattice.is_off_lattice(y)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lattice has steps of 1/4, and the noise has a scale of 3 steps. The number 1 is rounded to 4 steps, and 0.2 to
    /// 1 step. An output that is no multiple of a step is off the lattice.
    #[test]
    fn outputs_are_distinguished_by_the_lattice_and_by_their_probabilities() {
        let of = |value| Positive::new(value).unwrap();
        let mechanism = DiscreteLaplace::new(Lattice::new(of(0.25)), NonZeroU32::new(3).unwrap(), of(1.0));
        let price = mechanism.price(&vec![0.0; 2], &Neighbours::AnyValue).unwrap();
        assert_eq!((price.cost, price.sensitivity), (Cost::PureDp { epsilon: 2.0 }, Some(1.5)));
        let (a, b) = (vec![1.0, 0.2, 7.0], vec![0.0, 0.5, 7.0]);
        let found = mechanism.distinguisher([&a, &b]).unwrap();
        assert_eq!(found.laws, Some(KnownLaws::largest(5.0 / 3.0)));
        // In steps: |y - 0| - |y - 4| at 3 is 2, and |y - 2| - |y - 1| at -1 is 1.
        let y = vec![0.75, -0.25, 100.0];
        assert!((found.log_ratio(&y) - (2.0 + 1.0) / 3.0).abs() < 1e-15);
        let support = |y: &Vec<f64>| (found.tests[0].1)(y);
        assert_eq!((support(&y), support(&vec![0.75, 0.1, 0.0])), (0.0, 1.0));
        let pair = mechanism.worst_pair(&vec![9.0; 2]).unwrap();
        assert_eq!(pair.inputs, [vec![-0.125, 0.0], vec![0.875, 0.0]]);
        assert!(pair.words.contains("rounded to -1 and 4 spacings"), "{}", pair.words);
    }
}
