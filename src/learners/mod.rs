//! Learners: one bandit algorithm per file or folder, over a finite set of arms; some also over a box.
//!
//! Notation: n arms, identified by an index from 0 to n - 1 (over a box, points are numbered in the order in which
//! they were first suggested); t outcomes so far. Outcomes, means and bounds on the function are in the unit of the
//! outcome, variances in its square; probabilities are above 0 and below 1. Shapes are in brackets: `[p]` is a list of p
//! numbers, `[d]` a point with d coordinates. A learner maximises.

mod acquisition;
mod arms;
mod ata_gp_ucb;
mod beta;
mod expected_improvement;
mod external;
mod external_on_box;
mod gp_ucb;
mod checked_learner;
mod history;
mod knowledge;
mod robust_centre;
mod moma_gp_ucb;
mod outcome_sums;
mod outcomes;
mod parallel;
mod random;
mod startable;
mod tgp_ucb;
mod theorem;
mod thompson_sampling;

pub use acquisition::{Acquisition, AcquisitionFunction, Refit};
pub use arms::{Arms, BoxModel, BuildError, ProblemConstants};
pub use ata_gp_ucb::{AtaGpUcb, Widths};
pub use beta::BetaSchedule;
pub use expected_improvement::ExpectedImprovement;
pub use external::External;
pub use gp_ucb::{Exploration, GpUcb};
pub(crate) use history::History;
pub use knowledge::{Constants, Knowledge, Payoffs};
pub use moma_gp_ucb::MomaGpUcb;
pub use outcomes::Outcomes;
pub use parallel::{Parallel, PendingOutcome};
pub use random::Random;
pub use robust_centre::{Middle, medoid};
pub use tgp_ucb::TgpUcb;
pub use theorem::Theorem;
pub use thompson_sampling::{Sampling, ThompsonSampling};

use crate::gp::GpError;
use crate::programs::{Program, Programs};
use crate::rng::Stream;
use crate::vocab::effort::{ARMS, COVARIANCE, MULTIPLY, NUMBER, OUTCOMES};
use crate::vocab::{Effort, Problem};
use std::fmt;

/// Clones a boxed [`Learner`] when a simulation is cloned. It is implemented for every learner that is `Clone`.
pub trait BoxedLearner {
    /// A boxed copy of the learner.
    fn boxed_clone(&self) -> Box<dyn Learner>;
}

impl<T: Learner + Clone + 'static> BoxedLearner for T {
    fn boxed_clone(&self) -> Box<dyn Learner> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Learner> {
    fn clone(&self) -> Self {
        // Calls the method of the boxed value, not that of the box.
        (**self).boxed_clone()
    }
}

/// A bandit algorithm during a run.
///
/// Learners are not notified of lost outcomes: the protocol requests the next suggestion. How lost outcomes affect an
/// algorithm's guarantee is documented with that algorithm.
pub trait Learner: fmt::Debug + BoxedLearner {
    /// Number of arms, n; over a box, number of points suggested so far.
    fn arms(&self) -> usize;

    /// The arm to query next, from 0 to n - 1; of equally good arms, the one with the lowest index. May return the same
    /// arm until enough outcomes of this arm were observed. `stream` is the learner's own stream of random numbers.
    fn suggest(&mut self, stream: &mut Stream) -> usize;

    /// As [`Learner::suggest`], while queries of the arms `pending`, `[p]` with the oldest first, have no outcome yet. An
    /// arm occurs once for each of its pending queries. The default ignores `pending`.
    fn suggest_while(&mut self, pending: &[usize], stream: &mut Stream) -> usize {
        let _ = pending;
        self.suggest(stream)
    }

    /// Over a box: the point of the box with this number, `[d]` in units of the inputs; `None` if there is no such point.
    /// Over a finite set of arms: `None`.
    fn point(&self, arm: usize) -> Option<&[f64]> {
        let _ = arm;
        None
    }

    /// Over a box: adds a point, `[d]` in units of the inputs, that another learner suggested, and returns its number. By
    /// default the method adds nothing and returns `None`.
    fn add_point(&mut self, point: &[f64]) -> Option<usize> {
        let _ = point;
        None
    }

    /// The outcome that the learner expects of an arm, in units of the outcome; `None` if it has no model.
    fn predicted(&self, arm: usize) -> Option<f64> {
        let _ = arm;
        None
    }

    /// Adds the outcome of an arm, suggested or not, in units of the outcome.
    ///
    /// # Errors
    /// [`GpError`] if the model cannot be updated: the outcome is not finite, or a matrix is not positive definite.
    ///
    /// # Panics
    /// If there is no such arm, in learners that model arms.
    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError>;

    /// Called instead of [`Learner::suggest`] when this learner repeats the history of another learner, which chose `arm`.
    /// A learner whose state does not change by a suggestion needs no implementation.
    fn replay_choice(&mut self, arm: usize, stream: &mut Stream) {
        let _ = (arm, stream);
    }

    /// How many more outcomes of the arm suggested last are needed before another arm can be suggested. A protocol that
    /// queries several users at once queries that many; further outcomes would not be used.
    fn wanted(&self) -> usize {
        1
    }

    /// The largest jitter that the learner's model has added to the diagonal of a covariance matrix, as a variance in
    /// squared units of the outcome; 0 if none.
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

    /// Whether the learner is a baseline that chooses arms at random, independently of the outcomes.
    fn ignores_outcomes(&self) -> bool {
        false
    }

    /// Whether the learner has a posterior mean, so that [`Learner::predicted`] is never `None`.
    fn predicts(&self) -> bool {
        false
    }

    /// Whether the learner can also search a box, by [`Self::build_on_box`].
    fn searches_boxes(&self) -> bool {
        false
    }

    /// The problems of the recipe, with paths relative to the recipe. Ranges of single fields are checked by their types.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// The problems of the recipe for outcomes with these properties, with paths relative to the recipe.
    fn problems_with(&self, outcomes: Outcomes) -> Vec<Problem> {
        let _ = outcomes;
        Vec::new()
    }

    /// A theorem's bound on the learner's cumulative regret, in units of the outcome, for the problem that `arms`
    /// describes; `None` if no theorem covers this learner and problem.
    fn theorem(&self, arms: &Arms) -> Option<Theorem> {
        let _ = arms;
        None
    }

    /// beta_t, dimensionless, if the learner chooses the arm with the largest mean + sqrt(beta_t) sd of the posterior
    /// under the model in `Arms`; else `None`. `Outsourced` shows bounds on regret only for a learner with both this
    /// schedule and a [`Self::theorem`].
    fn upper_confidence(&self) -> Option<BetaSchedule> {
        None
    }

    /// The external programs that the learner starts in [`Self::build_with`], each by a
    /// [`ProgramSession`](crate::programs::ProgramSession). They are announced before they are started, `check` verifies
    /// that they exist, and they are part of a study's identity.
    fn programs(&self) -> Vec<Program> {
        Vec::new()
    }

    /// v, in units of the outcome to the power 1 + alpha, and alpha, dimensionless, if all that the learner assumes about
    /// outcomes is E|outcome - prior mean|^(1 + alpha) <= v, with alpha below 1; else `None`.
    fn moment(&self, arms: &Arms) -> Option<(f64, f64)> {
        let _ = arms;
        None
    }

    /// The memory in bytes and the time in seconds that the learner takes for `outcomes` outcomes of `arms` arms, with a
    /// choice before each.
    /// Default: those of an exact posterior whose means and variances are read at each choice.
    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        posterior_effort(arms, outcomes)
    }

    /// The largest number of arms that the learner supports; `None` without a limit.
    fn most_arms(&self) -> Option<u64> {
        None
    }

    /// Builds the learner in its state before the first round.
    ///
    /// # Errors
    /// [`BuildError`]: inputs that are withheld, a quantity that neither recipe nor protocol states, too many arms, or
    /// a covariance that cannot be used.
    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError>;

    /// As [`LearnerRecipe::build`], for a search of a box.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build`]; by default [`BuildError::NeedsArms`].
    fn build_on_box(&self, model: &BoxModel) -> Result<Box<dyn Learner>, BuildError> {
        let _ = model;
        Err(BuildError::NeedsArms { learner: "the learner".to_owned() })
    }

    /// As [`LearnerRecipe::build_on_box`], for a learner that may start external programs by `programs`.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build_on_box`].
    fn build_on_box_with(
        &self,
        model: &BoxModel,
        programs: &Programs,
    ) -> Result<Box<dyn Learner>, BuildError> {
        let _ = programs;
        self.build_on_box(model)
    }

    /// As [`LearnerRecipe::build`], for a learner that may start external programs by `programs`.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build`].
    fn build_with(&self, arms: &Arms, programs: &Programs) -> Result<Box<dyn Learner>, BuildError> {
        let _ = programs;
        self.build(arms)
    }
}

/// Largest number of arms of a learner that keeps a matrix over all of them.
const MATRIX_ARMS: u64 = crate::gp::MAX_ARMS as u64;

/// The memory and time that an exact posterior over the arms takes: a row of numbers per outcome, until there are more
/// outcomes than arms, then a matrix over the arms ([`AdaptivePosterior`](crate::gp::AdaptivePosterior)). With more than
/// `MATRIX_ARMS` arms there is no matrix, and each outcome keeps its row.
pub(crate) fn posterior_effort(arms: u64, outcomes: u64) -> Effort {
    let (n, most) = (arms as f64, MATRIX_ARMS);
    let rows = if arms <= most { outcomes.min(arms) } else { outcomes };
    // Rows are stored in groups of sixteen, and in tiles of 32 arms.
    let held = NUMBER * arms.next_multiple_of(32) as f64 * rows.next_multiple_of(16) as f64;
    let t = rows as f64;
    let one_by_one = n * t * (COVARIANCE + MULTIPLY * t / 2.0);
    let (place, count) = if rows < outcomes { (ARMS, arms) } else { (OUTCOMES, outcomes) };
    let rowwise = Effort::due_to(place, count, held + 4.0 * NUMBER * n, one_by_one);
    if rows == outcomes {
        return rowwise;
    }
    let later = (outcomes - rows) as f64;
    let matrix = Effort::due_to(ARMS, arms, NUMBER * n * n, n * n * MULTIPLY * (t + later));
    rowwise.and(matrix)
}

/// The memory and time of a learner that keeps a covariance matrix of all arms and updates it for one outcome at a
/// time.
pub(super) fn matrix_effort(arms: u64, outcomes: u64) -> Effort {
    let n = arms as f64;
    Effort::due_to(ARMS, arms, 2.0 * NUMBER * n * n, n * n * (COVARIANCE + MULTIPLY * outcomes as f64))
}

/// Approximate number of features that span the covariance of `arms` arms: at most 64, because a smooth covariance needs few
/// features.
fn rank(arms: u64) -> f64 {
    (arms as f64).min(64.0)
}

/// The memory and time for choosing a basis of features for the covariance of the arms, and for computing means and
/// variances from it.
fn basis_effort(arms: u64) -> Effort {
    let (n, m) = (arms as f64, rank(arms));
    Effort::due_to(ARMS, arms, NUMBER * (n * n + 2.0 * n * m), MULTIPLY * (m * m * m + n * m * m))
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
        Acquisition(Acquisition),
        Parallel(Parallel),
        External(External),
    }
}
