//! Gaussian processes over a finite set of arms, and at any point of a box.
//!
//! Notation in this module: n arms (or points), d dimensions of an input, t outcomes so far, m features. An arm is
//! identified by its index, from 0 to n - 1. A vector `[n]` is a slice of n numbers, arm by arm; a matrix `[n, d]` is
//! one slice of n d numbers, row after row. Inputs have the units of their columns, length-scales the units of the
//! inputs; means and outcomes have the unit of the outcome, variances and covariances its square; information and log
//! likelihoods are in nats. An arm that does not exist, or a slice of the wrong length, is an error in the calling
//! program, and the function called may panic. Errors that depend on the numbers are returned as a [`GpError`].
//!
//! Where no source is named, the source is chapter 2 of Rasmussen and Williams 2006, "Gaussian Processes for Machine
//! Learning".
//!
//! Conversions of matrices of the crate faer: methods named `of_faer` read such a matrix, `as_faer` returns a view
//! without copying, and `to_faer` returns a new matrix. [`Points`], [`CovarianceMatrix`], [`ArmCovariance`],
//! [`Cholesky`], [`Eigen`] and [`Nystrom`] have one or two of these methods.
//!
//! All loops over arms, points and matrices are this crate's own, elementwise and in a fixed order, so that results are
//! bit-identical on every machine. (`multi_start` takes the steps of its searches from the crate argmin.) The
//! factorisations of faer use fused multiply-add instructions on CPUs that have such instructions. Fused instructions change
//! the last bits of results, so only tests use the factorisations of faer. A table in docs/design.md shows which
//! computations use which library.

mod adaptive;
mod arm_covariance;
mod arm_space;
mod blocks;
mod bounded;
mod cholesky;
pub mod covariance;
mod exponential;
mod factored;
pub mod fit;
mod fourier;
mod information;
mod joint;
mod likelihood;
mod matrices;
mod multi_start;
pub mod nystrom;
mod path;
mod pivot;
mod point_posterior;
mod points;
mod posterior;
pub mod prior;
mod products;
mod refit;
mod scores;
pub mod simd;
mod singular;
mod symmetric;
mod vectors;
mod weights;

pub use adaptive::AdaptivePosterior;
pub(crate) use adaptive::MAX_ARMS;
pub use arm_covariance::{ArmCovariance, CovarianceMatrix};
pub use arm_space::ArmPosterior;
pub(crate) use bounded::{Climb, maximum_in_box, maximum_in_mixed};
pub use cholesky::{Cholesky, dot};
pub use factored::FactoredPosterior;
pub use fourier::{FeatureLength, FourierFeatures};
pub(crate) use information::gain_bounds;
pub use information::{Greedy, greedy_maximum, information_gain};
pub use joint::JointPosterior;
pub(crate) use likelihood::SEARCH_UNIT;
pub use likelihood::{Likelihood, log_marginal_likelihood};
pub(crate) use multi_start::MultiStart;
pub use nystrom::Nystrom;
pub use path::PosteriorPath;
pub use point_posterior::{PointModel, PointPosterior};
pub use points::Points;
pub use posterior::Posterior;
pub(crate) use refit::{StandardisedHyperparameters, refit};
pub use scores::{largest, upper_bounds};
pub use singular::Singular;
pub use symmetric::Eigen;
pub(crate) use symmetric::combine;
pub use weights::WeightPosterior;

use thiserror::Error;

/// Why a computation on a Gaussian process or a matrix failed.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum GpError {
    /// A covariance matrix is not positive definite, even with the largest jitter tried. Functions that require a finite
    /// noise variance above 0 return this error for any other noise variance too.
    #[error(
        "a covariance matrix of order {order} is not positive definite, even with {jitter:e} added to \
             its diagonal: raise the noise variance or shorten the length-scale"
    )]
    NotPositiveDefinite {
        /// Order of the matrix.
        order: usize,
        /// The largest jitter tried, in units of the matrix; 0 if none is tried.
        jitter: f64,
    },
    /// An outcome that is not a finite number.
    #[error("expected a finite outcome, found {outcome}")]
    OutcomeNotFinite {
        /// The outcome.
        outcome: f64,
    },
    /// A matrix given as a covariance matrix has the wrong shape, an entry that is not finite, or entries that are not
    /// symmetric.
    #[error(
        "expected a symmetric covariance matrix of order {order} with finite entries, found a bad entry in \
             row {row}, column {column} (both count from 0)"
    )]
    NotSymmetric {
        /// Expected order.
        order: usize,
        /// Row of the offending entry, from 0.
        row: usize,
        /// Column of the offending entry, from 0.
        column: usize,
    },
    /// Fourier features were requested of a covariance that is not a function of the distance.
    #[error(
        "expected a covariance that is a function of the distance, found a linear one: it has no Fourier \
             features"
    )]
    NotStationary,
    /// An eigendecomposition or a singular value decomposition did not converge, or its matrix has an entry that is not
    /// finite.
    #[error("a matrix decomposition did not converge, or the matrix has an entry that is not finite")]
    NoConvergence,
    /// Fewer points than a fit needs.
    #[error("a likelihood fit needs at least two points, found {found}")]
    TooFewPoints {
        /// Number of points.
        found: usize,
    },
}
