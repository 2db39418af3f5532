//! Private choices without floating point: utilities as integers, and coins that fall with probability exp(-a / b) exactly.

use super::exact::bernoulli_exp;
use super::rounded::Grid;
use super::{MechanismError, all_finite};
use crate::rng::Stream;
use crate::vocab::{Epsilon, Positive};

/// Room for the floating-point error with which utilities were computed, relative to their sensitivity.
const COMPUTED: f64 = 1.0 / (1u64 << 20) as f64;

/// Utilities in multiples of a lattice, each below the best one, and what they are divided by: option i has the weight
/// exp(-below_i / divisor), and one unit moves any of them by at most epsilon divisor / 2.
#[derive(Debug)]
pub(super) struct Weights {
    below: Vec<u128>,
    divisor: u128,
}

/// The lattice, and the least integer divisor for which utilities of this sensitivity give at most epsilon.
pub(super) fn lattice(epsilon: Epsilon, sensitivity: Positive) -> Result<(Grid, u64), MechanismError> {
    let multiplier = (2.0 / epsilon.get()).next_up();
    let grid = Grid::between(multiplier * sensitivity.get(), sensitivity.get())?;
    Ok((grid, grid.scale(multiplier, grid.l1(sensitivity.get() * (1.0 + COMPUTED), 1))))
}

impl Weights {
    pub(super) fn new(
        epsilon: Epsilon,
        sensitivity: Positive,
        utilities: &[f64],
    ) -> Result<Self, MechanismError> {
        all_finite(utilities)?;
        let (grid, divisor) = lattice(epsilon, sensitivity)?;
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

    /// An option with probability proportional to its weight: any is proposed, and accepted with its weight. The best one
    /// always is, so that n proposals are needed on average at most.
    pub(super) fn exponential(&self, stream: &mut Stream) -> usize {
        loop {
            let index = stream.below(self.below.len() as u64) as usize;
            if self.accepts(index, stream) {
                return index;
            }
        }
    }

    /// Permute and flip: options are proposed in a random order, each once. Has the law of report noisy max with
    /// exponential noise (Ding, Kifer and others 2021).
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
