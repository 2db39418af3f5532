//! A support vector machine with a Gaussian kernel, two hyperparameters; the area under its ROC curve on held-out
//! records. The library is `linfa-svm`, which solves the same problem as libsvm by the same method.

use super::axis::Axis;
use super::data::AgentRecords;
use super::unfitted::FitError;
use linfa::traits::Fit;
use linfa::{Dataset, DatasetBase};
use linfa_svm::Svm;
use ndarray::{Array1, Array2, ArrayView1};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two hyperparameters; features are taken as the file has them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RbfSvm {
    /// C, the weight of a misclassified record.
    pub c: Axis,
    /// One over the squared width of the kernel.
    pub gamma: Axis,
}

/// Tolerance of the solver. With libsvm's 1e-3 the result is arbitrary at the smallest C of the paper, 1e-4.
const TOLERANCE: f64 = 1e-6;

/// The area under the ROC curve at every setting, C slowest; class 1 is the positive class.
pub(super) fn areas(model: &RbfSvm, records: &AgentRecords) -> Result<Vec<f64>, FitError> {
    let (training, held_out) = (records.places(true), records.places(false));
    let cells: Vec<f64> = training.iter().flat_map(|&index| records.row(index).iter().copied()).collect();
    let shape = (training.len(), records.d);
    let matrix = Array2::from_shape_vec(shape, cells)
        .map_err(|error| FitError::Shape { reason: error.to_string() })?;
    let targets: Array1<bool> = training.iter().map(|&index| records.classes[index] == 1).collect();
    let dataset: Dataset<f64, bool, ndarray::Ix1> = DatasetBase::new(matrix, targets);
    let truth: Vec<bool> = held_out.iter().map(|&index| records.classes[index] == 1).collect();
    let mut found = Vec::new();
    for c in model.c.values() {
        for gamma in model.gamma.values() {
            // The library's kernel is exp(-|x - y|^2 / width).
            let fitted = Svm::<f64, bool>::params()
                .eps(TOLERANCE)
                .pos_neg_weights(c, c)
                .gaussian_kernel(1.0 / gamma)
                .fit(&dataset)
                .map_err(|error| FitError::SupportVectors { c, gamma, reason: error.to_string() })?;
            let scores: Vec<f64> = held_out
                .iter()
                .map(|&index| fitted.weighted_sum(&ArrayView1::from(records.row(index))))
                .collect();
            found.push(area_under_curve(&scores, &truth));
        }
    }
    Ok(found)
}

/// The share of pairs of a positive and a negative record that the scores put in the right order, ties by half;
/// 0.5 where there is no such pair.
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
