//! Learners: one bandit algorithm per file, all over a finite set of arms.

mod beta;
mod gp_ucb;
mod random;

pub use beta::BetaSchedule;
pub use gp_ucb::{Exploration, GpUcb};
pub use random::Random;

use crate::gp::covariance::Covariance;
use crate::gp::{GpError, Points};
use crate::rng::Stream;
use crate::vocab::Problem;
use std::fmt;
use std::sync::Arc;

/// What a learner knows before it begins.
#[derive(Clone, Debug)]
pub struct Arms {
    /// Number of arms.
    pub n: usize,
    /// The arms' inputs, unless they are withheld.
    pub points: Option<Arc<Points>>,
    /// Covariance that a model of the arms assumes.
    pub covariance: Covariance,
    /// Variance of the noise of an outcome.
    pub noise_variance: f64,
    /// Prior mean.
    pub mean: f64,
}

/// A learner that cannot be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// It models the arms' inputs, and they are withheld.
    NeedsInputs {
        /// Name of the learner.
        learner: &'static str,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeedsInputs { learner } => {
                write!(f, "{learner} needs the arms' inputs, and they are withheld")
            }
        }
    }
}

impl std::error::Error for BuildError {}

/// A bandit algorithm at work.
pub trait Learner: fmt::Debug {
    /// Number of arms.
    fn arms(&self) -> usize;

    /// The arm to play next; ties go to the lowest index.
    fn suggest(&mut self, stream: &mut Stream) -> usize;

    /// Takes in the outcome of an arm, suggested or not.
    ///
    /// # Errors
    /// [`GpError`] when the model cannot take it in.
    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError>;
}

/// The behaviour of a learner recipe.
pub trait LearnerRecipe: Send + Sync {
    /// Whether the learner models the arms' inputs.
    fn needs_inputs(&self) -> bool {
        true
    }

    /// What is wrong with the recipe as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// A learner before its first round.
    ///
    /// # Errors
    /// [`BuildError`].
    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError>;
}

crate::family! {
    /// How the next arm is chosen.
    pub enum LearnerModel: dyn LearnerRecipe {
        GpUcb(GpUcb),
        Random(Random),
    }
}
