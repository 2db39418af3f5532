//! GP-UCB: choose the arm with the largest upper confidence bound.

use super::arms::{Arms, BuildError, covariance};
use super::beta::BetaSchedule;
use super::theorem::Theorem;
use super::{Learner, LearnerRecipe};
use crate::gp::{AdaptivePosterior, GpError, largest, upper_bounds};
use crate::rng::Stream;
use crate::vocab::Positive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The quantity by which `scale` sqrt(beta_t) is multiplied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Exploration {
    /// The posterior standard deviation, as in the literature.
    #[default]
    StandardDeviation,
    /// The posterior variance, as in PO-GP-UCB's public code.
    Variance,
}

/// GP-UCB: argmax over arms of mean + scale sqrt(beta_t) sd. With the exploration `Variance`, the variance takes the place
/// of the standard deviation sd.
///
/// Source: Srinivas, Krause, Kakade and Seeger 2010, Algorithm 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpUcb {
    /// The exploration weight beta_t, by round. Default: `FiniteDomain(delta: 0.025)`.
    #[serde(default)]
    pub beta: BetaSchedule,
    /// Factor by which sqrt(beta_t) is multiplied, dimensionless; with the exploration `Variance`, in inverse units of
    /// the outcome. Default: 1.
    #[serde(default = "super::knowledge::default_factor")]
    pub scale: Positive,
    /// The quantity by which scale sqrt(beta_t) is multiplied. Default: `StandardDeviation`.
    #[serde(default)]
    pub exploration: Exploration,
    /// Whether arms with an observed outcome are excluded, as long as some arm has no observed outcome. Default: false.
    #[serde(default)]
    pub exclude_played: bool,
    /// Noise variance that the model assumes, in squared units of the outcome.
    /// Default: the noise variance of the objective's surrogate, plus the variance of the privacy noise if that is known.
    #[serde(default)]
    pub regulariser: Option<Positive>,
}

#[derive(Clone, Debug)]
struct State {
    recipe: GpUcb,
    posterior: AdaptivePosterior,
    scores: Vec<f64>,
    played: Vec<bool>,
    /// Number of suggestions so far.
    rounds: u64,
}

impl Default for GpUcb {
    fn default() -> Self {
        Self {
            beta: BetaSchedule::default(),
            scale: super::knowledge::default_factor(),
            exploration: Exploration::default(),
            exclude_played: false,
            regulariser: None,
        }
    }
}

impl LearnerRecipe for GpUcb {
    fn predicts(&self) -> bool {
        true
    }

    /// The cumulative regret is at most sqrt(8 v T beta_T gamma_T / ln(1 + v / noise)). Here v is the largest prior
    /// variance, T the number of rounds, gamma_T an upper bound on the information gain of T outcomes, and noise the noise
    /// variance that the model assumes. Srinivas et al. 2010, Theorem 1.
    fn theorem(&self, arms: &Arms) -> Option<Theorem> {
        let covariance = arms.covariance.as_ref()?;
        let noise = self.regulariser.map_or(arms.noise_variance, Positive::get);
        let scheduled = matches!(self.beta, BetaSchedule::FiniteDomain { .. }) && self.scale.get() == 1.0;
        let plain = self.exploration == Exploration::StandardDeviation && !self.exclude_played;
        if !(scheduled && plain && noise > 0.0) {
            return None;
        }
        let most = covariance.variances().into_iter().fold(0.0, f64::max);
        let (beta, n, factor) = (self.beta, arms.n, 8.0 * most / libm::log1p(most / noise));
        let formula =
            move |rounds: f64, gain: f64| (factor * rounds * beta.at(rounds as u64, n) * gain).sqrt();
        let theorem = Theorem::new("Srinivas et al. 2010, Theorem 1", noise, formula);
        Some(
            theorem
                .of_the_model()
                .with_caveat(true, "it holds for functions drawn from the model that the learner assumes"),
        )
    }

    /// The schedule of beta_t. `None` if the learner does not choose the arm with the largest mean + sqrt(beta_t) standard
    /// deviations. Also `None` if the recipe states a noise variance, because the learner's posterior is then not the
    /// posterior under the model in `Arms`.
    fn upper_confidence(&self) -> Option<BetaSchedule> {
        let plain = self.exploration == Exploration::StandardDeviation && !self.exclude_played;
        (plain && self.scale.get() == 1.0 && self.regulariser.is_none()).then_some(self.beta)
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        let covariance = covariance("GpUcb", arms)?;
        let noise_variance = self.regulariser.map_or(arms.noise_variance, Positive::get);
        let posterior = AdaptivePosterior::new(covariance.clone(), noise_variance, arms.mean);
        let (scores, played) = (vec![0.0; arms.n], vec![false; arms.n]);
        Ok(Box::new(State { recipe: self.clone(), posterior, scores, played, rounds: 0 }))
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.played.len()
    }

    fn suggest(&mut self, _: &mut Stream) -> usize {
        self.rounds += 1;
        let beta = self.recipe.beta.at(self.rounds, self.played.len());
        let weight = self.recipe.scale.get() * beta.max(0.0).sqrt();
        let (mean, variance) = (self.posterior.mean(), self.posterior.variance());
        match self.recipe.exploration {
            Exploration::StandardDeviation => upper_bounds(mean, variance, weight, &mut self.scores),
            Exploration::Variance => {
                let models = mean.iter().zip(variance);
                for (score, (mean, variance)) in self.scores.iter_mut().zip(models) {
                    *score = mean + weight * variance;
                }
            }
        }
        if self.recipe.exclude_played && self.played.contains(&false) {
            let played = self.scores.iter_mut().zip(&self.played).filter(|(_, played)| **played);
            played.for_each(|(score, _)| *score = f64::NEG_INFINITY);
        }
        largest(&self.scores)
    }

    fn replay_choice(&mut self, _: usize, _: &mut Stream) {
        self.rounds += 1;
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        self.played[arm] = true;
        self.posterior.observe(arm, outcome)
    }

    fn predicted(&self, arm: usize) -> Option<f64> {
        Some(self.posterior.mean()[arm])
    }

    fn jitter(&self) -> f64 {
        self.posterior.jitter()
    }
}
