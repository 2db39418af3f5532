//! Support vector machines trained by `linfa-svm`, which solves the same problem as libsvm by the same method.

use super::data::AgentRecords;
use super::unfitted::FitError;
use linfa::traits::Fit;
use linfa::{Dataset, DatasetBase};
use linfa_svm::Svm;
use ndarray::{Array1, Array2, ArrayView1};

/// A trained machine, or a constant decision value if all records are of one class.
pub(super) enum TrainedSvm {
    Trained(Svm<f64, bool>),
    Constant(f64),
}

impl TrainedSvm {
    /// Trains on the records at the positions `places`.
    pub(super) fn train(
        records: &AgentRecords,
        places: &[usize],
        (c, gamma): (f64, f64),
        tolerance: f64,
    ) -> Result<Self, FitError> {
        let cells: Vec<f64> = places.iter().flat_map(|&index| records.row(index).iter().copied()).collect();
        let matrix = Array2::from_shape_vec((places.len(), records.d), cells)
            .map_err(|error| FitError::Shape { reason: error.to_string() })?;
        let targets: Array1<bool> = places.iter().map(|&index| records.classes[index] == 1).collect();
        let positive = targets.iter().filter(|target| **target).count();
        if positive == 0 || positive == places.len() {
            return Ok(Self::Constant(if positive == 0 { -1.0 } else { 1.0 }));
        }
        let dataset: Dataset<f64, bool, ndarray::Ix1> = DatasetBase::new(matrix, targets);
        // The library's kernel is exp(-|x - y|^2 / width).
        Svm::<f64, bool>::params()
            .eps(tolerance)
            .pos_neg_weights(c, c)
            .gaussian_kernel(1.0 / gamma)
            .fit(&dataset)
            .map(Self::Trained)
            .map_err(|error| FitError::SupportVectors { c, gamma, reason: error.to_string() })
    }

    /// The decision value without its constant term, which does not affect the order of records.
    pub(super) fn sum(&self, row: &[f64]) -> f64 {
        match self {
            Self::Trained(machine) => machine.weighted_sum(&ArrayView1::from(row)),
            Self::Constant(value) => *value,
        }
    }

    /// The decision value, above 0 for the positive class.
    pub(super) fn decision(&self, row: &[f64]) -> f64 {
        match self {
            Self::Trained(machine) => self.sum(row) - machine.rho,
            Self::Constant(value) => *value,
        }
    }
}
