//! Tree aggregation: sums of all values so far, from noisy partial sums in a binary tree. This module states which partial
//! sums there are, and how much one unit can change them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// For up to this number of contributions, the sensitivity is computed exactly; for more contributions, it is bounded from
/// above.
const MOST_SEARCHED: usize = 256;

/// The partial sums of a tree. Step t of a tree, from 1, completes one partial sum: the sum of the last l values, where l
/// is the largest power of two that divides t. The sum of all values so far is the sum of at most ceil(log2(t + 1)) partial
/// sums. (The partial sums are the left children of a binary tree. Sums of all values so far need no right children.)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreePlan {
    /// Number of steps, T.
    pub steps: NonZeroU64,
    /// Largest number of steps at which one unit may contribute, k.
    pub contributions: NonZeroU64,
    /// Number of steps after which a new tree begins; the sums of completed trees are added. `None`: one tree.
    pub restart: Option<NonZeroU64>,
}

impl TreePlan {
    /// The number of steps before step t (from 0) in the tree to which step t belongs.
    #[must_use]
    pub fn step_of_tree(&self, t: u64) -> u64 {
        self.restart.map_or(t, |every| t % every.get())
    }

    /// The square of the L2 sensitivity of all partial sums together, if one contribution changes one value by at most 1 in
    /// the L2 norm. For k given steps of contribution, count the contributions to each partial sum, square these counts,
    /// and add up the squares. The result is the largest such total over all choices of k different steps. It is exact for
    /// up to 256 contributions. For more, it is an upper bound, which counts the right children of the tree too. For k = 1
    /// it is floor(log2 of the tree's steps) + 1.
    #[must_use]
    pub fn sensitivity_squared(&self) -> f64 {
        self.largest(of_tree)
    }

    /// As [`Self::sensitivity_squared`], for the partial sums of all nodes of the tree, right children included. The
    /// estimate of Honaker 2015 needs all of them. For k = 1, the result is the same number as that of
    /// `sensitivity_squared`.
    #[must_use]
    pub fn sensitivity_squared_of_all_nodes(&self) -> f64 {
        self.largest(of_all_nodes)
    }

    /// The largest total of all trees together; for more than 256 contributions, an upper bound on it. As in
    /// [`Self::sensitivity_squared`], a total is the sum of the squares of the counts of contributions to partial sums.
    /// `of_tree` computes, for one tree of a given number of steps, the largest total for each number of contributions
    /// from 0.
    fn largest(&self, of_tree: impl Fn(u64, usize) -> Vec<f64>) -> f64 {
        let steps = self.steps.get();
        let most = self.contributions.get().min(steps);
        let tree = self.restart.map_or(steps, |every| every.get().min(steps));
        match usize::try_from(most) {
            Ok(most) if most <= MOST_SEARCHED => {
                let whole = of_tree(tree, most);
                let rest = steps % tree;
                let all = repeated(&whole, steps / tree, most);
                let all = if rest > 0 { best_split(&all, &of_tree(rest, most), most) } else { all };
                all.last().copied().unwrap_or(0.0)
            }
            _ => bound(tree, most),
        }
    }
}

/// `one` and `other` are the largest totals for two parts of the steps, by number of contributions. Returns the largest
/// totals for both parts together, for each number of contributions up to `most`.
fn best_split(one: &[f64], other: &[f64], most: usize) -> Vec<f64> {
    let last = (one.len() + other.len() - 2).min(most);
    let best = |count: usize| {
        let from = count.saturating_sub(other.len() - 1);
        let splits = (from..=count.min(one.len() - 1)).map(|first| one[first] + other[count - first]);
        splits.fold(0.0, f64::max)
    };
    (0..=last).map(best).collect()
}

/// The largest totals for `times` copies of a part of the steps, by number of contributions; `part` has those of one copy.
fn repeated(part: &[f64], times: u64, most: usize) -> Vec<f64> {
    let (mut left, mut power, mut all) = (times, part.to_vec(), vec![0.0]);
    while left > 0 {
        if left % 2 == 1 {
            all = best_split(&all, &power, most);
        }
        left /= 2;
        if left > 0 {
            power = best_split(&power, &power, most);
        }
    }
    all
}

/// For each number of contributions, the largest total of a tree of this many steps. The tree consists of complete subtrees,
/// one for each binary digit 1 of `steps`, all of them left children.
fn of_tree(steps: u64, most: usize) -> Vec<f64> {
    // Largest totals of a left child and of a right child of 2^level steps, by number of contributions. The total of a
    // right child leaves out the sum of the right child itself, which is not a partial sum.
    let (mut left, mut right) = (vec![0.0, 1.0], vec![0.0, 0.0]);
    let mut all = vec![0.0];
    for level in 0..64 {
        if steps >> level & 1 == 1 {
            all = best_split(&all, &left, most);
        }
        if steps >> level <= 1 {
            break;
        }
        right = best_split(&left, &right, most);
        left = right.iter().enumerate().map(|(count, sum)| sum + (count * count) as f64).collect();
    }
    all
}

/// As [`of_tree`], but the total is over all nodes of the complete subtrees, right children too.
fn of_all_nodes(steps: u64, most: usize) -> Vec<f64> {
    // Largest totals of a complete subtree of 2^level steps, by number of contributions.
    let mut node = vec![0.0, 1.0];
    let mut all = vec![0.0];
    for level in 0..64 {
        if steps >> level & 1 == 1 {
            all = best_split(&all, &node, most);
        }
        if steps >> level <= 1 {
            break;
        }
        let halves = best_split(&node, &node, most);
        node = halves.iter().enumerate().map(|(count, sum)| sum + (count * count) as f64).collect();
    }
    all
}

/// An upper bound on the largest total over all nodes of the trees, right children included: the sum of one bound per
/// level. A node of a level contains 2^level steps, so the total of a level is largest if the contributions fill as many
/// nodes as possible. (It may be that no choice of steps reaches this bound: a tree whose number of steps is not a power of
/// two lacks some of the nodes.)
fn bound(tree: u64, most: u64) -> f64 {
    let levels = 64 - tree.leading_zeros();
    let of_level = |level: u32| {
        let size = libm::exp2(f64::from(level));
        let (full, rest) = (most >> level, most & ((1 << level) - 1));
        full as f64 * size * size + rest as f64 * rest as f64
    };
    (0..levels).map(of_level).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(steps: u64, contributions: u64, restart: u64) -> TreePlan {
        let number = |n| NonZeroU64::new(n).unwrap();
        TreePlan {
            steps: number(steps),
            contributions: number(contributions),
            restart: NonZeroU64::new(restart),
        }
    }

    /// The largest total, by its definition, over every choice of up to k steps. Partial sum t of a tree contains the last l
    /// values, where l is the largest power of two that divides t.
    fn by_enumeration(plan: TreePlan) -> f64 {
        let (steps, restart) = (plan.steps.get(), plan.restart.map_or(u64::MAX, NonZeroU64::get));
        let mut best = 0.0f64;
        for chosen in 0u64..1 << steps {
            if u64::from(chosen.count_ones()) > plan.contributions.get() {
                continue;
            }
            let squares = (0..steps).map(|t| {
                let own = t % restart + 1;
                let length = own & own.wrapping_neg();
                let held = chosen >> (t + 1 - length) & ((1 << length) - 1);
                f64::from(held.count_ones()).powi(2)
            });
            best = best.max(squares.sum());
        }
        best
    }

    /// As `by_enumeration`, but the total is over all nodes. Step t of a tree, from 1, completes one node for each power of
    /// two that divides t; the node contains as many values as this power of two.
    fn of_all_nodes_by_enumeration(plan: TreePlan) -> f64 {
        let (steps, restart) = (plan.steps.get(), plan.restart.map_or(u64::MAX, NonZeroU64::get));
        let mut best = 0.0f64;
        for chosen in 0u64..1 << steps {
            if u64::from(chosen.count_ones()) > plan.contributions.get() {
                continue;
            }
            let mut squares = 0.0;
            for t in 0..steps {
                let own = t % restart + 1;
                for level in 0..=own.trailing_zeros() {
                    let held = chosen >> (t + 1 - (1 << level)) & ((1 << (1 << level)) - 1);
                    squares += f64::from(held.count_ones()).powi(2);
                }
            }
            best = best.max(squares);
        }
        best
    }

    #[test]
    fn sensitivities_are_the_largest_over_all_choices_of_steps() {
        for steps in 1..=13 {
            for contributions in 1..=5 {
                for restart in [0, 1, 3, 4, 6] {
                    let plan = plan(steps, contributions, restart);
                    assert_eq!(plan.sensitivity_squared(), by_enumeration(plan), "{plan:?}");
                    let all = plan.sensitivity_squared_of_all_nodes();
                    assert_eq!(all, of_all_nodes_by_enumeration(plan), "all nodes: {plan:?}");
                }
            }
        }
    }

    #[test]
    fn one_contribution_is_in_as_many_sums_as_a_tree_has_levels() {
        for (steps, levels) in
            [(1, 1.0), (2, 2.0), (3, 2.0), (4, 3.0), (1000, 10.0), (1024, 11.0), (u64::MAX, 64.0)]
        {
            assert_eq!(plan(steps, 1, 0).sensitivity_squared(), levels, "{steps}");
            assert_eq!(plan(steps, 1, 0).sensitivity_squared_of_all_nodes(), levels, "{steps}");
        }
        assert_eq!(plan(1_000_000, 1, 16).sensitivity_squared(), 5.0);
        // The bound for many contributions is no smaller than the exact value.
        for steps in [250, 256, 5000] {
            assert!(bound(steps, 250) >= plan(steps, 250, 0).sensitivity_squared_of_all_nodes());
        }
        assert!(plan(u64::MAX, u64::MAX, 0).sensitivity_squared().is_finite());
    }
}
