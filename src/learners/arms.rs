//! The information that a learner has before its first round, and the errors when a learner cannot be built.

use crate::gp::covariance::Covariance;
use crate::gp::{ArmCovariance, GpError, MAX_ARMS};
use crate::programs::ProgramFailure;
use crate::vocab::SearchBox;
use thiserror::Error;

/// The information that a learner has before its first round.
#[derive(Clone, Debug)]
pub struct Arms {
    /// Number of arms, n.
    pub n: usize,
    /// Prior covariance over the n arms, in squared units of the outcome: a function of their inputs, or a matrix. `None`
    /// if inputs are withheld from the learner, or there is no model of the function.
    pub covariance: Option<ArmCovariance>,
    /// Variance of the noise of an outcome, at least 0, in squared units of the outcome: that of the model's noise, plus
    /// that of the privacy noise where the protocol knows it.
    pub noise_variance: f64,
    /// Prior mean, the same at every arm, in units of the outcome.
    pub mean: f64,
    /// Further quantities that the protocol states; the learner's recipe may leave these quantities out.
    pub facts: ProblemConstants,
}

/// The information that a learner that searches a box has before its first round.
#[derive(Clone, Debug)]
pub struct BoxModel {
    /// The box.
    pub domain: SearchBox,
    /// Prior covariance of points of the unit cube, in squared units of the outcome; its length-scales are in units of
    /// the cube's side.
    pub covariance: Covariance,
    /// Variance of the noise of an outcome, at least 0, in squared units of the outcome.
    pub noise_variance: f64,
    /// Prior mean, the same at every point, in units of the outcome.
    pub mean: f64,
    /// Further quantities that the protocol states.
    pub facts: ProblemConstants,
}

/// Why a learner cannot be built.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum BuildError {
    /// The learner needs the arms' inputs, but they are withheld, or the covariance is a matrix that was given without
    /// inputs.
    #[error("{learner} needs the arms' inputs, which are withheld or were not given")]
    NeedsInputs {
        /// Name of the learner.
        learner: &'static str,
    },
    /// Neither the recipe nor the protocol states a quantity that the learner needs.
    #[error("{learner} needs {what}, which neither the scenario nor the protocol states: set its `{field}`")]
    Unknown {
        /// Name of the learner.
        learner: &'static str,
        /// Field of the recipe that can state the quantity.
        field: &'static str,
        /// The quantity in words.
        what: &'static str,
    },
    /// The learner needs a covariance matrix over the arms, and there are too many arms.
    #[error("{learner} takes at most {most} arms, found {found}: use a coarser grid or GpUcb")]
    TooManyArms {
        /// Name of the learner.
        learner: &'static str,
        /// Number of arms.
        found: usize,
        /// Largest number of arms that the learner accepts.
        most: usize,
    },
    /// The learner chooses among the arms of a finite set, but here a query is a point of a box.
    #[error("{learner} needs a finite set of arms: use `points: Sobol(1024)`, or the learner Acquisition")]
    NeedsArms {
        /// Name of the learner.
        learner: String,
    },
    /// The covariance of the arms cannot be used.
    #[error(transparent)]
    Model(#[from] GpError),
    /// The learner is an external program that cannot be started.
    #[error(transparent)]
    Program(#[from] ProgramFailure),
}

/// Facts that a protocol gives its learner: about the function, the noise and the number of outcomes. A value in the
/// learner's recipe takes precedence.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProblemConstants {
    /// T, the number of outcomes that will be requested; 0 counts as 1.
    pub horizon: Option<u64>,
    /// B, a bound on the function: |f - prior mean| <= B, in units of the outcome.
    pub bound: Option<f64>,
    /// R, a bound on the measurement noise of an outcome, without privacy noise, in units of the outcome.
    pub noise_bound: Option<f64>,
    /// Scale of the Laplace noise that makes an outcome private, in units of the outcome.
    pub laplace_scale: Option<f64>,
}

/// The covariance of the arms, for a learner that needs this covariance.
pub(super) fn covariance<'a>(learner: &'static str, arms: &'a Arms) -> Result<&'a ArmCovariance, BuildError> {
    arms.covariance.as_ref().ok_or(BuildError::NeedsInputs { learner })
}

/// The covariance of the arms, for a learner that stores a matrix over all arms; an error if there are more than `MAX_ARMS`
/// arms.
pub(super) fn small_covariance<'a>(
    learner: &'static str,
    arms: &'a Arms,
) -> Result<&'a ArmCovariance, BuildError> {
    if arms.n > MAX_ARMS {
        return Err(BuildError::TooManyArms { learner, found: arms.n, most: MAX_ARMS });
    }
    covariance(learner, arms)
}
