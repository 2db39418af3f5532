//! Tree aggregation: the sum of all values so far, after each step.

use super::pair::{Distinguisher, KnownLaws, Pair};
use super::rounded::Grid;
use super::tree_law::{SumNoise, Whitened};
use super::tree_run::{RunNoise, TreeRun};
use super::tree_sums::{SumEstimate, TreeSums};
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Neighbours, Positive, Sampler, TreePlan};
use std::num::NonZeroU64;

/// Releases, after each step, the sum of all values so far. A released sum is added up from partial sums that have
/// independent Gaussian noise of the same standard deviation. Step t completes the partial sum of the last l values,
/// where l is the largest power of two that divides t. The released sum is this noisy partial sum plus the released sum
/// after step t - l. So the released sum has the noise of at most ceil(log2(t + 1)) partial sums, while with fresh noise
/// on every value it would have the noise of t values. With restarts, a new tree begins after a stated number of steps,
/// and its sums are added to the last sum of the tree before.
///
/// A value may depend on earlier sums, because a sum depends only on the noise and on the values up to its step.
///
/// With [`SumEstimate::Honaker`], the partial sums that are right children of the tree are drawn too, and each partial
/// sum is estimated from the noisy partial sum itself and the noisy partial sums of parts of its values. Then S^2 (see
/// the postcondition) counts all nodes of the tree, and sums have less noise: a sum that is one node of 2^l values has
/// 1 / (2 - 2^-l) times the variance of a single noisy partial sum. This factor tends to 1/2.
///
/// * Precondition: values are finite and have the same length; between neighbours at most `contributions` values
///   differ, each by at most `sensitivity` in the L2 norm; there are at most `steps` values.
/// * Postcondition: all sums together are a Gaussian mechanism. Its noise multiplier is the standard deviation divided by
///   `sensitivity` times S, where S^2 = [`SumEstimate::sensitivity_squared`]. By default the released sums and the noisy
///   partial sums determine each other, so no smaller loss holds on the worst pair. With Honaker's estimate the released
///   sums are functions of the noisy partial sums. All partial sums together cost as much as stated, and the released
///   sums reveal a little less.
///
/// If values do not depend on earlier sums, the two neighbouring distributions are as follows. All noisy partial sums
/// together are one normal vector, with the same covariance on both inputs. The means of this vector on the two inputs
/// differ by at most S times `sensitivity` in the L2 norm, since a partial sum that contains c of the unit's values differs
/// by at most c times `sensitivity`. If values depend on earlier sums, and the steps at which a unit contributes do not, the
/// loss is the same (Denisov and others 2022, Theorem 2.1). In exact arithmetic, values are rounded to a lattice, partial
/// sums are integers in units of its spacing, and the noise is scaled to the most by which a value can differ between
/// neighbours after rounding.
///
/// Source: Dwork, Naor, Pitassi and Rothblum 2010, "Differential privacy under continual observation"; Chan, Shi and
/// Song 2011, Algorithm 2; Kairouz and others 2021, "Practical and private (deep) learning without sampling or
/// shuffling", for Gaussian noise and restarts; Honaker 2015, "Efficient use of differentially private binary trees",
/// for [`SumEstimate::Honaker`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeAggregation {
    plan: TreePlan,
    standard_deviation: Positive,
    sensitivity: Positive,
    estimate: SumEstimate,
    arithmetic: NoiseArithmetic,
}

/// With Honaker's estimate, an attack uses at most this number of sums: the first ones.
const MOST_SEEN: usize = 256;

impl TreeAggregation {
    /// The L2 sensitivity of one value, from which the noise multiplier is computed.
    #[must_use]
    pub const fn sensitivity(&self) -> Positive {
        self.sensitivity
    }

    /// From the steps and contributions, the standard deviation of the noise on a partial sum, and the L2 sensitivity
    /// of one value.
    #[must_use]
    pub const fn new(plan: TreePlan, standard_deviation: Positive, sensitivity: Positive) -> Self {
        let (estimate, arithmetic) = (SumEstimate::FewestPartialSums, NoiseArithmetic::Exact);
        Self { plan, standard_deviation, sensitivity, estimate, arithmetic }
    }

    /// The same mechanism, with its noise sampled in this arithmetic.
    #[must_use]
    pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
        Self { arithmetic, ..self }
    }

    /// The largest number of steps at which one unit may contribute.
    #[must_use]
    pub const fn contributions(&self) -> NonZeroU64 {
        self.plan.contributions
    }

    /// The largest number of values.
    #[must_use]
    pub const fn steps(&self) -> NonZeroU64 {
        self.plan.steps
    }

    /// The same mechanism, with its sums computed in this way.
    #[must_use]
    pub const fn estimated_by(self, estimate: SumEstimate) -> Self {
        Self { estimate, ..self }
    }

    /// The variance of the noise of the sum after step t, counted from 1, in squared units of the values.
    #[must_use]
    pub fn variance(&self, t: u64) -> f64 {
        let sd = self.standard_deviation.get();
        sd * sd * self.estimate.relative_variance(&self.plan, t)
    }

    /// Standard deviation of the noise on a partial sum, as a multiple of the sensitivity of one value.
    fn multiplier(&self) -> f64 {
        self.standard_deviation.get() / self.sensitivity.get()
    }

    /// The lattice for values of `length` numbers, and the standard deviation of the noise on a partial sum in multiples of
    /// the lattice's spacing.
    fn exact(&self, length: usize) -> Result<(Grid, u64), MechanismError> {
        let grid = Grid::between(self.standard_deviation.get(), self.sensitivity.get())?;
        Ok((grid, grid.scale(self.multiplier(), grid.l2(self.sensitivity.get(), length))))
    }

    /// Returns an error if values are not finite, differ in length, or are more than the plan has steps.
    fn checked(&self, values: &[Vec<f64>]) -> Result<(), MechanismError> {
        let wrong = |expected: String, found: String| Err(MechanismError::Shape { expected, found });
        if values.len() as u64 > self.plan.steps.get() {
            return wrong(format!("at most {} values", self.plan.steps), values.len().to_string());
        }
        let length = values.first().map_or(0, Vec::len);
        if let Some(other) = values.iter().find(|value| value.len() != length) {
            return wrong(format!("values of {length} numbers, as the first"), other.len().to_string());
        }
        values.iter().try_for_each(|value| all_finite(value))
    }

    /// All sums, from the values; `noisy` adds noise to one number of a partial sum.
    fn sums(&self, values: &[Vec<f64>], mut noisy: impl FnMut(f64) -> f64) -> Vec<Vec<f64>> {
        let length = values.first().map_or(0, Vec::len);
        let mut sums = TreeSums::new(&self.plan, self.estimate, length, None);
        values.iter().map(|value| sums.add(value, &mut noisy, |sum| sum)).collect()
    }

    /// How the first `seen` sums follow from noisy partial sums.
    fn noise_of_sums(&self, seen: usize) -> SumNoise {
        if self.estimate == SumEstimate::Honaker {
            return SumNoise::Weights(self.by_partial_sum(seen));
        }
        let before = |t: usize| {
            let own = self.plan.step_of_tree(t as u64) + 1;
            let length = (own & own.wrapping_neg()) as usize;
            (t + 1).checked_sub(length).and_then(|before| before.checked_sub(1))
        };
        SumNoise::Differences((0..seen).map(before).collect())
    }

    /// For each noisy partial sum, the weight of its noise in each of the first `seen` sums.
    fn by_partial_sum(&self, seen: usize) -> Vec<Vec<f64>> {
        let none = vec![vec![0.0]; seen];
        let mut drawn = 0usize;
        self.sums(&none, |partial| {
            drawn += 1;
            partial
        });
        let of = |node: usize| {
            let mut place = 0;
            let sums = self.sums(&none, |partial| {
                place += 1;
                if place == node + 1 { partial + 1.0 } else { partial }
            });
            sums.into_iter().map(|sum| sum[0]).collect()
        };
        (0..drawn).map(of).collect()
    }

    /// Begins the sums of values that will come one after another, each of `length` numbers.
    ///
    /// # Errors
    /// [`MechanismError`] if noise or sensitivity is too small or too large for exact arithmetic on a lattice.
    pub(in crate::privacy) fn begin(&self, length: usize) -> Result<TreeRun, MechanismError> {
        let new = |grid| TreeSums::new(&self.plan, self.estimate, length, grid);
        let noise = match self.arithmetic {
            NoiseArithmetic::Exact => {
                let (grid, scale) = self.exact(length)?;
                RunNoise::Exact {
                    grid,
                    scale,
                    sums: TreeSums::new(&self.plan, self.estimate, length, Some(grid)),
                }
            }
            NoiseArithmetic::Ideal => RunNoise::Ideal { sd: self.standard_deviation.get(), sums: new(None) },
        };
        Ok(TreeRun::new(self.plan.steps.get(), length, noise))
    }
}

impl Mechanism for TreeAggregation {
    type Input = Vec<Vec<f64>>;
    type Output = Vec<Vec<f64>>;

    fn price(&self, values: &Vec<Vec<f64>>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            self.exact(values.first().map_or(0, Vec::len))?;
        }
        let noise_multiplier = self.multiplier() / self.estimate.sensitivity_squared(&self.plan).sqrt();
        Ok(Price {
            mechanism: match self.estimate {
                SumEstimate::FewestPartialSums => "tree aggregation with Gaussian noise",
                SumEstimate::Honaker => "tree aggregation with Gaussian noise, Honaker's estimate",
            },
            sampler: Sampler::Full,
            sensitivity: Some(self.sensitivity.get()),
            cost: Cost::Gaussian { noise_multiplier },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.arithmetic.recorded(),
        })
    }

    fn privatise(
        &self,
        values: &Vec<Vec<f64>>,
        stream: &mut Stream,
    ) -> Result<Vec<Vec<f64>>, MechanismError> {
        self.checked(values)?;
        let mut run = self.begin(values.first().map_or(0, Vec::len))?;
        values.iter().map(|value| run.add(value, stream)).collect()
    }

    /// Values of the shape of `like`. On D all numbers are 0. On D' the first number of each of the first k values is
    /// the sensitivity, and the other numbers are 0; k is the number of contributions. For one contribution no other
    /// pair has a larger loss.
    fn worst_pair(&self, like: &Vec<Vec<f64>>) -> Option<Pair<Vec<Vec<f64>>>> {
        let zero: Vec<Vec<f64>> = like.iter().map(|value| vec![0.0; value.len()]).collect();
        let (mut moved, by) = (zero.clone(), self.sensitivity.get());
        let most = usize::try_from(self.plan.contributions.get()).unwrap_or(usize::MAX);
        let mut differing = 0;
        for number in moved.iter_mut().take(most).filter_map(|value| value.first_mut()) {
            *number = by;
            differing += 1;
        }
        let words = format!("the first {differing} of {} values, 0 or {by}, at sensitivity {by}", like.len());
        (differing > 0).then(|| Pair::new(zero, moved, words))
    }

    fn distinguisher(
        &self,
        inputs: [&Vec<Vec<f64>>; 2],
    ) -> Result<Distinguisher<Vec<Vec<f64>>>, MechanismError> {
        inputs.into_iter().try_for_each(|values| self.checked(values))?;
        let seen = match self.estimate {
            SumEstimate::FewestPartialSums => inputs[0].len(),
            // The covariance matrix of the sums has as many rows as sums are used.
            SumEstimate::Honaker => inputs[0].len().min(MOST_SEEN),
        };
        let means = inputs.map(|values| self.sums(&values[..seen.min(values.len())], |partial| partial));
        let whitened = Whitened::new(self.noise_of_sums(seen), seen, &means)?;
        let sd = self.standard_deviation.get();
        let laws = KnownLaws::gaussian(whitened.apart / sd);
        let log_ratio = move |sums: &Vec<Vec<f64>>| whitened.log_ratio(sums) / (sd * sd);
        let told = Distinguisher::by_ratio(log_ratio, laws);
        Ok(if seen < inputs[0].len() { Distinguisher { laws: None, ..told } } else { told })
    }
}

#[cfg(test)]
mod tests;
