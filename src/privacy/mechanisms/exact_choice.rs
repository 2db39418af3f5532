//! Private choices without floating point: utilities are rounded to a lattice, and a proposed option is accepted with
//! exactly the probability exp(-a / b), for integers a and b.

use super::computed::largest_distance;
use super::exact::bernoulli_exp;
use super::rounded::Grid;
use super::{MechanismError, all_finite};
use crate::rng::Stream;
use crate::vocab::{Epsilon, Positive};

/// Utilities rounded to a lattice, each stored as its distance below the best one, in lattice spacings; and a divisor.
/// Option i has the weight exp(-below_i / divisor). Between neighbours a rounded utility differs by at most
/// `epsilon * divisor / 2` spacings.
#[derive(Debug)]
pub(super) struct Weights {
    below: Vec<u128>,
    divisor: u128,
}

/// The lattice, and the least integer divisor, up to rounding errors, with which a choice has a privacy loss of at most
/// `epsilon`. The utilities of the choice have the sensitivity `sensitivity`, and each utility is computed with an error of
/// at most `error`.
pub(super) fn lattice(
    epsilon: Epsilon,
    sensitivity: Positive,
    error: f64,
) -> Result<(Grid, u64), MechanismError> {
    let multiplier = (2.0 / epsilon.get()).next_up();
    let grid = Grid::between(multiplier * sensitivity.get(), sensitivity.get())?;
    Ok((grid, grid.scale(multiplier, grid.l1(largest_distance(sensitivity, error, 1)?, 1))))
}

impl Weights {
    pub(super) fn new(
        epsilon: Epsilon,
        sensitivity: Positive,
        error: f64,
        utilities: &[f64],
    ) -> Result<Self, MechanismError> {
        all_finite(utilities)?;
        let (grid, divisor) = lattice(epsilon, sensitivity, error)?;
        let multiples: Vec<i128> = utilities.iter().map(|utility| grid.round(*utility)).collect();
        let best = multiples.iter().max().ok_or_else(|| MechanismError::Shape {
            expected: "at least one utility".to_owned(),
            found: "none".to_owned(),
        })?;
        let below = multiples.iter().map(|multiple| best.abs_diff(*multiple)).collect();
        Ok(Self { below, divisor: u128::from(divisor) })
    }

    fn accepts(&self, index: usize, stream: &mut Stream) -> bool {
        bernoulli_exp(self.below[index], self.divisor, stream)
    }

    /// Chooses an option with probability proportional to its weight: a uniformly random option is proposed, and accepted
    /// with its weight as probability. The best of the n options is always accepted, so at most n proposals are needed on
    /// average.
    pub(super) fn exponential(&self, stream: &mut Stream) -> usize {
        loop {
            let index = stream.below(self.below.len() as u64) as usize;
            if self.accepts(index, stream) {
                return index;
            }
        }
    }

    /// Permute and flip: options are proposed in a random order, each once, until one is accepted, with its weight as
    /// probability. The choice has the distribution of report noisy max with exponential noise (Ding, Kifer and others
    /// 2021).
    pub(super) fn permute_and_flip(&self, stream: &mut Stream) -> usize {
        let mut left: Vec<usize> = (0..self.below.len()).collect();
        loop {
            let index = left.swap_remove(stream.below(left.len() as u64) as usize);
            if left.is_empty() || self.accepts(index, stream) {
                return index;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest privacy loss of a choice among `options` options, computed from the exact distributions of the
    /// exponential mechanism. On one input all utilities are 0. On the neighbour the first utility is `apart`, and every
    /// other utility is minus `apart`.
    fn loss(epsilon: Epsilon, error: f64, apart: f64, options: usize) -> f64 {
        let mut utilities = vec![-apart; options];
        utilities[0] = apart;
        let sensitivity = Positive::new(1.0).unwrap();
        let logs = |utilities: &[f64]| {
            let weights = Weights::new(epsilon, sensitivity, error, utilities).unwrap();
            let log = |below: &u128| -(*below as f64 / weights.divisor as f64);
            let logs: Vec<f64> = weights.below.iter().map(log).collect();
            let total = libm::log(logs.iter().map(|log| libm::exp(*log)).sum());
            logs.into_iter().map(|log| log - total).collect::<Vec<f64>>()
        };
        let pair = [logs(&utilities), logs(&vec![0.0; options])];
        pair[0].iter().zip(&pair[1]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// The computed utilities differ from exact ones by a small fraction of the sensitivity. The loss is at most epsilon if
    /// this error is stated, and more than epsilon if it is not.
    #[test]
    fn the_price_holds_for_utilities_with_the_error_that_is_stated() {
        let (epsilon, error) = (Epsilon::new(0.5).unwrap(), libm::scalbn(1.0, -12));
        let stated = loss(epsilon, error, 1.0 + 2.0 * error, 200_000);
        assert!(stated <= 0.5 && stated > 0.4999, "{stated}");
        let silent = loss(epsilon, 0.0, 1.0 + 2.0 * error, 200_000);
        assert!(silent > 0.5001, "{silent}");
        assert!(Weights::new(epsilon, Positive::new(1.0).unwrap(), 4.0 * error, &[0.0]).is_err());
    }
}
