//! Every setting whose choice depends on outcomes is published as soon as it is chosen, with a proof that needs no prior;
//! Kusner et al. 2015 name this as future work.

use super::{
    Part, Plan, Publication, Sampling, Search, Selection, TAIL, Task, TaskFacts, TaskOutline, positive,
};
use crate::accounting::Composition;
use crate::accounting::calibration::epsilon_of_each;
use crate::learners::BetaSchedule;
use crate::privacy::mechanisms::{
    ExponentialMechanism, Laplace, Mechanism, NoiseArithmetic, TheoremMechanism,
};
use crate::protocols::release::failure::CannotRelease;
use crate::vocab::effort::{ARMS, COVARIANCE, MULTIPLY, NUMBER};
use crate::vocab::{Cost, Delta, Effort, Epsilon, Neighbours, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The owner publishes every setting that it tries, except the first, before the setting's trial, and at the end the results
/// that `publish` names. Every choice is private: settings to try are chosen by the exponential mechanism (or report noisy
/// max) on GP-UCB's score, and the setting published at the end by the same mechanism on the posterior mean.
///
/// A setting's score is the posterior mean at this setting plus a width. The width depends only on the settings tried so
/// far. The mean is a constant plus a weighted sum of outcomes; constant and weights, too, depend only on the settings tried
/// so far. If a search on a neighbouring data set has tried the same settings so far, a setting's score there differs by at
/// most the sensitivity of one outcome times the sum of the absolute weights. The mechanism uses the largest such sum of all
/// settings. The sensitivity of one outcome is at most g*/m, where g* is the range of the loss and m the number of
/// validation records. This argument assumes no prior: the guarantee holds even if the model is wrong.
///
/// The choices are made one after another. Each choice, and the performance if it is published, has the same epsilon: the
/// largest for which the composition of all of them has at most `epsilon` at `delta`. With the exponential mechanism, this
/// composition is bounded-range composition for adaptive choices; with report noisy max, it is composition of pure epsilons.
///
/// The first setting is drawn at random without any data, at no privacy cost; it is not announced. If outcomes may be
/// missing (`silence`), every setting that is chosen before any outcome is known is drawn in this way, and not announced.
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, section 7 (future work); Durfee and Rogers 2019 and Dong,
/// Durfee and Rogers 2020 for bounded range; McKenna and Sheldon 2020 for report noisy max.
///
/// Example: `EverySetting(epsilon: 1, delta: 1e-6, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1,
/// lambda_min: 0.1, lambda_max: 1))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EverySetting {
    /// epsilon of everything that is published in a run.
    pub epsilon: Epsilon,
    /// delta of everything that is published in a run.
    pub delta: Delta,
    /// How settings are chosen. Default: `Exponential`.
    #[serde(default)]
    pub selection: Selection,
    /// What is published at the end besides the settings tried: one of them, the performance of the best of them, or
    /// one of them with its performance. Default: `Both`.
    #[serde(default)]
    pub publish: Part,
    /// Exploration weight by round. Default: `FiniteDomain(delta: 0.025)`.
    #[serde(default)]
    pub beta: BetaSchedule,
    /// Factor by which sqrt(beta_t) is multiplied; a value below 1 may be better here, since the randomness of a
    /// private choice explores too. Default: 1.
    #[serde(default = "one")]
    pub scale: Positive,
    /// Noise variance that the model assumes. A larger value gives outcomes smaller weights in the posterior mean, so that
    /// the scores have a smaller sensitivity. Default: that of the objective's surrogate.
    #[serde(default)]
    pub regulariser: Option<Positive>,
    /// Facts of the tuning task that the proof needs, for objectives that do not state them. Default: what the
    /// objective states.
    #[serde(default)]
    pub assume: Option<TaskFacts>,
    /// How noise is sampled and how choices are made. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

impl EverySetting {
    /// Largest number of choices that depend on outcomes: one for every trial but the first, and one for the setting that is
    /// published at the end, if there is one. Missing outcomes can make the number smaller.
    fn choices(&self, task: &Task) -> u64 {
        task.rounds - 1 + u64::from(self.publish.setting())
    }

    /// Epsilon of each choice, and of the performance if it is published.
    fn each(&self, task: &Task) -> f64 {
        let (choices, values) = (self.choices(task), u64::from(self.publish.value()));
        epsilon_of_each(self.epsilon, self.delta, choices + values, |each| {
            let mut composition = Composition::new();
            let choice = match self.selection {
                Selection::Exponential => Cost::ExponentialMechanism { epsilon: each },
                Selection::NoisyMax | Selection::PermuteAndFlip => Cost::PureDp { epsilon: each },
            };
            composition.add(&choice, choices);
            composition.add(&Cost::Laplace { scale: 1.0 / each }, values);
            composition
        })
    }
}

impl EverySetting {
    /// Checks, before anything is tried, whether exact arithmetic can make the first choice, which follows one trial.
    fn first_choice(&self, task: &Task, record_sensitivity: f64) -> Result<(), CannotRelease> {
        let variance = task.surrogate.covariance.variance;
        let reach = variance / (variance + self.noise_variance(task));
        // The width at the tried setting. With only one round, the first choice is that of the setting at the end, whose
        // scores are posterior means without a width.
        let weight = self.scale.get() * self.beta.at(2, task.n()).max(0.0).sqrt();
        let width = if task.rounds > 1 { weight * (variance * (1.0 - reach)).sqrt() } else { 0.0 };
        let epsilon = Epsilon::new(self.each(task))?;
        let sensitivity = positive("sensitivity of a score", record_sensitivity * reach)?;
        let choice = ExponentialMechanism::new(epsilon, sensitivity)
            .computed_within(task.rounding_of_scores(1, reach, width)?)
            .with(self.arithmetic);
        choice.price(&vec![0.0], &Neighbours::ReplaceOne).map(drop).map_err(CannotRelease::Mechanism)
    }

    fn noise_variance(&self, task: &Task) -> f64 {
        self.regulariser.map_or(task.surrogate.noise_variance, Positive::get)
    }
}

impl Publication for EverySetting {
    fn needs_finite_set(&self) -> Option<&'static str> {
        Some("its exponential mechanism scores every setting, so there must be finitely many")
    }

    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        foreseen.loss_problems(self.assume)
    }

    /// Before each trial, the posterior at all settings is computed anew from the outcomes so far.
    fn effort(&self, arms: u64, rounds: u64) -> Effort {
        let (n, t) = (arms as f64, rounds as f64);
        let solved = MULTIPLY * (n * t * t * t / 3.0 + t * t * t * t / 12.0);
        let seconds = solved + COVARIANCE * n * t * t / 2.0;
        Effort::due_to(ARMS, arms, NUMBER * (8.0 * n + 2.0 * t * t), seconds)
    }

    fn search(&self, task: &Task) -> Result<Search, CannotRelease> {
        let (record_sensitivity, basis) = task.outcome_sensitivity(self.assume)?;
        let epsilon = Epsilon::new(self.each(task))?;
        Ok(Search::Sampling(Sampling {
            epsilon,
            selection: self.selection,
            arithmetic: self.arithmetic,
            record_sensitivity,
            basis,
            beta: self.beta,
            scale: self.scale.get(),
            noise_variance: self.noise_variance(task),
            ends_with_a_setting: self.publish.setting(),
        }))
    }

    /// Each choice is among settings scored by the outcomes known before it; a missing outcome
    /// enters no score.
    fn allows_missing_outcomes(&self) -> bool {
        true
    }

    fn sequential(&self) -> bool {
        true
    }

    fn assumed(&self) -> Option<TaskFacts> {
        self.assume
    }

    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease> {
        let (sensitivity, basis) = task.outcome_sensitivity(self.assume)?;
        if self.choices(task) > 0 {
            self.first_choice(task, sensitivity)?;
        }
        let mut plan = Plan::default();
        if self.publish.value() {
            let epsilon = Epsilon::new(self.each(task))?;
            let laplace = Laplace::calibrated(epsilon, positive("sensitivity", sensitivity)?)?
                .computed_within(task.rounding()?)
                .with(self.arithmetic);
            let name = "Laplace noise at a published setting";
            let mechanism = Box::new(TheoremMechanism::new(laplace, name, None, basis));
            plan.release_value(mechanism, self.publish, laplace.tail(TAIL));
        }
        Ok(plan)
    }
}
