//! Tree aggregation: the sum of all values so far, after each step.

use super::pair::{Distinguisher, KnownLaws, Pair};
use super::real_deviates::rounded_normal;
use super::rounded::Grid;
use super::{Mechanism, MechanismError, NoiseArithmetic, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Neighbours, Positive, Sampler, TreePlan};

/// After each step, the sum of all values so far, as the sum of partial sums with independent Gaussian noise of one standard
/// deviation. Step t completes the partial sum of the last l values, where l is the largest power of two that divides t; the
/// sum of all values is that partial sum plus the released sum after step t - l. So a sum has the noise of at most
/// ceil(log2(t + 1)) partial sums, while with fresh noise on every value it would have the
/// noise of t values. With restarts, a new tree begins after
/// a stated number of steps, and its sums are added to the last sum of the tree before.
///
/// A value may depend on earlier sums, because a sum depends only on the noise and on the values up to its step. The reduction of variance by further partial sums (Honaker 2015) is not offered.
///
/// * Precondition: values are finite and have the same length; between neighbours at most `contributions` values
///   differ, each by at most `sensitivity` in the L2 norm; there are at most `steps` values.
/// * Postcondition: all sums together are a Gaussian mechanism with noise multiplier standard deviation / (sensitivity S), S^2 =
///   [`TreePlan::sensitivity_squared`]. The released sums determine all noisy partial sums, and the reverse, so no smaller
///   loss holds on the worst pair.
///
/// The two neighbouring distributions, if values do not depend on earlier sums: all noisy partial sums together are one normal
/// vector, with the same covariance for both, and with means that differ by at most `sensitivity` S in the L2 norm, since a
/// partial sum that contains c of the unit's values differs by at most c `sensitivity`. If values depend on earlier sums, and
/// the steps at which a unit contributes do not, the loss is the same (Denisov and others 2022, Theorem 2.1). In
/// exact arithmetic, partial sums are integers, and each value differs by at most the rounded sensitivity.
///
/// Source: Dwork, Naor, Pitassi and Rothblum 2010, "Differential privacy under continual observation"; Chan, Shi and Song
/// 2011, Algorithm 2; Kairouz and others 2021, "Practical and private (deep) learning without sampling or shuffling", for
/// Gaussian noise and restarts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeAggregation {
    plan: TreePlan,
    standard_deviation: Positive,
    sensitivity: Positive,
    arithmetic: NoiseArithmetic,
}

impl TreeAggregation {
    /// From the steps and contributions, the standard deviation of the noise on a partial sum, and the L2 sensitivity of one value.
    #[must_use]
    pub const fn new(plan: TreePlan, standard_deviation: Positive, sensitivity: Positive) -> Self {
        Self { plan, standard_deviation, sensitivity, arithmetic: NoiseArithmetic::Exact }
    }

    /// The same mechanism, with its noise sampled in this arithmetic.
    #[must_use]
    pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
        Self { arithmetic, ..self }
    }

    /// Noise of a partial sum as a multiple of the sensitivity of one value.
    fn multiplier(&self) -> f64 {
        self.standard_deviation.get() / self.sensitivity.get()
    }

    /// The lattice for values of `length` numbers, and the noise in multiples of its spacing.
    fn exact(&self, length: usize) -> Result<(Grid, u64), MechanismError> {
        let grid = Grid::between(self.standard_deviation.get(), self.sensitivity.get())?;
        Ok((grid, grid.scale(self.multiplier(), grid.l2(self.sensitivity.get(), length))))
    }

    /// The number of values in the partial sum that step t (from 0) completes.
    fn length_of(&self, t: usize) -> usize {
        let own = self.plan.step_of_tree(t as u64) + 1;
        (own & own.wrapping_neg()) as usize
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

    /// All sums, from the values; `noisy` adds noise to a partial sum.
    fn sums<N: Copy + std::ops::Add<Output = N> + std::ops::Sub<Output = N>>(
        &self,
        values: &[Vec<N>],
        zero: N,
        mut noisy: impl FnMut(N) -> N,
    ) -> Vec<Vec<N>> {
        let width = values.first().map_or(0, Vec::len);
        let none = vec![zero; width];
        // True and released sums after each number of steps.
        let (mut total, mut released) = (vec![none.clone()], vec![none]);
        for (t, value) in values.iter().enumerate() {
            let before = t + 1 - self.length_of(t);
            let sum: Vec<N> = total[t].iter().zip(value).map(|(sum, x)| *sum + *x).collect();
            let partial = sum.iter().zip(&total[before]).map(|(now, then)| *now - *then);
            let partial: Vec<N> = partial.map(&mut noisy).collect();
            released.push(released[before].iter().zip(partial).map(|(sum, x)| *sum + x).collect());
            total.push(sum);
        }
        released.remove(0);
        released
    }

    /// The noisy partial sums that these released sums determine, one after another.
    fn partial_sums(&self, sums: &[Vec<f64>]) -> Vec<f64> {
        let of_step = |(t, sum): (usize, &Vec<f64>)| {
            let before = (t + 1).checked_sub(self.length_of(t)).filter(|before| *before > 0);
            let then = before.map(|before| &sums[before - 1]);
            let parts = sum.iter().enumerate();
            parts.map(|(i, x)| x - then.map_or(0.0, |then| then[i])).collect::<Vec<f64>>()
        };
        sums.iter().enumerate().flat_map(of_step).collect()
    }
}

impl Mechanism for TreeAggregation {
    type Input = Vec<Vec<f64>>;
    type Output = Vec<Vec<f64>>;

    fn price(&self, values: &Vec<Vec<f64>>, _: &Neighbours) -> Result<Price, MechanismError> {
        if self.arithmetic == NoiseArithmetic::Exact {
            self.exact(values.first().map_or(0, Vec::len))?;
        }
        let noise_multiplier = self.multiplier() / self.plan.sensitivity_squared().sqrt();
        Ok(Price {
            mechanism: "tree aggregation with Gaussian noise",
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
        if self.arithmetic == NoiseArithmetic::Exact {
            let (grid, scale) = self.exact(values.first().map_or(0, Vec::len))?;
            let rounded: Vec<Vec<i128>> =
                values.iter().map(|value| value.iter().map(|x| grid.round(*x)).collect()).collect();
            let sums = self.sums(&rounded, 0, |partial| partial + rounded_normal(scale, stream));
            return Ok(sums
                .into_iter()
                .map(|sum| sum.into_iter().map(|m| grid.value(m)).collect())
                .collect());
        }
        let sd = self.standard_deviation.get();
        Ok(self.sums(values, 0.0, |partial| partial + sd * stream.normal()))
    }

    /// Values of the shape of `like` that are all 0; on D' the first number of the first k values is the sensitivity. For one
    /// contribution no other pair has a larger loss.
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
        let own = *self;
        let means = inputs.map(|values| own.partial_sums(&own.sums(values, 0.0, |partial| partial)));
        let apart: f64 = means[0].iter().zip(&means[1]).map(|(a, b)| (a - b) * (a - b)).sum();
        let sd = self.standard_deviation.get();
        let log_ratio = move |sums: &Vec<Vec<f64>>| {
            let found = own.partial_sums(sums);
            let each = found.iter().zip(means[0].iter().zip(&means[1]));
            each.map(|(x, (a, b))| (a - b) * (x - 0.5 * (a + b))).sum::<f64>() / (sd * sd)
        };
        Ok(Distinguisher::by_ratio(log_ratio, KnownLaws::gaussian(apart.sqrt() / sd)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;
    use std::num::NonZeroU64;

    fn tree(steps: u64, contributions: u64, restart: u64) -> TreeAggregation {
        let number = |n| NonZeroU64::new(n).unwrap();
        let plan = TreePlan {
            steps: number(steps),
            contributions: number(contributions),
            restart: NonZeroU64::new(restart),
        };
        TreeAggregation::new(plan, Positive::new(3.0).unwrap(), Positive::new(1.0).unwrap())
    }

    /// Without noise, the output has the exact sums. The noise of step t is that of as many partial sums as t has
    /// binary digits 1 (4000 draws of 13 steps: variances within 5 standard errors), and with restarts after 4 steps
    /// one more for each tree.
    #[test]
    fn sums_have_the_noise_of_their_partial_sums() {
        let values: Vec<Vec<f64>> = (0..13).map(|t| vec![f64::from(t), 1.0]).collect();
        let own = tree(13, 1, 0);
        let exact = own.sums(&values, 0.0, |partial| partial);
        assert_eq!(exact[12], vec![78.0, 13.0]);
        for (restart, digits) in
            [(0, [1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3]), (4, [1, 1, 2, 1, 2, 2, 3, 2, 3, 3, 4, 3, 4])]
        {
            for arithmetic in [NoiseArithmetic::Exact, NoiseArithmetic::Ideal] {
                let own = tree(13, 1, restart).with(arithmetic);
                let mut squares = [0.0; 13];
                let n = 4000;
                for draw in 0..n {
                    let sums = own.privatise(&values, &mut Key::root(5).index(draw).stream()).unwrap();
                    for (t, sum) in sums.iter().enumerate() {
                        squares[t] += (sum[0] - exact[t][0]).powi(2) / n as f64;
                    }
                }
                for (t, digits) in digits.iter().enumerate() {
                    let expected = 9.0 * f64::from(*digits);
                    let error = 5.0 * expected * (2.0 / n as f64).sqrt();
                    assert!(
                        (squares[t] - expected).abs() < error,
                        "{restart} {t}: {} for {expected}",
                        squares[t]
                    );
                }
            }
        }
    }

    /// The first sums do not depend on later values, so values may be chosen depending on earlier sums.
    #[test]
    fn sums_of_a_prefix_are_the_first_sums() {
        let values: Vec<Vec<f64>> = (0..11).map(|t| vec![f64::from(t)]).collect();
        let own = tree(11, 1, 3);
        let all = own.privatise(&values, &mut Key::root(6).stream()).unwrap();
        let first = own.privatise(&values[..7].to_vec(), &mut Key::root(6).stream()).unwrap();
        assert_eq!(first[..], all[..7]);
    }

    /// The loss on the worst pair is the price: exactly for one contribution, and for the first k where these are the worst.
    #[test]
    fn the_law_of_the_worst_pair_is_the_price() {
        for (steps, contributions, restart) in [(1, 1, 0), (8, 1, 0), (13, 1, 0), (13, 1, 4), (16, 16, 0)] {
            let own = tree(steps, contributions, restart);
            let like = vec![vec![0.0]; steps as usize];
            let pair = own.worst_pair(&like).unwrap();
            let test = own.distinguisher([&pair.inputs[0], &pair.inputs[1]]).unwrap();
            let price = own.price(&like, &Neighbours::ReplaceOne).unwrap();
            let Cost::Gaussian { noise_multiplier } = price.cost else { panic!("{:?}", price.cost) };
            let laws = test.laws.unwrap().laws;
            let super::super::Laws::Costs(costs) = laws else { panic!("{laws:?}") };
            let [Cost::Gaussian { noise_multiplier: found }] = costs[..] else { panic!("{costs:?}") };
            assert!((found / noise_multiplier - 1.0).abs() < 1e-12, "{steps} {contributions}: {found}");
        }
    }
}
