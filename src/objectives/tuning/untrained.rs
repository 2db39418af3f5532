//! The error that is returned if a model cannot be trained.

use thiserror::Error;

/// Why a model could not be trained, or not accurately enough.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum TrainingError {
    /// The optimiser failed.
    #[error("training with lambda = {lambda} failed: {reason}")]
    Failed {
        /// Regularisation parameter.
        lambda: f64,
        /// The reason, in the optimiser's words.
        reason: String,
    },
    /// The optimiser ended without weights.
    #[error("training with lambda = {lambda} gave no weights")]
    NoWeights {
        /// Regularisation parameter.
        lambda: f64,
    },
    /// The weights may be too far from the best ones.
    #[error(
        "training with lambda = {lambda} ended at weights whose distance from the best ones may be {distance:e}, expected at \
         most {accepted:e}: raise lambda_min"
    )]
    TooFar {
        /// Regularisation parameter.
        lambda: f64,
        /// Bound on the distance to the best weights, in the Euclidean norm.
        distance: f64,
        /// Largest distance that is accepted.
        accepted: f64,
    },
}
