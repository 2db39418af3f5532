//! The error of an agent whose models could not be fitted.

use crate::objectives::tuning::TrainingError;
use thiserror::Error;

/// The reason why the models of an agent could not be fitted.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum FitError {
    /// Logistic regression could not be trained.
    #[error(transparent)]
    Training(#[from] TrainingError),
    /// A support vector machine could not be trained.
    #[error("C = {c}, gamma = {gamma}: {reason}")]
    SupportVectors {
        /// C, the weight of the hinge loss of a record.
        c: f64,
        /// gamma in the kernel exp(-gamma |x - y|^2) of two records x and y.
        gamma: f64,
        /// The error message of the library that trains support vector machines.
        reason: String,
    },
    /// The program was built without the feature `svm`.
    #[error(
        "this program was built without the feature `svm`, which trains support vector machines (build it with `cargo build \
             --release --features svm`)"
    )]
    NotBuilt,
    /// Records that cannot form a matrix.
    #[error("{reason}")]
    Shape {
        /// The error message of the library that makes the matrix.
        reason: String,
    },
}
