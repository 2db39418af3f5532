//! The sums of a tree, drawn while values come.

use super::real_deviates::rounded_normal;
use super::rounded::Grid;
use super::tree_sums::TreeSums;
use super::{MechanismError, all_finite};
use crate::rng::Stream;

/// Sums that are drawn while values come. The values are secret.
#[derive(Clone, Debug)]
pub(in crate::privacy) struct TreeRun {
    /// Number of values that may still come.
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
    /// No values yet, of at most `left` that come, each of which has `length` numbers.
    pub(super) fn new(left: u64, length: usize, noise: RunNoise) -> Self {
        Self { left, length, noise }
    }

    /// The released sum of all values so far and this one.
    ///
    /// # Errors
    /// [`MechanismError`] if the value is not finite or has another length, or if there were as many values as the plan has
    /// steps.
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
