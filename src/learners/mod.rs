//! Learners: one bandit algorithm per file, all over a finite set of arms.

mod ata_gp_ucb;
mod beta;
mod expected_improvement;
mod gp_ucb;
mod history;
mod knowledge;
mod middle;
mod moma_gp_ucb;
mod outcome_sums;
mod random;
mod tgp_ucb;
mod theorem;
mod thompson_sampling;

pub use ata_gp_ucb::{AtaGpUcb, Widths};
pub use beta::BetaSchedule;
pub use expected_improvement::ExpectedImprovement;
pub use gp_ucb::{Exploration, GpUcb};
pub use history::History;
pub use knowledge::{Constants, Facts, Knowledge, Payoffs};
pub use middle::{Middle, medoid};
pub use moma_gp_ucb::MomaGpUcb;
pub use random::Random;
pub use tgp_ucb::TgpUcb;
pub use theorem::Theorem;
pub use thompson_sampling::{Sampling, ThompsonSampling};

use crate::gp::{ArmCovariance, GpError, MOST_ARMS};
use crate::rng::Stream;
use crate::vocab::{Probability, Problem};
use std::fmt;

/// What a learner knows before it begins.
#[derive(Clone, Debug)]
pub struct Arms {
    /// Number of arms.
    pub n: usize,
    /// Covariance that a model of the arms assumes: a function of their inputs, or a matrix. None if withheld.
    pub covariance: Option<ArmCovariance>,
    /// Variance of the noise of an outcome.
    pub noise_variance: f64,
    /// Prior mean.
    pub mean: f64,
    /// What else the protocol knows and a recipe may leave unsaid.
    pub facts: Facts,
}

/// A learner that cannot be built.
#[derive(Clone, Debug, PartialEq)]
pub enum BuildError {
    /// It models the arms' inputs, and they are withheld.
    NeedsInputs {
        /// Name of the learner.
        learner: &'static str,
    },
    /// Neither the recipe nor the protocol states a quantity that the learner rests on.
    Unknown {
        /// Name of the learner.
        learner: &'static str,
        /// Field of the recipe that can state it.
        field: &'static str,
        /// The quantity in words.
        what: &'static str,
    },
    /// It keeps a matrix over the arms, and there are too many of them.
    TooManyArms {
        /// Name of the learner.
        learner: &'static str,
        /// How many there are.
        found: usize,
        /// How many it takes.
        most: usize,
    },
    /// The arms' covariance cannot be worked with.
    Model(GpError),
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NeedsInputs { learner } => {
                write!(f, "{learner} needs the arms' inputs, and they are withheld")
            }
            Self::Unknown { learner, field, what } => {
                write!(f, "{learner} needs to know {what}, which nothing here says: set its `{field}`")
            }
            Self::TooManyArms { learner, found, most } => {
                write!(f, "{learner} takes at most {most} arms, found {found}: use a coarser grid or GpUcb")
            }
            Self::Model(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for BuildError {}

/// The copy of a [`Learner`] for a world that is cloned. All that are `Clone` have it.
pub trait BoxedLearner {
    /// The copy.
    fn boxed_clone(&self) -> Box<dyn Learner>;
}

impl<T: Learner + Clone + 'static> BoxedLearner for T {
    fn boxed_clone(&self) -> Box<dyn Learner> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Learner> {
    fn clone(&self) -> Self {
        // Of what is in the box.
        (**self).boxed_clone()
    }
}

/// A bandit algorithm at work.
///
/// Learners count the outcomes that come. One that never comes needs no report: ask for the next suggestion. What a
/// loss means for an algorithm's guarantee stands with that algorithm.
pub trait Learner: fmt::Debug + BoxedLearner {
    /// Number of arms.
    fn arms(&self) -> usize;

    /// The arm to play next; ties go to the lowest index. May return the same arm until enough outcomes have come.
    fn suggest(&mut self, stream: &mut Stream) -> usize;

    /// Takes in the outcome of an arm, suggested or not.
    ///
    /// # Errors
    /// [`GpError`] when the model cannot take it in.
    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError>;

    /// Was asked, as in [`Learner::suggest`], but another learner chose the arm: this one takes over from that one, and
    /// lives through its [`History`]. Nothing needs to be done where asking leaves no trace but draws.
    fn overruled(&mut self, arm: usize, stream: &mut Stream) {
        let _ = (arm, stream);
    }

    /// How many outcomes of the arm suggested last are still wanted before another arm can be suggested. A protocol
    /// that asks several users at once asks that many; more would go to waste.
    fn wanted(&self) -> usize {
        1
    }

    /// The largest jitter that its model has added to the diagonal of a covariance matrix, as a variance; 0 if none.
    fn jitter(&self) -> f64 {
        0.0
    }
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

    /// What a theorem promises about its cumulative regret on a problem of which `arms` tells everything; none if no
    /// theorem covers it.
    fn theorem(&self, arms: &Arms) -> Option<Theorem> {
        let _ = arms;
        None
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
        ThompsonSampling(ThompsonSampling),
        ExpectedImprovement(ExpectedImprovement),
        AtaGpUcb(AtaGpUcb),
        TgpUcb(TgpUcb),
        MomaGpUcb(MomaGpUcb),
        Random(Random),
    }
}

/// The covariance of the arms, for a learner that needs it.
fn covariance<'a>(learner: &'static str, arms: &'a Arms) -> Result<&'a ArmCovariance, BuildError> {
    arms.covariance.as_ref().ok_or(BuildError::NeedsInputs { learner })
}

/// As [`covariance`], for a learner that keeps a matrix over the arms.
fn small_covariance<'a>(learner: &'static str, arms: &'a Arms) -> Result<&'a ArmCovariance, BuildError> {
    if arms.n > MOST_ARMS {
        return Err(BuildError::TooManyArms { learner, found: arms.n, most: MOST_ARMS });
    }
    covariance(learner, arms)
}

/// What is wrong with an accuracy of Nystrom features.
fn accuracy_problem(accuracy: Probability) -> Vec<Problem> {
    if accuracy.get() > 0.0 && accuracy.get() < 1.0 {
        return Vec::new();
    }
    let cure = "write 0.1, as the papers' code has it";
    vec![Problem::wrong("accuracy", "an accuracy above 0 and below 1", accuracy.to_string(), cure)]
}
