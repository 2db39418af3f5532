//! Support vector machines with a Gaussian kernel, scored by the area under the ROC curve on held-out records.

use super::axis::Axis;
use super::data::AgentRecords;
use super::platt::Sigmoid;
use super::trained_svm::TrainedSvm;
use super::unfitted::FitError;
use crate::rng::{Key, Stream};
use crate::vocab::{Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// A support vector machine with a Gaussian kernel and two hyperparameters. Features are not scaled.
///
/// This model needs a program that was built with the feature `svm`: `cargo build --release --features svm`.
///
/// Example: `RbfSvm(c: Axis(low: 0.1, high: 1, values: 2), gamma: Axis(low: 0.1, high: 1, values: 2))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RbfSvm {
    /// C, the weight of the hinge loss of a record.
    pub c: Axis,
    /// gamma in the kernel exp(-gamma |x - y|^2).
    pub gamma: Axis,
    /// How a model is scored. Default: `Area`, the same score at every measurement.
    #[serde(default, skip_serializing_if = "Score::is_area")]
    pub score: Score,
    /// Tolerance of the solver: the largest violation of the optimality conditions, in units of the margin.
    /// Default: 1e-6. With libsvm's default, 1e-3, training with a small C, such as 1e-4, ends at an
    /// arbitrary point.
    #[serde(default = "millionth", skip_serializing_if = "is_millionth")]
    pub tolerance: Positive,
}

const MILLIONTH: f64 = 1e-6;

fn millionth() -> Positive {
    Positive::new(MILLIONTH).expect("1e-6 is above 0")
}

fn is_millionth(tolerance: &Positive) -> bool {
    tolerance.get() == MILLIONTH
}

/// How a support vector machine is scored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Score {
    /// The area under the ROC curve of the decision values, the same at every measurement.
    #[default]
    Area,
    /// The area under the ROC curve of the probabilities by Platt scaling, as `predict_proba` of scikit-learn gives them.
    /// The map from decision values to probabilities is fitted by cross-validation with random folds. If this map decreases,
    /// it reverses the order of all records, and the area A becomes 1 - A. Whether the map decreases depends on the folds,
    /// so a measurement is random: it is one of `draws` equally likely areas. The value of a setting is the mean of these
    /// areas.
    PlattArea {
        /// Number of folds, 2 to 100. Default: 5.
        #[serde(default = "five")]
        folds: NonZeroUsize,
        /// Number of times that the map to probabilities is fitted for each model, 1 to 1000, each time with new random
        /// folds.
        /// Default: 8.
        #[serde(default = "eight")]
        draws: NonZeroUsize,
    },
}

fn five() -> NonZeroUsize {
    const FIVE: NonZeroUsize = NonZeroUsize::new(5).expect("5 is not zero");
    FIVE
}

fn eight() -> NonZeroUsize {
    const EIGHT: NonZeroUsize = NonZeroUsize::new(8).expect("8 is not zero");
    EIGHT
}

impl Score {
    fn is_area(&self) -> bool {
        *self == Self::Area
    }
}

/// Largest numbers of folds and of draws. They limit how many machines are trained: for every setting and every agent,
/// one machine is trained on all training records, and a further machine for every pair of a draw and a fold that has
/// records.
const MAX_FOLDS: usize = 100;
const MAX_DRAWS: usize = 1000;

impl RbfSvm {
    /// The problem of a build of `subrosa` that cannot train support vector machines; `None` if this build can train
    /// them.
    pub(super) fn problem_of_build() -> Option<Problem> {
        (!cfg!(feature = "svm")).then(|| {
            Problem::wrong(
                "",
                "a program built with the feature `svm`, which trains support vector machines",
                "one built without it",
                "build it with `cargo build --release --features svm`",
            )
        })
    }

    /// The problem of the fields other than the axes `c` and `gamma`, if there is one.
    pub(super) fn problem(&self) -> Option<Problem> {
        let Score::PlattArea { folds, draws } = self.score else { return None };
        if folds.get() < 2 {
            let expected = "at least 2 folds: a model is scored on records that it was not trained on";
            let cure = "write 5, as in libsvm";
            return Some(Problem::wrong("score.PlattArea.folds", expected, folds.to_string(), cure));
        }
        let counts = [
            ("folds", folds, MAX_FOLDS, "write 5, as in libsvm: a machine is trained for each fold"),
            ("draws", draws, MAX_DRAWS, "write fewer, 8 for example: machines are trained for each draw"),
        ];
        counts.into_iter().find(|(_, count, most, _)| count.get() > *most).map(
            |(field, count, most, cure)| {
                let path = format!("score.PlattArea.{field}");
                Problem::wrong(path, format!("at most {most} {field}"), count.to_string(), cure)
            },
        )
    }
}

/// For every setting, C changing slowest, a list of equally likely scores. Class 1 is the positive class. Folds are drawn
/// from children of `key`.
pub(super) fn scores(model: &RbfSvm, records: &AgentRecords, key: &Key) -> Result<Vec<Vec<f64>>, FitError> {
    let (training, held_out) = (records.places(true), records.places(false));
    let truth: Vec<bool> = held_out.iter().map(|&index| records.classes[index] == 1).collect();
    let tolerance = model.tolerance.get();
    let mut found = Vec::new();
    for c in model.c.values() {
        for gamma in model.gamma.values() {
            let machine = TrainedSvm::train(records, &training, (c, gamma), tolerance)?;
            let area = |score: &dyn Fn(&[f64]) -> f64| {
                let scores: Vec<f64> = held_out.iter().map(|&index| score(records.row(index))).collect();
                area_under_curve(&scores, &truth)
            };
            let Score::PlattArea { folds, draws } = model.score else {
                found.push(vec![area(&|row| machine.sum(row))]);
                continue;
            };
            let setting = key.index(found.len() as u64);
            let draw = |draw: usize| {
                let mut stream = setting.index(draw as u64).stream();
                let pairs = cross_validated(records, &training, folds.get(), &mut stream, |places| {
                    TrainedSvm::train(records, places, (c, gamma), tolerance)
                })?;
                let sigmoid = Sigmoid::fit(&pairs);
                Ok(area(&|row| sigmoid.score(machine.decision(row))))
            };
            found.push((0..draws.get()).map(draw).collect::<Result<_, FitError>>()?);
        }
    }
    Ok(found)
}

/// For every training record, in a random order: its decision value by a machine that is trained without the record's
/// fold, and whether the record's class is positive. Folds are consecutive parts of the random order, of equal size up to
/// rounding, as in libsvm.
fn cross_validated(
    records: &AgentRecords,
    training: &[usize],
    folds: usize,
    stream: &mut Stream,
    train: impl Fn(&[usize]) -> Result<TrainedSvm, FitError>,
) -> Result<Vec<(f64, bool)>, FitError> {
    let order: Vec<usize> =
        stream.distinct(training.len(), training.len()).into_iter().map(|at| training[at]).collect();
    let mut pairs = Vec::with_capacity(order.len());
    for fold in 0..folds {
        let [begin, end] = [fold, fold + 1].map(|fold| fold * order.len() / folds);
        if begin == end {
            continue;
        }
        let others: Vec<usize> = order[..begin].iter().chain(&order[end..]).copied().collect();
        let machine = train(&others)?;
        let pair = |&index: &usize| (machine.decision(records.row(index)), records.classes[index] == 1);
        pairs.extend(order[begin..end].iter().map(pair));
    }
    Ok(pairs)
}

/// The share of pairs of a positive and a negative record in which the positive one has the higher score; a tie counts half.
/// 0.5 if there is no such pair.
fn area_under_curve(scores: &[f64], truth: &[bool]) -> f64 {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    let (mut below, mut area, mut positives, mut start) = (0.0, 0.0, 0.0, 0);
    while start < order.len() {
        let tie = order[start..].iter().take_while(|&&at| scores[at] == scores[order[start]]).count();
        let hits = order[start..start + tie].iter().filter(|&&at| truth[at]).count() as f64;
        let misses = tie as f64 - hits;
        area += hits * (below + 0.5 * misses);
        (below, positives, start) = (below + misses, positives + hits, start + tie);
    }
    if below * positives > 0.0 { area / (below * positives) } else { 0.5 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_area_counts_pairs(pairs in prop::collection::vec((0u8..6, any::<bool>()), 2..30)) {
            let scores: Vec<f64> = pairs.iter().map(|(score, _)| f64::from(*score)).collect();
            let truth: Vec<bool> = pairs.iter().map(|(_, truth)| *truth).collect();
            let (mut right, mut all) = (0.0, 0.0);
            for (a, _) in pairs.iter().filter(|(_, positive)| *positive) {
                for (b, _) in pairs.iter().filter(|(_, positive)| !*positive) {
                    all += 1.0;
                    right += match a.cmp(b) {
                        std::cmp::Ordering::Greater => 1.0,
                        std::cmp::Ordering::Equal => 0.5,
                        std::cmp::Ordering::Less => 0.0,
                    };
                }
            }
            let expected = if all > 0.0 { right / all } else { 0.5 };
            prop_assert!((area_under_curve(&scores, &truth) - expected).abs() < 1e-12);
        }
    }
}
