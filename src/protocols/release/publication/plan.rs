//! The interface of a publication, and its plan, which is made before anything is tried: what will be released, and what is
//! proven about the result.

use super::search::Search;
use super::task::{Task, TaskFacts};
use crate::learners::{LearnerModel, posterior_effort};
use crate::objectives::Extent;
use crate::privacy::mechanisms::{Mechanism, NoiseArithmetic, Selected, SelectedTrial};
use crate::programs::Program;
use crate::protocols::release::failure::CannotRelease;
use crate::protocols::stage::OutcomeBound;
use crate::vocab::{Effort, Epsilon, Neighbours, Positive, Probability, Problem, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a scenario states about a task, before anything is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TaskOutline {
    /// Variance of the noise of an outcome; `None` if the scenario does not say.
    pub noise_variance: Option<f64>,
    /// Whether the objective states the facts about the loss of the trained models; `None` if the scenario does not
    /// say.
    pub loss: Option<bool>,
    /// Number of trials of a learner, T.
    pub rounds: u64,
}

impl TaskOutline {
    /// What is wrong with a recipe whose proof needs facts about the loss of the trained models ([`TaskFacts`]):
    /// neither the objective nor the recipe states them, or those that the recipe states contradict each other.
    #[must_use]
    pub fn loss_problems(self, assume: Option<TaskFacts>) -> Vec<Problem> {
        if let Some(assumed) = assume {
            return assumed.problems().into_iter().map(|problem| problem.below("assume")).collect();
        }
        if self.loss != Some(false) {
            return Vec::new();
        }
        vec![Problem::wrong(
            "assume",
            "facts about the loss of the trained models, which determine the sensitivity: the objective \
             states none",
            "none",
            "write assume: TaskFacts(..), or take an objective that trains models: Tuning(..)",
        )]
    }
}

/// Estimated time in seconds in which all accountants compute the loss of one release.
pub(super) const ONE_RELEASE: f64 = 0.002;

/// Estimated seconds in which all accountants compute the loss of one release of this pure epsilon. They compute it on
/// a grid of losses; a larger epsilon needs a longer grid, and so more time.
pub(super) fn accounted_pure(epsilon: Epsilon) -> f64 {
    ONE_RELEASE + (0.02 * (epsilon.get() - 12.0)).clamp(0.0, 2.0)
}

/// The behaviour of a publication recipe.
pub trait Publication: Send + Sync {
    /// What is wrong with the recipe as a whole; the paths of problems are relative to the recipe.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// The epsilon of the Laplace release that has the most noise in relation to its sensitivity, and how that noise is
    /// sampled. `None` if this kind of publication never adds Laplace noise, or if this epsilon depends on the task. A
    /// recipe whose other fields exclude Laplace noise (only a setting is published, or the noise is Gaussian) may still
    /// have an epsilon here. Default: `None`.
    fn laplace_epsilon(&self) -> Option<(f64, NoiseArithmetic)> {
        None
    }

    /// What is wrong with the recipe for a task with these stated facts: problems that make its search or plan fail.
    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        let _ = foreseen;
        Vec::new()
    }

    /// Why the recipe cannot publish a point of a box; `None` if the recipe can. Default: its theorem is about a finite set.
    fn needs_finite_set(&self) -> Option<&'static str> {
        Some("its theorem is about a finite set of settings")
    }

    /// What is wrong with the recipe for the points of this box; paths are relative to the recipe.
    fn problem_on_box(&self, domain: &SearchBox) -> Option<Problem> {
        let _ = domain;
        None
    }

    /// The learner that searches, if the recipe leaves the choice of the learner to the scenario. Default: none.
    fn learner(&self) -> Option<&LearnerModel> {
        None
    }

    /// What is wrong with the recipe for an objective of this size; paths are relative to the recipe.
    fn problems_of_size(&self, problem: &Extent) -> Vec<Problem> {
        let _ = problem;
        Vec::new()
    }

    /// How settings are tried. Depends only on public facts about the task.
    ///
    /// # Errors
    /// If the task lacks something that the recipe needs.
    fn search(&self, task: &Task) -> Result<Search, CannotRelease>;

    /// Memory and time of `rounds` trials among `arms` settings. Default: those of a search by GP-UCB.
    fn effort(&self, arms: u64, rounds: u64) -> Effort {
        posterior_effort(arms, rounds)
    }

    /// Seconds in which all accountants compute the loss of what a run publishes. Default: that of one release.
    fn accounted(&self) -> f64 {
        ONE_RELEASE
    }

    /// The user's programs that the publication runs, except those of a learner that is a field of the recipe.
    fn programs(&self) -> Vec<Program> {
        Vec::new()
    }

    /// Whether the settings to try are chosen at random, independently of all outcomes: a baseline.
    fn chooses_at_random(&self) -> bool {
        false
    }

    /// Whether a trial may begin only when the previous trial has ended, because a proof assumes that the outcome of the
    /// previous trial is known.
    fn sequential(&self) -> bool {
        false
    }

    /// Whether the recipe may be used if an outcome's value decides whether it is missing. True if the proof of the
    /// privacy loss holds for every set of known outcomes (the loss from showing which outcomes are missing is counted
    /// separately), or if the recipe has no proof. Default: false.
    fn allows_missing_outcomes(&self) -> bool {
        false
    }

    /// The facts about the task that the recipe states, if any. If the objective states facts too, the weaker value of each
    /// fact counts. A recipe that states facts takes each value of the objective to be minus the mean loss of a trained
    /// model over the validation records.
    fn assumed(&self) -> Option<TaskFacts> {
        None
    }

    /// k1 of the assumed prior: a lower bound on the correlation of the functions of two neighbouring validation sets.
    fn neighbour_correlation(&self) -> Option<Probability> {
        None
    }

    /// The task as the recipe works on it, for example with noise that the owner adds to exact outcomes. Default: the task
    /// as it is.
    fn prepared_task(&self, task: Task) -> Task {
        task
    }

    /// Whether outcomes are measured without noise.
    fn noise_free(&self) -> bool {
        false
    }

    /// What is released after the last trial. Depends only on public facts about the task.
    ///
    /// # Errors
    /// If the task lacks something that the recipe needs.
    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease>;
}

/// Which results are published: a setting, a performance, or both. The recipe says which setting and whose performance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Part {
    /// A setting only.
    Setting,
    /// A performance only.
    Value,
    /// A setting and a performance. In `GpNoisy` and `FixedGrid` each of the two costs epsilon; in `EverySetting` epsilon is
    /// for all releases together.
    #[default]
    Both,
}

impl Part {
    /// Estimated seconds in which all accountants compute the loss of these releases, each with this epsilon. For `Both`,
    /// the tight accountant computes, on a grid of losses, the loss of an exponential mechanism and of Laplace noise
    /// together. A larger epsilon needs a longer grid, and so more time. The accountants refuse an epsilon above 700 at
    /// once.
    pub(super) fn accounted(self, epsilon: Epsilon) -> f64 {
        match self {
            Self::Both if epsilon.get() > 700.0 => 0.025,
            Self::Both => (0.025 + 0.1 * (epsilon.get() - 32.0).max(0.0)).min(8.5),
            Self::Setting | Self::Value => ONE_RELEASE,
        }
    }

    pub(super) fn setting(self) -> bool {
        self != Self::Value
    }

    pub(super) fn value(self) -> bool {
        self != Self::Setting
    }
}

/// Which constants scale the noise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Constants {
    /// The constants that the proofs support.
    #[default]
    Corrected,
    /// The constants that are printed in the paper.
    Printed,
}

/// What the owner is going to release.
#[derive(Debug, Default)]
pub struct Plan {
    /// How the setting is released; `None` if it is not.
    pub setting: Option<SettingRelease>,
    /// How a performance is released; `None` if none is.
    pub value: Option<ValueRelease>,
    /// How one trial out of all trials is released: the trial's setting, alone or with the trial's performance. `None` if no
    /// trial is released in this way.
    pub best: Option<BestRelease>,
    /// What is proven about the quantities that are reported of the publication.
    pub guarantees: Vec<Guarantee>,
}

impl Plan {
    /// Plans the release of a performance with Laplace noise: the mean outcome of the published setting if both parts are
    /// published, otherwise the largest outcome. `error` must be a number that the absolute value of the noise exceeds with
    /// probability at most [`tail_probability`].
    pub(super) fn release_value(&mut self, mechanism: Box<ValueMechanism>, published: Part, error: f64) {
        let (of, measure) = match published {
            Part::Both => (ValueOf::Setting, Measure::ErrorAtSetting),
            Part::Setting | Part::Value => (ValueOf::Best, Measure::ErrorAgainstBest),
        };
        self.value = Some(ValueRelease { mechanism, of });
        self.guarantees.push(Guarantee::new(measure, error, tail_probability(), "Laplace noise"));
    }

    /// Checks whether the mechanisms can release, before anything is tried.
    ///
    /// # Errors
    /// [`CannotRelease::Mechanism`] with the error of the mechanism.
    pub fn can_release(&self) -> Result<(), CannotRelease> {
        let (any, relation) = (vec![0.0], Neighbours::ReplaceOne);
        let setting = self.setting.as_ref().map(|setting| setting.mechanism.price(&any, &relation));
        let value = self.value.as_ref().map(|value| value.mechanism.price(&any, &relation));
        let best = self.best.as_ref().map(|best| best.mechanism.price(&Vec::new(), &relation));
        setting
            .into_iter()
            .chain(value)
            .chain(best)
            .try_for_each(|price| price.map(drop))
            .map_err(CannotRelease::Mechanism)
    }
}

/// How a setting is released.
#[derive(Debug)]
pub struct SettingRelease {
    /// Chooses among utilities, one per setting.
    pub mechanism: Box<dyn Mechanism<Input = Vec<f64>, Output = usize> + Send + Sync>,
    /// What the utilities are.
    pub utility: Utility,
}

/// A mechanism that makes one number private; its input and output have length 1.
pub(super) type ValueMechanism = dyn Mechanism<Input = Vec<f64>, Output = Vec<f64>> + Send + Sync;

/// How a performance is released.
#[derive(Debug)]
pub struct ValueRelease {
    /// Makes one number private.
    pub mechanism: Box<ValueMechanism>,
    /// Which number.
    pub of: ValueOf,
}

/// How one trial out of all trials is released.
#[derive(Debug)]
pub struct BestRelease {
    /// Chooses among settings with their outcomes.
    pub mechanism: Box<dyn Mechanism<Input = Vec<Selected>, Output = SelectedTrial> + Send + Sync>,
    /// What is released, in the words of the ledger.
    pub released: &'static str,
}

/// The utilities by which a setting is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Utility {
    /// The posterior mean after all trials, at every setting.
    PosteriorMean,
    /// The mean outcome of each setting; every setting has been tried. Settings without a known outcome are left out.
    Outcomes,
    /// The mean outcome of each setting that was tried; settings that were not tried cannot be chosen. Not for private
    /// releases: which settings were tried depends on the data.
    OutcomesOfTried,
}

/// The performance that is released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueOf {
    /// The largest outcome.
    Best,
    /// The outcome of the last trial.
    Last,
    /// The mean outcome of the setting that has been released.
    Setting,
}

/// A quantity that a theorem bounds. lambda~ and v~ are the released setting and performance, lambda* is the best
/// setting, f is the function without noise, v are outcomes and mu_T is the posterior mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// max mu_T - mu_T(lambda~): by how much the released setting's posterior mean falls short of the best.
    PosteriorGap,
    /// max v - v(lambda~): by how much the released setting's mean outcome falls short of the best outcome, if all
    /// settings were tried.
    OutcomeGap,
    /// f(lambda*) - f(lambda~): by how much the performance of the setting that a reader uses (the released setting, or a
    /// random setting if none was released) falls short of the best performance.
    SettingRegret,
    /// |v~ - f(lambda*)|: the difference between the released performance and the largest value of f.
    ErrorAgainstOptimum,
    /// |v~ - max v|: the difference between the released performance and the best outcome found.
    ErrorAgainstBest,
    /// |v~ - v(lambda~)|: the difference between the released performance and the mean outcome of the released setting.
    ErrorAtSetting,
    /// max |mu_T - mu_T'|: the largest difference between the posterior means on the data set (mu_T) and on its neighbour
    /// (mu_T').
    RealisedSensitivity,
}

/// A bound on a quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Guarantee {
    /// The quantity.
    pub measure: Measure,
    /// Its bound.
    pub bound: OutcomeBound,
}

impl Guarantee {
    pub(super) fn new(measure: Measure, at_most: f64, failure: f64, source: &str) -> Self {
        let probability = (1.0 - failure).max(0.0);
        Self { measure, bound: OutcomeBound { at_most, probability, source: source.to_owned() } }
    }
}

/// The parameter a of the utility theorems: their bounds fail with probability at most e^-a, roughly 0.05. In the recipes
/// `GpNoisy` and `GpNoiseFree`, delta is added to this probability.
pub const TAIL: f64 = 3.0;

pub(super) fn tail_probability() -> f64 {
    libm::exp(-TAIL)
}

pub(in crate::protocols::release) fn positive(
    what: &'static str,
    value: f64,
) -> Result<Positive, CannotRelease> {
    Positive::new(value).map_err(|error| CannotRelease::Quantity { what, error })
}
