//! What is public about a tuning task, and what a scenario may state about it.

use crate::gp::{ArmCovariance, Points, greedy_maximum};
use crate::learners::{Arms, BoxModel, ProblemConstants};
use crate::objectives::{Instance, Surrogate, TuningFacts};
use crate::protocols::release::constants::record_sensitivity;
use crate::protocols::release::failure::CannotRelease;
use crate::vocab::{Basis, NonNegative, Positive, Problem, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Twice the relative error of one operation; the factor 2 covers products of errors.
const ROUNDING: f64 = f64::EPSILON;
/// No normal deviate is larger in absolute value: each is the normal quantile of a number that is at least 2^-53 away from 0
/// and from 1.
const LARGEST_DEVIATE: f64 = 9.0;
/// If nothing is known about a value, it is assumed to lie within this many prior standard deviations of the prior mean.
const LARGEST_DEVIATE_OF_PRIOR: f64 = 4096.0;

/// What is public about a tuning task.
#[derive(Clone, Debug)]
pub struct Task {
    /// The candidate settings, Lambda; on a box, points that represent the box.
    pub inputs: Arc<Points>,
    /// The box, if settings are its points.
    pub domain: Option<SearchBox>,
    /// The prior that is assumed.
    pub surrogate: Surrogate,
    /// Standard deviation of the noise of an outcome.
    pub noise_sd: f64,
    /// Number of trials of a learner, T.
    pub rounds: u64,
    /// What the objective states about its loss.
    pub facts: Option<TuningFacts>,
}

impl Task {
    /// What is public about an instance, for a search of `rounds` trials.
    #[must_use]
    pub fn of(instance: &Instance, rounds: u64) -> Self {
        Self {
            inputs: Arc::clone(&instance.inputs),
            domain: instance.continuum().map(|continuum| continuum.domain.clone()),
            surrogate: instance.surrogate.clone(),
            noise_sd: instance.noise.variance().sqrt(),
            rounds,
            facts: instance.background.tuning,
        }
    }

    /// The same task with the owner's noise on every outcome instead of the objective's; `variance` is in units of the
    /// prior's variance.
    #[must_use]
    pub fn with_noise(mut self, variance: f64) -> Self {
        self.surrogate.noise_variance = variance * self.surrogate.covariance.variance;
        self.noise_sd = self.surrogate.noise_variance.sqrt();
        self
    }

    /// The same task, with a model that assumes the noise variance of the outcomes. Proofs about posterior means and regret
    /// need such a model. If the model's noise variance differs from that of the outcomes by at most 1e-9 times that of the
    /// outcomes, the difference is taken for a rounding error, and the model's variance is kept.
    #[must_use]
    pub fn with_model_noise(mut self) -> Self {
        let variance = self.noise_sd * self.noise_sd;
        if (self.surrogate.noise_variance - variance).abs() > 1e-9 * variance {
            self.surrogate.noise_variance = variance;
        }
        self
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

    /// The largest absolute outcome, from public numbers: the largest absolute value plus nine standard deviations of the
    /// noise. If the objective gives a range of losses, a value is minus a mean of losses between 0 and that range.
    /// Otherwise a value is assumed to lie within 4096 prior standard deviations of the prior mean.
    fn largest_outcome(&self) -> f64 {
        let value = self.facts.map_or_else(|| self.largest_value(), |facts| facts.loss_range);
        value + LARGEST_DEVIATE * self.noise_sd
    }

    fn largest_value(&self) -> f64 {
        self.surrogate.mean.abs() + LARGEST_DEVIATE_OF_PRIOR * self.prior_sd()
    }

    /// The largest rounding error of the outcomes of a setting, and of their mean if the setting is tried more than
    /// once. One rounding of a number is an error of at most `ROUNDING` times the number. The error of a mean of m losses is
    /// at most m roundings of the losses' range. The noise of an outcome, and its addition to the value, add at most two
    /// roundings of the largest outcome. The error of a mean of t outcomes is at most t + 1 roundings of the largest
    /// outcome.
    ///
    /// # Errors
    /// If the error is not finite.
    pub(in crate::protocols::release) fn rounding(&self) -> Result<NonNegative, CannotRelease> {
        let losses = self.facts.map_or(0.0, |facts| facts.records * facts.loss_range);
        let error = ROUNDING * (losses + (self.rounds as f64 + 3.0) * self.largest_outcome());
        NonNegative::new(error)
            .map_err(|error| CannotRelease::Quantity { what: "rounding error of outcomes", error })
    }

    /// The largest rounding error of a score. A score is a sum: the prior mean, plus t weighted differences (each of an
    /// outcome and the prior mean), plus `width`. The absolute values of the weights sum up to `reach`. Everything except
    /// the outcomes is public.
    ///
    /// # Errors
    /// If the error is not finite.
    pub(in crate::protocols::release) fn rounding_of_scores(
        &self,
        t: usize,
        reach: f64,
        width: f64,
    ) -> Result<NonNegative, CannotRelease> {
        let prior = self.surrogate.mean.abs();
        let size = prior + reach * (self.largest_outcome() + prior) + width;
        let error = reach * self.rounding()?.get() + ROUNDING * (t as f64 + 4.0) * size;
        NonNegative::new(error)
            .map_err(|error| CannotRelease::Quantity { what: "rounding error of scores", error })
    }

    /// Covariance of the settings.
    #[must_use]
    pub fn covariance(&self) -> ArmCovariance {
        ArmCovariance::of_inputs(Arc::clone(&self.inputs), self.surrogate.covariance.clone())
    }

    /// An upper bound on the information gain of `rounds` outcomes; a property of the settings, not of the data.
    ///
    /// # Errors
    /// If the assumed noise variance is 0, or `rounds` does not fit into a `usize`.
    pub fn information_gain(&self) -> Result<f64, CannotRelease> {
        let rounds = usize::try_from(self.rounds)?;
        let greedy = greedy_maximum(&self.covariance(), rounds, self.surrogate.noise_variance);
        Ok(greedy?.upper_bound())
    }

    /// The settings as a learner sees them.
    #[must_use]
    pub fn arms(&self) -> Arms {
        Arms {
            n: self.n(),
            covariance: Some(self.covariance()),
            noise_variance: self.surrogate.noise_variance,
            mean: self.surrogate.mean,
            facts: ProblemConstants { horizon: Some(self.rounds), ..ProblemConstants::default() },
        }
    }

    /// The box as a learner sees it; `None` if settings are a finite set.
    #[must_use]
    pub fn on_box(&self) -> Option<BoxModel> {
        Some(BoxModel {
            domain: self.domain.clone()?,
            covariance: self.surrogate.covariance.clone(),
            noise_variance: self.surrogate.noise_variance,
            mean: self.surrogate.mean,
            facts: ProblemConstants { horizon: Some(self.rounds), ..ProblemConstants::default() },
        })
    }

    /// The largest change of one setting's outcome if one validation record is replaced, and the basis of this bound, which
    /// follows from the facts about the loss ([`Self::loss_facts`]).
    ///
    /// # Errors
    /// If neither the objective nor the recipe states these facts, or if the stated facts contradict each other.
    pub(super) fn outcome_sensitivity(
        &self,
        assume: Option<TaskFacts>,
    ) -> Result<(f64, Basis), CannotRelease> {
        let (facts, basis) = self.loss_facts(assume)?;
        let TuningFacts { records, loss_range, lipschitz, lambda_min, .. } = facts;
        Ok((record_sensitivity(records, loss_range, lipschitz, lambda_min, 2.0), basis))
    }

    /// The facts that a proof uses, and the basis that follows from their source. They are the objective's own facts, or
    /// those that a recipe assumes. If both state facts, the weaker value of each fact is used, and the basis is that of
    /// assumed facts.
    pub(super) fn loss_facts(
        &self,
        assume: Option<TaskFacts>,
    ) -> Result<(TuningFacts, Basis), CannotRelease> {
        let stated = assume.map(TuningFacts::from).or(self.facts);
        if let Some(TuningFacts { lambda_min, lambda_max, .. }) = stated
            && lambda_max < lambda_min
        {
            return Err(CannotRelease::Exchanged { lambda_min, lambda_max });
        }
        match (assume, self.facts) {
            (Some(assumed), _) => {
                // `size` is the part of the condition about the size of the values and about how models are trained. An
                // objective that states facts satisfies this part, so the part is left out.
                let size = match self.facts {
                    Some(_) => String::new(),
                    None => format!(
                        ", none of them above {:e} in absolute value, of linear models that a 1-Lipschitz loss of the margin \
                         trains on records of norm at most 1",
                        self.largest_value()
                    ),
                };
                let on = format!(
                    "values that are means over {} records of a loss with range {}, Lipschitz constant {} and \
                     regularisation from {} to {}{size}, as the scenario assumes",
                    assumed.records,
                    assumed.loss_range,
                    assumed.lipschitz,
                    assumed.lambda_min,
                    assumed.lambda_max
                );
                Ok((
                    self.facts.map_or(assumed.into(), |own| own.weakened(assumed.into())),
                    Basis::Conditional { on },
                ))
            }
            (None, Some(facts)) => Ok((facts, Basis::Proven)),
            (None, None) => Err(CannotRelease::NoLoss),
        }
    }
}

/// Facts about a tuning task, for an objective that does not state them. To state them is to assume that a value is minus
/// the mean of a loss over the validation records, and that models are linear. Models are assumed to be trained on records
/// of norm at most 1, with a 1-Lipschitz loss of the margin and a regularisation of at least `lambda_min`. If the objective
/// states facts too, the weaker of the two values counts for each fact.
///
/// Example: `TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1, lambda_max: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskFacts {
    /// m, the number of validation records.
    pub records: Positive,
    /// g*, the largest minus the smallest loss of one record.
    pub loss_range: Positive,
    /// L, Lipschitz constant of the loss as a function of the model's weights.
    pub lipschitz: Positive,
    /// Smallest regularisation parameter among the settings.
    pub lambda_min: Positive,
    /// Largest regularisation parameter among the settings.
    pub lambda_max: Positive,
}

impl TaskFacts {
    /// What is wrong with the facts as a whole. If `lambda_min` and `lambda_max` were exchanged, the bound on the distance
    /// between two settings' losses would be too small, and so would the sensitivity.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        if self.lambda_min <= self.lambda_max {
            return Vec::new();
        }
        vec![Problem::wrong(
            "lambda_max",
            format!("at least lambda_min, {}", self.lambda_min),
            self.lambda_max.to_string(),
            "swap the two values",
        )]
    }
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
