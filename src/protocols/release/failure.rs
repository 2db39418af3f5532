//! Why an owner cannot search or release.

use crate::gp::GpError;
use crate::learners::BuildError;
use crate::privacy::mechanisms::MechanismError;
use crate::vocab::OutOfRange;

/// Why an owner cannot search or release: usually the task lacks something that the recipe needs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CannotRelease {
    /// A computed quantity is out of its range.
    #[error("{what}: {error}")]
    Quantity {
        /// The quantity.
        what: &'static str,
        /// The range error.
        #[source]
        error: OutOfRange,
    },
    /// The epsilon of one of several releases is out of its range.
    #[error(transparent)]
    Epsilon(#[from] OutOfRange),
    /// More rounds than a `usize` can count.
    #[error(transparent)]
    Rounds(#[from] std::num::TryFromIntError),
    /// Noise that is not Gaussian.
    #[error("the release is analysed for normal noise, and the objective's noise is not normal")]
    NotNormal,
    /// No noise, for an analysis that needs noise.
    #[error(
        "Algorithm 1 needs noise, expected a noise variance above 0, found 0: raise the objective's noise, publish the \
         setting alone (publish: Setting), or use GpNoiseFree"
    )]
    NoNoise,
    /// One round, for an analysis that divides by the logarithm of the number of rounds.
    #[error(
        "Algorithm 2 expects at least 2 rounds, since the bound on its regret divides by a power of ln T, found 1: raise \
         `rounds`"
    )]
    TooFewRounds,
    /// The objective states no loss.
    #[error(
        "the objective states no loss, so nothing is known of its sensitivity: write assume: TaskFacts(..), or use an \
         objective that trains models"
    )]
    NoLoss,
    /// The largest regularisation lies below the smallest one.
    #[error(
        "the facts of the loss expect lambda_max of at least lambda_min, {lambda_min}, found {lambda_max}: swap the two values"
    )]
    Exchanged {
        /// The stated smallest regularisation parameter.
        lambda_min: f64,
        /// The stated largest regularisation parameter.
        lambda_max: f64,
    },
    /// Settings with several inputs; the proof for `Lipschitz` is about one input, the regularisation.
    #[error(
        "expected settings with one input, the regularisation lambda, found {inputs} inputs: write FixedGrid(..) instead"
    )]
    SeveralInputs {
        /// Number of inputs of a setting.
        inputs: usize,
    },
    /// No outcome by which a setting could be chosen.
    #[error(
        "no setting has a known outcome to choose it by: none was tried, or all outcomes are missing (`silence`; lower its \
         `most`)"
    )]
    Untried,
    /// No outcome at all.
    #[error(
        "there is no known outcome, so there is no performance to release: no setting was tried, or all outcomes are missing \
         (`silence`; lower its `most`)"
    )]
    NothingTried,
    /// An audit needs a single secret value that it can compare between neighbours, and there is no such value.
    #[error(
        "\"{series}\" chooses every setting privately, or its number of trials is random, so there is no one secret to attack: \
         audit its mechanism (`subrosa audit mechanism exponential`, `private-selection` or `above-threshold`)"
    )]
    NoOneSecret {
        /// Name of the series.
        series: String,
    },
    /// The model cannot process an outcome.
    #[error("trial {trial}: {error}")]
    Trial {
        /// Number of the trial, from 0.
        trial: u64,
        /// Why.
        #[source]
        error: GpError,
    },
    /// A computation of the model fails.
    #[error(transparent)]
    Model(#[from] GpError),
    /// The learner cannot be built.
    #[error(transparent)]
    Learner(#[from] BuildError),
    /// The mechanism cannot release.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}
