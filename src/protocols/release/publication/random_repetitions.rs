//! Private selection: random search with a random number of trials, of which the best noisy outcome is published.

use super::{
    BestRelease, Guarantee, Measure, ONE_RELEASE, Plan, Publication, Search, TAIL, Task, TaskFacts,
    TaskOutline, accounted_pure, positive, tail_probability,
};
use crate::accounting::calibration::smallest_noise_of_one;
use crate::privacy::mechanisms::{
    Gaussian, Laplace, NoiseArithmetic, PrivateSelection, Repetitions, ResultNoise, SelectionAmongTrials,
    TheoremMechanism,
};
use crate::protocols::release::failure::CannotRelease;
use crate::protocols::stage::ITERATION;
use crate::vocab::effort::{MESSAGE, NUMBER};
use crate::vocab::{AboveOne, Basis, Cost, Delta, Effort, Epsilon, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A random number of settings is tried, each drawn uniformly (on a box, each input uniformly from its range, on the input's
/// own scale). Noise is added to each outcome, and the setting with the largest noisy outcome is published with this noisy
/// outcome. The setting and the noisy outcome together cost `epsilon`. This is the usual method of private hyperparameter
/// tuning.
///
/// The privacy cost does not depend on how many settings there are to draw from. It depends on the distribution of the
/// number of trials, and is proven only if nobody learns this number. The protocol's `rounds` do not limit the number of
/// trials. No model of the function and no prior is assumed.
///
/// Source: Liu and Talwar 2019, "Private selection from private candidates"; Papernot and Steinke 2022,
/// "Hyperparameter tuning with Renyi differential privacy", Theorems 2 and 6.
///
/// Example: `RandomRepetitions(epsilon: 1, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1,
/// lambda_min: 0.1, lambda_max: 1))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomRepetitions {
    /// epsilon of the setting and its outcome together.
    pub epsilon: Epsilon,
    /// How many settings are tried. Default: `Geometric(mean: 20)`.
    #[serde(default = "twenty")]
    pub repetitions: Repetitions,
    /// The noise on each outcome. Default: `Laplace`.
    #[serde(default)]
    pub noise: OutcomeNoise,
    /// Facts of the tuning task that the proof needs, for objectives that do not state them. Default: what the
    /// objective states.
    #[serde(default)]
    pub assume: Option<TaskFacts>,
    /// How noise is sampled. The number of trials is drawn in floating point, so the privacy loss is stated for ideal
    /// arithmetic even with `Exact`. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

/// The noise on each outcome of a private selection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum OutcomeNoise {
    /// Laplace noise, which gives pure differential privacy. It cannot be combined with a Poisson number of trials.
    #[default]
    Laplace,
    /// Gaussian noise, the smallest with which the Renyi divergences of the publication give `epsilon` at this delta.
    ///
    /// Example: `Gaussian(delta: 1e-6)`.
    Gaussian {
        /// delta of what is published.
        delta: Delta,
    },
}

fn twenty() -> Repetitions {
    Repetitions::Geometric { mean: AboveOne::new(20.0).expect("20 is above 1") }
}

/// Smallest shape parameter that the distribution of the number of trials may have.
const LEAST_SHAPE: f64 = -0.9;

/// Largest mean that the number of trials may have. The time to draw a number of trials is proportional to the number drawn.
const MOST_TRIALS: f64 = 1e6;

/// The condition of every price: the theorems are about an observer who does not learn the number of trials.
const UNKNOWN_NUMBER: &str = "readers who do not learn the number of trials, for instance from the time at which the \
                              publication arrives";

impl RandomRepetitions {
    /// The cost of publishing the best outcome, with Gaussian noise of this noise multiplier on every outcome.
    fn cost(&self, noise_multiplier: f64) -> Cost {
        let mean = self.repetitions.mean();
        match self.repetitions.shape() {
            Some(shape) => Cost::RepeatedGaussian { noise_multiplier, shape, mean },
            None => Cost::PoissonRepeatedGaussian { noise_multiplier, mean },
        }
    }

    fn noise_multiplier(&self, delta: Delta) -> Option<Positive> {
        smallest_noise_of_one(self.epsilon, delta, |noise| self.cost(noise))
    }

    /// epsilon of one outcome with Laplace noise, for which the publication has `epsilon`.
    fn of_one(&self) -> f64 {
        self.epsilon.get() / (2.0 + self.repetitions.shape().unwrap_or(f64::INFINITY))
    }

    /// The noise on one outcome, and the basis of its sensitivity.
    fn noise_of(&self, task: &Task) -> Result<(ResultNoise, Basis), CannotRelease> {
        let (sensitivity, basis) = task.outcome_sensitivity(self.assume)?;
        Ok((self.noise(positive("sensitivity", sensitivity)?, task)?, basis))
    }

    fn noise(&self, sensitivity: Positive, task: &Task) -> Result<ResultNoise, CannotRelease> {
        let rounding = task.rounding()?;
        match self.noise {
            OutcomeNoise::Laplace => {
                let laplace = Laplace::calibrated(Epsilon::new(self.of_one())?, sensitivity)?;
                Ok(ResultNoise::Laplace(laplace.computed_within(rounding).with(self.arithmetic)))
            }
            OutcomeNoise::Gaussian { delta } => {
                let multiplier = self.noise_multiplier(delta).map_or(f64::INFINITY, Positive::get);
                // Each of two neighbours' computed outcomes has a rounding error, so they may lie further apart than without
                // rounding.
                let sensitivity = positive("sensitivity", sensitivity.get() + 2.0 * rounding.get())?;
                let deviation = positive("standard deviation", multiplier * sensitivity.get())?;
                Ok(ResultNoise::Gaussian(Gaussian::new(deviation, sensitivity).with(self.arithmetic)))
            }
        }
    }
}

impl Publication for RandomRepetitions {
    fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.repetitions.mean() > MOST_TRIALS {
            problems.push(Problem::wrong(
                "repetitions",
                "a mean of at most 1,000,000",
                self.repetitions.mean().to_string(),
                "write a smaller mean: each repetition trains a model",
            ));
        }
        if self.repetitions.shape().is_some_and(|shape| shape < LEAST_SHAPE) {
            problems.push(Problem::wrong(
                "repetitions",
                format!("a shape of at least {LEAST_SHAPE}: below it, a few runs with more trials than any machine can make dominate the mean"),
                self.repetitions.shape().map_or_else(String::new, |shape| shape.to_string()),
                "write shape: -0.5, for example",
            ));
        }
        match self.noise {
            OutcomeNoise::Laplace if self.repetitions.shape().is_none() => problems.push(Problem::wrong(
                "noise",
                "Gaussian noise for a Poisson number of repetitions, for which no pure epsilon is known",
                "Laplace",
                "write `noise: Gaussian(delta: 1e-6)`, or `repetitions: Geometric(mean: 20)`",
            )),
            OutcomeNoise::Gaussian { delta } if self.noise_multiplier(delta).is_none() => {
                problems.push(Problem::wrong(
                    "epsilon",
                    "an epsilon that Gaussian noise of at most 1e6 times the sensitivity reaches",
                    format!("{} at delta {delta}", self.epsilon),
                    "raise epsilon or delta, or lower the mean number of repetitions",
                ));
            }
            OutcomeNoise::Laplace | OutcomeNoise::Gaussian { .. } => {}
        }
        problems
    }

    /// The theorems are about repeated runs of any algorithm of which a single run is private and whose outputs are ordered.
    /// Here a run is a trial. A trial draws its point from the box without any data and then has the privacy loss of one
    /// noisy outcome, however many points there are. Trials are ordered by their noisy outcomes. If several trials on a box
    /// have the largest noisy outcome, the last of them is published. The theorems require that equal outcomes are ordered
    /// too. For this, each trial could draw a random number without any data, and the largest number would decide. Trials
    /// are independent and have the same distribution, so the published point and outcome would then have the same
    /// distribution as they have now.
    fn needs_finite_set(&self) -> Option<&'static str> {
        None
    }

    fn laplace_epsilon(&self) -> Option<(f64, NoiseArithmetic)> {
        self.repetitions.shape().map(|_| (self.of_one(), self.arithmetic))
    }

    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        foreseen.loss_problems(self.assume)
    }

    /// Memory and time of the mean number of trials.
    fn effort(&self, _: u64, _: u64) -> Effort {
        let trials = self.repetitions.mean();
        let memory = 8.0 * NUMBER * trials;
        Effort::due_to("repetitions", trials as u64, memory, 4.0 * MESSAGE * trials)
            .with_record_size(ITERATION * trials)
    }

    /// With a Poisson number of trials the noise is Gaussian, and the time to compute the publication's loss does not grow
    /// with epsilon.
    fn accounted(&self) -> f64 {
        if self.repetitions.shape().is_some() { accounted_pure(self.epsilon) } else { ONE_RELEASE }
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Repeated(self.repetitions))
    }

    fn assumed(&self) -> Option<TaskFacts> {
        self.assume
    }

    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease> {
        let (noise, basis) = self.noise_of(task)?;
        let selection = PrivateSelection::new(noise, self.repetitions)?;
        let basis = basis.with_conditions(&[UNKNOWN_NUMBER.to_owned()]);
        let name = match self.noise {
            OutcomeNoise::Laplace => "best of a random number of outcomes with Laplace noise",
            OutcomeNoise::Gaussian { .. } => "best of a random number of outcomes with Gaussian noise",
        };
        let mechanism = Box::new(TheoremMechanism::new(SelectionAmongTrials(selection), name, None, basis));
        let released = "setting lambda~ and performance v~";
        let mut plan = Plan { best: Some(BestRelease { mechanism, released }), ..Plan::default() };
        if let (ResultNoise::Laplace(laplace), true) = (noise, task.noise_sd == 0.0) {
            // With K trials, the probability that the largest noise exceeds a bound is at most K times the probability that
            // the noise of one trial exceeds it. For a random K, this holds with the mean of K in place of K.
            let most = laplace.tail(TAIL + libm::log(self.repetitions.mean()));
            plan.guarantees.push(Guarantee::new(
                Measure::ErrorAtSetting,
                most,
                tail_probability(),
                "Laplace noise",
            ));
        }
        Ok(plan)
    }
}
