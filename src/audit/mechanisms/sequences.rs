//! Audits of mechanisms for sequences of values: above threshold (also a variant that is wrong on purpose), sparse
//! vector, and tree aggregation.

use super::broken::NoNoiseOnNumbers;
use super::case::{Case, CaseDescription, DELTA, epsilon, positive, worst};
use crate::privacy::mechanisms::{SparseVector, SumEstimate, TreeAggregation};
use crate::vocab::{Finite, Neighbours, TreePlan};
use std::num::{NonZeroU32, NonZeroU64};

pub(super) fn cases() -> Vec<Case> {
    let zero = Finite::new(0.0).expect("finite");
    let above = SparseVector::above_threshold(epsilon(2.0), positive(1.0), zero);
    let three = NonZeroU32::new(3).expect("not zero");
    let sparse = SparseVector::new(epsilon(3.0), positive(1.0), zero, three);
    let pure = (1, 0.0, Neighbours::AnyValue);
    let tree = |steps: u64, restart: u64, sd: f64| {
        let number = |n| NonZeroU64::new(n).expect("not zero");
        let restart = NonZeroU64::new(restart);
        let plan = TreePlan { steps: number(steps), contributions: NonZeroU64::MIN, restart };
        TreeAggregation::new(plan, positive(sd), positive(1.0))
    };
    vec![
        worst(
            CaseDescription::sound("above-threshold", "above threshold on 8 numbers, epsilon 2"),
            above,
            &vec![0.0; 8],
            pure.clone(),
        ),
        worst(
            CaseDescription::sound("sparse-vector", "sparse vector on 10 numbers, cutoff 3, epsilon 3"),
            sparse,
            &vec![0.0; 10],
            pure.clone(),
        ),
        worst(
            CaseDescription::sound(
                "sparse-vector-monotonic",
                "sparse vector on 10 monotonic numbers, cutoff 3, epsilon 3",
            ),
            sparse.monotonic(),
            &vec![0.0; 10],
            pure.clone(),
        ),
        worst(
            CaseDescription::sound(
                "sparse-vector-values",
                "above threshold on 8 numbers, with the value of the first number above the threshold, epsilon 2 and 1",
            ),
            SparseVector::new(epsilon(2.0), positive(1.0), zero, NonZeroU32::MIN).with_values(epsilon(1.0)),
            &vec![0.0; 8],
            pure.clone(),
        ),
        worst(
            CaseDescription::sound(
                "tree-aggregation",
                "sums of 16 values in a binary tree with Gaussian noise of 4 times the sensitivity",
            ),
            tree(16, 0, 4.0),
            &vec![vec![0.0]; 16],
            (1, DELTA, Neighbours::AnyValue),
        ),
        worst(
            CaseDescription::sound(
                "tree-aggregation-restarted",
                "sums of 16 values in binary trees, a new tree after every 4 values, with Gaussian noise of 4 times \
                 the sensitivity",
            ),
            tree(16, 4, 4.0),
            &vec![vec![0.0]; 16],
            (1, DELTA, Neighbours::AnyValue),
        ),
        worst(
            CaseDescription::sound(
                "tree-aggregation-honaker",
                "sums of 16 values in a binary tree by Honaker's estimate, noise of 4 times the sensitivity",
            ),
            tree(16, 0, 4.0).estimated_by(SumEstimate::Honaker),
            &vec![vec![0.0]; 16],
            (1, DELTA, Neighbours::AnyValue),
        ),
        worst(
            CaseDescription::refuted(
                "broken-sparse-vector",
                "wrong on purpose: above threshold with noise on the threshold only, epsilon 2 (Stoddard et al. 2014)",
            ),
            NoNoiseOnNumbers { stated: above, scale: positive(1.0) },
            &vec![0.0; 2],
            pure,
        ),
    ]
}
