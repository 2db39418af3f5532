//! Learners: bandit algorithms that choose from a finite set of arms; some can also search a box. Each algorithm has a file
//! or a folder of its own.
//!
//! Notation: n arms, identified by an index from 0 to n - 1 (over a box, points are numbered in the order in which
//! they were first suggested); t outcomes so far. Outcomes, means and bounds on the function are in the unit of the
//! outcome, and variances are in the square of this unit. Probabilities are above 0 and below 1. Shapes are in brackets:
//! `[p]` is a list of p numbers, `[d]` a point with d coordinates. A learner maximises the function.

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

/// Clones a boxed [`Learner`] when a simulation is cloned. The trait is implemented for every learner that is `Clone`.
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
/// A learner is not notified of a lost outcome: the protocol only requests the next suggestion. How lost outcomes affect an
/// algorithm's guarantee is documented with that algorithm.
pub trait Learner: fmt::Debug + BoxedLearner {
    /// Number of arms, n; over a box, number of points suggested so far.
    fn arms(&self) -> usize;

    /// The arm to query next, from 0 to n - 1; of equally good arms, the arm with the lowest index. A learner may return the
    /// same arm until it has observed enough outcomes of this arm ([`Learner::wanted`]). `stream` is the learner's own
    /// stream of random numbers.
    fn suggest(&mut self, stream: &mut Stream) -> usize;

    /// As [`Learner::suggest`], while some earlier queries have no outcome yet. `pending`, `[p]`, has the arms of these
    /// queries, the oldest query first; an arm occurs once for each of its pending queries. The default ignores `pending`.
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

    /// The outcome that the learner expects of an arm, in units of the outcome; `None` if the learner has no posterior mean.
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

    /// Called instead of [`Learner::suggest`] when `arm` was chosen by another learner: by the learner whose history this
    /// learner repeats, or by a copy of this learner ([`Parallel`]). A learner whose state does not change by a suggestion
    /// needs no implementation.
    fn replay_choice(&mut self, arm: usize, stream: &mut Stream) {
        let _ = (arm, stream);
    }

    /// How many more outcomes of the last suggested arm are needed before the learner can suggest another arm. If more
    /// outcomes of this arm come, the learner may leave them unused. Default: 1.
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
    /// Whether the learner needs the arms' inputs, and the model of the function over these inputs.
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

    /// The problems of the recipe, with paths relative to the recipe. The range of a single field is checked by the field's
    /// type.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// The problems of the recipe for outcomes with the properties `outcomes`, with paths relative to the recipe.
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
    /// under the model in `Arms`; else `None`. `Outsourced` shows bounds on regret only for a learner with both a schedule
    /// of beta_t and a [`Self::theorem`].
    fn upper_confidence(&self) -> Option<BetaSchedule> {
        None
    }

    /// The external programs that the learner asks, each by a [`ProgramSession`](crate::programs::ProgramSession) that
    /// [`Self::build_with`] opens. The programs are announced before they are started, and they are part of a study's
    /// identity. The command `check` verifies that they exist.
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
    /// choice before each outcome.
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
    /// [`BuildError`]: inputs that are withheld, a quantity that neither recipe nor protocol states, too many arms, a
    /// covariance that cannot be used, or an external program, which needs [`Self::build_with`].
    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError>;

    /// As [`LearnerRecipe::build`], for a search of a box.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build`]; by default [`BuildError::NeedsArms`].
    fn build_on_box(&self, model: &BoxModel) -> Result<Box<dyn Learner>, BuildError> {
        let _ = model;
        Err(BuildError::NeedsArms { learner: "the learner".to_owned() })
    }

    /// As [`LearnerRecipe::build_on_box`], for a learner that may start external programs, to which `programs` gives access.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build_on_box`]; an external program is an error only if `programs` gives no access to programs.
    fn build_on_box_with(
        &self,
        model: &BoxModel,
        programs: &Programs,
    ) -> Result<Box<dyn Learner>, BuildError> {
        let _ = programs;
        self.build_on_box(model)
    }

    /// As [`LearnerRecipe::build`], for a learner that may start external programs, to which `programs` gives access.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build`]; an external program is an error only if `programs` gives no access to programs.
    fn build_with(&self, arms: &Arms, programs: &Programs) -> Result<Box<dyn Learner>, BuildError> {
        let _ = programs;
        self.build(arms)
    }
}

/// Largest number of arms of a learner that keeps a matrix over all arms.
const MATRIX_ARMS: u64 = crate::gp::MAX_ARMS as u64;

/// The memory and time that an exact posterior over the arms takes ([`AdaptivePosterior`](crate::gp::AdaptivePosterior)).
/// The posterior stores one row of numbers for each outcome. Once there are more outcomes than arms, it stores a matrix over
/// the arms instead. With more than `MATRIX_ARMS` arms it always stores the rows.
pub(crate) fn posterior_effort(arms: u64, outcomes: u64) -> Effort {
    let (n, most) = (arms as f64, MATRIX_ARMS);
    let rows = if arms <= most { outcomes.min(arms) } else { outcomes };
    // Rows are stored in groups of sixteen, and each group in tiles of 32 arms. All groups and tiles are counted as full.
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
/// variances from this basis.
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
