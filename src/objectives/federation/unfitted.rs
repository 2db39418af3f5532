//! Why an agent's models could not be fitted.

use crate::objectives::tuning::TrainingError;
use thiserror::Error;

/// Models of an agent that could not be fitted.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FitError {
    /// Logistic regression was not trained.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// A support vector machine was not trained.
    #[error("C = {c}, gamma = {gamma}: {reason}")]
    SupportVectors {
        /// Cost of a record on the wrong side of the margin.
        c: f64,
        /// One over the squared width of the kernel.
        gamma: f64,
        /// Why, in the library's words.
        reason: String,
    },
    /// Records that cannot form a matrix.
    #[error("{reason}")]
    Shape {
        /// Why, in the library's words.
        reason: String,
    },
}
