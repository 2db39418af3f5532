//! The sums of all values so far, one after another, from noisy partial sums in a binary tree.

use super::rounded::Grid;
use crate::vocab::TreePlan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Add;

/// How a sum of all values so far is computed from the noisy partial sums of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SumEstimate {
    /// The sum of the fewest partial sums that have no value in common and contain all values so far. Other partial sums are
    /// not drawn.
    #[default]
    FewestPartialSums,
    /// As `FewestPartialSums`, but each partial sum is replaced by a linear combination of itself and all partial sums
    /// of parts of its values: the combination with the least variance ("estimation from below", Honaker 2015). The
    /// combination is computed from noisy partial sums alone, so it has no privacy cost beyond theirs.
    Honaker,
}

impl SumEstimate {
    /// The squared L2 sensitivity of all partial sums that are drawn, if one contribution changes one value by at most 1.
    ///
    /// It is the sum of c^2 over these partial sums, where c is the number of one unit's contributions to a partial sum.
    /// The unit contributes at the steps that make this sum largest. If a unit may contribute more than 256 times, the
    /// result is an upper bound.
    #[must_use]
    pub fn sensitivity_squared(self, plan: &TreePlan) -> f64 {
        match self {
            Self::FewestPartialSums => plan.sensitivity_squared(),
            Self::Honaker => plan.sensitivity_squared_of_all_nodes(),
        }
    }

    /// The variance of the noise of the sum after step t, counted from 1, as a multiple of the variance of the noise on
    /// one partial sum. In each tree, the values so far are divided among partial sums: one of 2^l values for each digit 1
    /// that stands for 2^l in the tree's number of steps, written in binary. Each of these partial sums adds a term to the
    /// result: 1, or 1 / (2 - 2^-l) with Honaker's estimate.
    #[must_use]
    pub fn relative_variance(self, plan: &TreePlan, t: u64) -> f64 {
        let of_tree = |steps: u64| -> f64 {
            let digits = (0..64u32).filter(|level| steps >> level & 1 == 1);
            digits.map(|level| self.relative_variance_of_node(level)).sum()
        };
        let tree = plan.restart.map_or(t, |every| every.get().min(t.max(1)));
        t.checked_div(tree).map_or(0.0, |trees| trees as f64 * of_tree(tree) + of_tree(t % tree))
    }

    /// The variance of the estimate of a partial sum of 2^level values, as a multiple of the variance of its noise.
    fn relative_variance_of_node(self, level: u32) -> f64 {
        match self {
            Self::FewestPartialSums => 1.0,
            Self::Honaker => 1.0 / (2.0 - libm::exp2(-f64::from(level))),
        }
    }
}

/// A number that noise is added to: a real one, or a multiple of a lattice's spacing.
pub(super) trait Summand: Copy + Default + fmt::Debug + Add<Output = Self> {}

impl Summand for f64 {}
impl Summand for i128 {}

/// A complete subtree: its values are those of 2^level steps.
#[derive(Clone, Debug)]
struct Node<N> {
    level: u32,
    /// The exact sum.
    total: Vec<N>,
    /// The estimate of `total` from noisy partial sums, in the same unit.
    estimate: Vec<f64>,
}

/// The state after some steps of a tree. It has exact sums, so it is as secret as the values.
#[derive(Clone)]
pub(super) struct TreeSums<N> {
    estimate: SumEstimate,
    restart: Option<u64>,
    /// The spacing of the lattice; 1 for real numbers.
    unit: f64,
    /// The estimate of the sum of all values of the trees before this one.
    before: Vec<f64>,
    /// Steps in this tree.
    steps: u64,
    /// Complete subtrees of this tree, which have no value in common; each has more values than the next.
    nodes: Vec<Node<N>>,
}

impl<N> fmt::Debug for TreeSums<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TreeSums(..)")
    }
}

impl<N: Summand> TreeSums<N> {
    /// The state before the first value; each value will have `length` numbers. On a lattice, numbers are multiples of
    /// its spacing.
    pub(super) fn new(plan: &TreePlan, estimate: SumEstimate, length: usize, grid: Option<Grid>) -> Self {
        Self {
            estimate,
            restart: plan.restart.map(std::num::NonZeroU64::get),
            unit: grid.map_or(1.0, |grid| grid.spacing()),
            before: vec![0.0; length],
            steps: 0,
            nodes: Vec::new(),
        }
    }

    /// Adds a value; returns the released sum of all values so far. `noisy` adds noise to a number of a partial sum, and
    /// `real` converts the result to floating point, in the same unit.
    pub(super) fn add(
        &mut self,
        value: &[N],
        mut noisy: impl FnMut(N) -> N,
        real: impl Fn(N) -> f64,
    ) -> Vec<f64> {
        self.steps += 1;
        let mut next = Node { level: 0, total: value.to_vec(), estimate: Vec::new() };
        let mut drawn = |total: &[N]| -> Vec<f64> { total.iter().map(|sum| real(noisy(*sum))).collect() };
        let all = self.estimate == SumEstimate::Honaker;
        if all {
            next.estimate = drawn(&next.total);
        }
        while self.nodes.last().is_some_and(|left| left.level == next.level) {
            let Some(left) = self.nodes.pop() else { break };
            let total: Vec<N> = left.total.iter().zip(&next.total).map(|(a, b)| *a + *b).collect();
            let level = next.level + 1;
            if all {
                // The node's own noise has variance 1; the sum of its two children's estimates has twice the variance
                // of one child's estimate.
                let of_children = 2.0 * self.estimate.relative_variance_of_node(next.level);
                let own = of_children / (1.0 + of_children);
                let children = left.estimate.iter().zip(&next.estimate).map(|(a, b)| a + b);
                let mixed = drawn(&total).into_iter().zip(children);
                let estimate = mixed.map(|(y, below)| own * y + (1.0 - own) * below).collect();
                next = Node { level, total, estimate };
            } else {
                next = Node { level, total, estimate: Vec::new() };
            }
        }
        if !all {
            next.estimate = drawn(&next.total);
        }
        self.nodes.push(next);
        let mut sum = self.before.clone();
        for node in &self.nodes {
            sum.iter_mut().zip(&node.estimate).for_each(|(sum, part)| *sum += self.unit * part);
        }
        if self.restart == Some(self.steps) {
            self.before.clone_from(&sum);
            self.nodes.clear();
            self.steps = 0;
        }
        sum
    }
}
