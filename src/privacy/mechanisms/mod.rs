//! Mechanisms: each draws its noise and states its price from one value.
//!
//! One file each, with *precondition* (what must hold for the price to be true), *postcondition* (what is then
//! guaranteed) and *source*. Noise is sampled exactly on a lattice (`rounded.rs` has the proof) unless a scenario asks for
//! floating point, which is booked as [`Arithmetic::Ideal`].

mod argmax;
mod arithmetic;
mod clipped_gaussian;
mod clipped_laplace;
pub mod clipping;
mod computed;
mod ctl;
mod disclosure;
mod discrete_gaussian;
mod discrete_laplace;
mod exact;
mod exact_choice;
mod exponential;
mod federated_reach;
mod federated_sum;
mod fixed_size_gaussian;
mod gathered;
mod gaussian;
mod johnson_lindenstrauss;
mod laplace;
mod lattice;
mod lift_branch;
mod noisy_projection;
mod noisy_rows;
mod poisson_gaussian;
mod randomized_response;
mod real_deviates;
mod report_noisy_max;
mod rounded;
mod sampled_gaussian;
mod secure_sum;
mod supported;

pub use argmax::Argmax;
pub use arithmetic::NoiseArithmetic;
pub use clipped_gaussian::ClippedGaussian;
pub use clipped_laplace::ClippedLaplace;
pub use ctl::{Ctl, Rewards};
pub use disclosure::Disclosure;
pub use discrete_gaussian::{DiscreteGaussian, LARGEST_SIGMA};
pub use discrete_laplace::DiscreteLaplace;
pub use exponential::ExponentialMechanism;
pub use federated_sum::FederatedSum;
pub use fixed_size_gaussian::FixedSizeGaussian;
pub use gathered::{Divisor, Gathered, Participation, SensitivityRule};
pub use gaussian::Gaussian;
pub use johnson_lindenstrauss::{JlVariant, JohnsonLindenstrauss, Rows};
pub use laplace::Laplace;
pub use lattice::Lattice;
pub use noisy_projection::{DrawnProjection, NoisyProjection};
pub use noisy_rows::{CalibratedRows, NoisyRows};
pub use poisson_gaussian::PoissonGaussian;
pub use randomized_response::RandomizedResponse;
pub use report_noisy_max::ReportNoisyMax;
pub use sampled_gaussian::Contributions;
pub use secure_sum::{OpenedSum, SecureSum};
pub use supported::Supported;

use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Claim, Cost, Neighbours, OutOfRange, Positive, Sampler};
use std::fmt;

/// A randomised map from a secret to something that may be seen, together with its price.
///
/// Called by [`release`](super::ledger::release), once per release. Given a plain (not `Sensitive`) input anybody
/// may call it, as the auditor does: what comes out is then plain too and cannot pass for a released value.
pub trait Mechanism: fmt::Debug {
    /// What goes in.
    type Input;
    /// What comes out.
    type Output;

    /// The price of one release under a neighbouring relation.
    ///
    /// May read the public shape of `input` (its length, say), never its values: a contract test checks it.
    ///
    /// # Errors
    /// [`MechanismError::NeighboursNotCovered`] if the analysis does not cover the relation.
    fn price(&self, input: &Self::Input, neighbours: &Neighbours) -> Result<Price, MechanismError>;

    /// Draws one output. Draws only from `stream`.
    ///
    /// # Errors
    /// [`MechanismError`] if the input breaks the precondition; nothing has been drawn then.
    fn privatise(&self, input: &Self::Input, stream: &mut Stream) -> Result<Self::Output, MechanismError>;
}

/// What a mechanism says about one release: the part of a [`PrivacyEvent`](crate::vocab::PrivacyEvent) it knows.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// Name of the mechanism in words.
    pub mechanism: &'static str,
    /// Sampler that the mechanism runs.
    pub sampler: Sampler,
    /// Sensitivity used to scale the noise, where there is one.
    pub sensitivity: Option<f64>,
    /// The cost as accountants see it.
    pub cost: Cost,
    /// What a paper claims.
    pub claim: Option<Claim>,
    /// On what the cost rests.
    pub basis: Basis,
    /// Whether the noise is exact.
    pub arithmetic: Arithmetic,
}

/// Why a mechanism cannot release.
#[derive(Clone, Debug, PartialEq)]
pub enum MechanismError {
    /// The input has the wrong shape.
    Shape {
        /// What the mechanism needs.
        expected: String,
        /// What it got.
        found: String,
    },
    /// The input contains NaN or an infinity. (The position is not told: it would be an unpriced leak.)
    NotFinite,
    /// The mechanism's analysis does not hold for the neighbouring relation of the occasion.
    NeighboursNotCovered {
        /// The mechanism.
        mechanism: &'static str,
        /// The relation.
        neighbours: Neighbours,
        /// The relations that are covered, in words.
        covered: &'static str,
    },
    /// A matrix decomposition did not converge.
    Decomposition,
}

impl MechanismError {
    fn out_of_range(error: OutOfRange) -> Self {
        Self::Shape { expected: error.expected.to_owned(), found: error.found.to_string() }
    }
}

impl fmt::Display for MechanismError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape { expected, found } => write!(f, "expected {expected}, found {found}"),
            Self::NotFinite => f.write_str("expected finite numbers, found NaN or infinity in the secret"),
            Self::NeighboursNotCovered { mechanism, neighbours, covered } => write!(
                f,
                "{mechanism} is analysed for {covered} only, not for {neighbours:?}: choose another neighbouring \
                 relation or another mechanism"
            ),
            Self::Decomposition => f.write_str("the singular value decomposition did not converge"),
        }
    }
}

impl std::error::Error for MechanismError {}

/// Refuses NaN and infinities.
fn all_finite(values: &[f64]) -> Result<(), MechanismError> {
    if values.iter().all(|v| v.is_finite()) { Ok(()) } else { Err(MechanismError::NotFinite) }
}

/// Refuses neighbours other than one row moved by at most `most`.
fn moved(mechanism: &'static str, neighbours: &Neighbours, most: Positive) -> Result<(), MechanismError> {
    if matches!(neighbours, Neighbours::RowMoved { distance } if *distance <= most.get()) {
        return Ok(());
    }
    let covered = "one row moved by at most the distance that the noise was made for";
    Err(MechanismError::NeighboursNotCovered { mechanism, neighbours: neighbours.clone(), covered })
}

/// Refuses neighbours other than one report of any value.
fn any_value(mechanism: &'static str, neighbours: &Neighbours) -> Result<(), MechanismError> {
    if *neighbours == Neighbours::AnyValue {
        return Ok(());
    }
    let covered = "one report replaced by any other";
    Err(MechanismError::NeighboursNotCovered { mechanism, neighbours: neighbours.clone(), covered })
}
