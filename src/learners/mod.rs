//! Learners: one bandit algorithm per file, all over a finite set of arms.
//!
//! Shapes: n arms, each its index from 0 to below n; t outcomes taken in. Outcomes, means and bounds on the function
//! are in the unit of the outcome, variances in its square; probabilities are above 0 and below 1. A learner maximises.

mod arms;
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

pub use arms::{Arms, BuildError, Facts};
pub use ata_gp_ucb::{AtaGpUcb, Widths};
pub use beta::BetaSchedule;
pub use expected_improvement::ExpectedImprovement;
pub use gp_ucb::{Exploration, GpUcb};
pub(crate) use history::History;
pub use knowledge::{Constants, Knowledge, Payoffs};
pub use middle::{Middle, medoid};
pub use moma_gp_ucb::MomaGpUcb;
pub use random::Random;
pub use tgp_ucb::TgpUcb;
pub use theorem::Theorem;
pub use thompson_sampling::{Sampling, ThompsonSampling};

use crate::gp::GpError;
use crate::rng::Stream;
use crate::vocab::Problem;
use std::fmt;

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
    /// Number of arms, n.
    fn arms(&self) -> usize;

    /// The arm to play next, from 0 to below n; ties go to the lowest index. May return the same arm until enough
    /// outcomes have come. `stream` is the learner's own, for the draws that its choice takes.
    fn suggest(&mut self, stream: &mut Stream) -> usize;

    /// Takes in the outcome of an arm, suggested or not.
    ///
    /// # Errors
    /// [`GpError`] when the model cannot take it in: an outcome that is not finite, a matrix that is not positive
    /// definite.
    ///
    /// # Panics
    /// If there is no such arm, in learners that model arms.
    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError>;

    /// Was asked, as in [`Learner::suggest`], but another learner chose the arm: this one takes over from that one, and
    /// lives through its history. Nothing needs to be done where asking leaves no trace but draws.
    fn overruled(&mut self, arm: usize, stream: &mut Stream) {
        let _ = (arm, stream);
    }

    /// How many outcomes of the arm suggested last are still wanted before another arm can be suggested. A protocol
    /// that asks several users at once asks that many; more would go to waste.
    fn wanted(&self) -> usize {
        1
    }

    /// The largest jitter that its model has added to the diagonal of a covariance matrix, as a variance in squared
    /// units of the outcome; 0 if none.
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

    /// What is wrong with the recipe as a whole; paths begin below the recipe. Ranges of single fields are in their
    /// types.
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
    /// [`BuildError`]: inputs that are withheld, a quantity that neither recipe nor protocol states, too many arms, or
    /// a covariance that cannot be worked with.
    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError>;
}

crate::family! {
    /// How the next arm is chosen.
    pub struct LearnerModel(LearnerMember): dyn LearnerRecipe, "learner" {
        GpUcb(GpUcb),
        ThompsonSampling(ThompsonSampling),
        ExpectedImprovement(ExpectedImprovement),
        AtaGpUcb(AtaGpUcb),
        TgpUcb(TgpUcb),
        MomaGpUcb(MomaGpUcb),
        Random(Random),
    }
}
