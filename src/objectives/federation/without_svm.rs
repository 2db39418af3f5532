//! A program built without the feature `svm` trains no support vector machine, and `check` refuses scenarios that need one.

use super::data::AgentRecords;
use super::unfitted::FitError;

/// The type of a trained support vector machine. No value of this type exists, since nothing is trained.
pub(super) enum TrainedSvm {}

impl TrainedSvm {
    /// Returns [`FitError::NotBuilt`].
    pub(super) fn train(_: &AgentRecords, _: &[usize], _: (f64, f64), _: f64) -> Result<Self, FitError> {
        Err(FitError::NotBuilt)
    }

    pub(super) fn sum(&self, _: &[f64]) -> f64 {
        match *self {}
    }

    pub(super) fn decision(&self, _: &[f64]) -> f64 {
        match *self {}
    }
}
