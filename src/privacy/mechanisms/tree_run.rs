//! The noisy sums of tree aggregation, drawn one by one as values arrive.

use super::real_deviates::rounded_normal;
use super::rounded::Grid;
use super::tree_sums::TreeSums;
use super::{MechanismError, all_finite};
use crate::rng::Stream;

/// The noisy sums of all values so far, drawn one by one as values arrive. The values are secret.
#[derive(Clone, Debug)]
pub(in crate::privacy) struct TreeRun {
    /// Number of values that may still be added.
    left: u64,
    length: usize,
    noise: RunNoise,
}

/// The sums, and how their noise is drawn.
#[derive(Clone, Debug)]
pub(super) enum RunNoise {
    Exact { grid: Grid, scale: u64, sums: TreeSums<i128> },
    Ideal { sd: f64, sums: TreeSums<f64> },
}

impl TreeRun {
    /// Sums before the first value; at most `left` values may be added, each of `length` numbers.
    pub(super) fn new(left: u64, length: usize, noise: RunNoise) -> Self {
        Self { left, length, noise }
    }

    /// Adds a value; returns the released sum of all values up to this one.
    ///
    /// # Errors
    /// [`MechanismError`] if the value is not finite or has another length, or if as many values were added before as
    /// the plan has steps.
    pub(in crate::privacy) fn add(
        &mut self,
        value: &[f64],
        stream: &mut Stream,
    ) -> Result<Vec<f64>, MechanismError> {
        if self.left == 0 {
            let expected = "no more values than the tree has steps".to_owned();
            return Err(MechanismError::Shape { expected, found: "a further value".to_owned() });
        }
        if value.len() != self.length {
            let expected = format!("a value of {} numbers", self.length);
            return Err(MechanismError::Shape { expected, found: value.len().to_string() });
        }
        all_finite(value)?;
        self.left -= 1;
        Ok(match &mut self.noise {
            RunNoise::Exact { grid, scale, sums } => {
                let rounded: Vec<i128> = value.iter().map(|x| grid.round(*x)).collect();
                sums.add(&rounded, |partial| partial + rounded_normal(*scale, stream), |sum| sum as f64)
            }
            RunNoise::Ideal { sd, sums } => {
                sums.add(value, |partial| partial + *sd * stream.normal(), |sum| sum)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::{Mechanism, NoiseArithmetic, TreeAggregation};
    use crate::rng::Key;
    use crate::vocab::{Positive, TreePlan};
    use std::num::NonZeroU64;

    fn tree(arithmetic: NoiseArithmetic) -> TreeAggregation {
        let one = NonZeroU64::MIN;
        let plan = TreePlan { steps: NonZeroU64::new(2).unwrap(), contributions: one, restart: None };
        let (sd, sensitivity) = (Positive::new(3.0).unwrap(), Positive::new(1.0).unwrap());
        TreeAggregation::new(plan, sd, sensitivity).with(arithmetic)
    }

    /// A tree of two steps takes two values, each of the length with which the run was begun.
    #[test]
    fn a_tree_takes_as_many_values_as_it_has_steps() {
        for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
            let mut stream = Key::root(1).stream();
            let mut run = tree(arithmetic).begin(1).unwrap();
            assert!(run.add(&[1.0, 2.0], &mut stream).is_err(), "another length");
            assert!(run.add(&[f64::NAN], &mut stream).is_err());
            assert!(run.add(&[1.0], &mut stream).is_ok() && run.add(&[1.0], &mut stream).is_ok());
            let refused = run.add(&[1.0], &mut stream).unwrap_err().to_string();
            assert!(refused.contains("no more values than the tree has steps"), "{refused}");
        }
    }

    /// The first sum is the value plus the first noise of the stream.
    #[test]
    fn noise_is_added_to_a_partial_sum() {
        let key = Key::root(2);
        let ideal = tree(NoiseArithmetic::Ideal);
        let first = |own: TreeAggregation| own.privatise(&vec![vec![0.5]], &mut key.stream()).unwrap()[0][0];
        assert_eq!(first(ideal), 0.5 + 3.0 * key.stream().normal());
        let grid = Grid::between(3.0, 1.0).unwrap();
        // The integers to which two neighbouring values are rounded differ by at most 2^30 + 1; the noise multiplier is 3.
        let scale = grid.scale(3.0, grid.l2(1.0, 1));
        let noise = rounded_normal(scale, &mut key.stream());
        assert_eq!(first(tree(NoiseArithmetic::Exact)), grid.value(grid.round(0.5) + noise));
    }
}
