//! Gaussian processes over a finite set of arms.
//!
//! Hot loops are our own, elementwise and in a fixed order, so that their bits depend on no machine; faer does
//! one-off factorisations, on one thread.

pub mod covariance;
pub mod fit;
mod points;
mod posterior;
pub mod prior;

pub use points::Points;
pub use posterior::Posterior;

use std::fmt;

/// A computation that cannot be finished.
#[derive(Clone, Debug, PartialEq)]
pub enum GpError {
    /// A covariance matrix is not positive definite, even with the largest jitter tried.
    NotPositiveDefinite {
        /// Order of the matrix.
        order: usize,
        /// The jitter tried last.
        jitter: f64,
    },
    /// An outcome that is not a finite number.
    OutcomeNotFinite {
        /// The outcome.
        outcome: f64,
    },
    /// An eigendecomposition did not converge.
    NoConvergence,
    /// Fewer points than a fit needs.
    TooFewPoints {
        /// How many there are.
        found: usize,
    },
}

impl fmt::Display for GpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositiveDefinite { order, jitter } => write!(
                f,
                "a covariance matrix of order {order} is not positive definite, even with {jitter:e} added to \
                 its diagonal: raise the noise variance or shorten the length-scale"
            ),
            Self::OutcomeNotFinite { outcome } => {
                write!(f, "expected a finite outcome, found {outcome}")
            }
            Self::NoConvergence => f.write_str("an eigendecomposition did not converge"),
            Self::TooFewPoints { found } => {
                write!(f, "a likelihood fit needs at least two points, found {found}")
            }
        }
    }
}

impl std::error::Error for GpError {}
