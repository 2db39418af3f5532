//! What is public about a tuning task, and what a scenario may state about it.

use crate::gp::{ArmCovariance, Points, greedy_maximum};
use crate::learners::{Arms, Facts};
use crate::objectives::{Instance, Surrogate, TuningFacts};
use crate::vocab::{Basis, Positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is public about a tuning task.
#[derive(Clone, Debug)]
pub struct Task {
    /// The settings on offer, Lambda.
    pub inputs: Arc<Points>,
    /// The prior that is assumed.
    pub surrogate: Surrogate,
    /// Standard deviation of the noise of an outcome.
    pub noise_sd: f64,
    /// Trials of a learner, T.
    pub rounds: u64,
    /// What the objective knows of its loss.
    pub facts: Option<TuningFacts>,
}

impl Task {
    /// What is public of an instance, for a search of `rounds` trials.
    #[must_use]
    pub fn of(instance: &Instance, rounds: u64) -> Self {
        Self {
            inputs: Arc::clone(&instance.inputs),
            surrogate: instance.surrogate.clone(),
            noise_sd: instance.noise.variance().sqrt(),
            rounds,
            facts: instance.background.tuning,
        }
    }

    /// Number of settings.
    #[must_use]
    pub fn n(&self) -> usize {
        self.inputs.n()
    }

    /// Standard deviation of the assumed prior.
    #[must_use]
    pub fn prior_sd(&self) -> f64 {
        self.surrogate.covariance.variance.sqrt()
    }

    /// Covariance of the settings.
    #[must_use]
    pub fn covariance(&self) -> ArmCovariance {
        ArmCovariance::of_inputs(Arc::clone(&self.inputs), self.surrogate.covariance.clone())
    }

    /// An upper bound on the information gain of `rounds` outcomes; a property of the settings, not of the data.
    ///
    /// # Errors
    /// In words, if the assumed noise variance is 0.
    pub fn information_gain(&self) -> Result<f64, String> {
        let rounds = usize::try_from(self.rounds).map_err(|error| error.to_string())?;
        let greedy = greedy_maximum(&self.covariance(), rounds, self.surrogate.noise_variance);
        greedy.map(|greedy| greedy.upper_bound()).map_err(|error| error.to_string())
    }

    /// The settings as a learner sees them.
    #[must_use]
    pub fn arms(&self) -> Arms {
        Arms {
            n: self.n(),
            covariance: Some(self.covariance()),
            noise_variance: self.surrogate.noise_variance,
            mean: self.surrogate.mean,
            facts: Facts { horizon: Some(self.rounds), ..Facts::default() },
        }
    }

    /// The facts to rely on, and what that makes of a certificate: the objective's own, or those that a recipe
    /// assumes.
    pub(super) fn rely_on(&self, assume: Option<TaskFacts>) -> Result<(TuningFacts, Basis), String> {
        match (assume, self.facts) {
            (Some(assumed), _) => {
                let on = format!(
                    "values that are means over {} records of a loss with range {}, Lipschitz constant {} and \
                     regularisation from {} to {}, as the scenario assumes",
                    assumed.records,
                    assumed.loss_range,
                    assumed.lipschitz,
                    assumed.lambda_min,
                    assumed.lambda_max
                );
                Ok((assumed.into(), Basis::Conditional { on }))
            }
            (None, Some(facts)) => Ok((facts, Basis::Proven)),
            (None, None) => {
                Err("the objective states no loss, so nothing is known of its sensitivity: write \
                 assume: TaskFacts(..), or use an objective that trains models"
                    .to_owned())
            }
        }
    }
}

/// What is assumed about a tuning task whose objective does not say it: a value is minus the mean of a loss over the
/// validation records.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFacts {
    /// m, validation records.
    pub records: Positive,
    /// g*, the largest minus the smallest loss of one record.
    pub loss_range: Positive,
    /// L, Lipschitz constant of the loss in the weights.
    pub lipschitz: Positive,
    /// Smallest regularisation parameter on offer.
    pub lambda_min: Positive,
    /// Largest regularisation parameter on offer.
    pub lambda_max: Positive,
}

impl From<TaskFacts> for TuningFacts {
    fn from(facts: TaskFacts) -> Self {
        Self {
            records: facts.records.get(),
            loss_range: facts.loss_range.get(),
            lipschitz: facts.lipschitz.get(),
            lambda_min: facts.lambda_min.get(),
            lambda_max: facts.lambda_max.get(),
        }
    }
}
