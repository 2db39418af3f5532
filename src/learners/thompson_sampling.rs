//! Thompson sampling: choose the best arm of a function drawn from the posterior.

use super::arms::{Arms, BuildError, covariance};
use super::{Learner, LearnerRecipe, MATRIX_ARMS, posterior_effort};
use crate::gp::{AdaptivePosterior, Cholesky, GpError, MAX_ARMS, largest};
use crate::rng::Stream;
use crate::vocab::effort::{ARMS, COVARIANCE, MULTIPLY, NUMBER};
use crate::vocab::{Effort, Positive};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a function is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Sampling {
    /// All arms together, with their covariances.
    #[default]
    Joint,
    /// Every arm independently, from its mean and variance. Independent draws are faster, and explore more.
    Marginal,
}

/// Thompson sampling: argmax over arms of a draw from N(mean, scale^2 covariance), with the posterior mean and covariance.
///
/// Source: Chowdhury and Gopalan 2017, "On kernelized multi-armed bandits", Algorithm 2 (GP-TS).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThompsonSampling {
    /// How a function is drawn. `Joint` takes at most 5,000 arms. Default: `Joint`.
    #[serde(default)]
    pub sampling: Sampling,
    /// Factor, dimensionless, by which the posterior standard deviation is multiplied. Default: 1.
    #[serde(default = "super::knowledge::default_factor")]
    pub scale: Positive,
}

#[derive(Clone, Debug)]
struct State {
    recipe: ThompsonSampling,
    posterior: AdaptivePosterior,
    /// Cholesky factor of the prior covariance, for joint draws until there are more outcomes than arms.
    prior: Option<Cholesky>,
    /// Cholesky factor of the posterior covariance of all arms, for joint draws once there are more outcomes than arms.
    current: Option<Cholesky>,
}

impl LearnerRecipe for ThompsonSampling {
    fn predicts(&self) -> bool {
        true
    }

    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        let (n, t) = (arms as f64, outcomes as f64);
        let posterior = posterior_effort(arms, outcomes);
        if self.sampling == Sampling::Marginal {
            return posterior.and(Effort::new(0.0, n * t * COVARIANCE));
        }
        // For the first n outcomes, draws use the Cholesky factor of the prior covariance, which is computed once. For every
        // later outcome, the factor of the posterior covariance is computed anew. A draw multiplies the factor by a vector.
        let factors = 1.0 + outcomes.saturating_sub(arms) as f64;
        let seconds = MULTIPLY * n * n * (n / 6.0 * factors + t) + n * t * COVARIANCE;
        posterior.and(Effort::due_to(ARMS, arms, 2.0 * NUMBER * n * n, seconds))
    }

    fn most_arms(&self) -> Option<u64> {
        (self.sampling == Sampling::Joint).then_some(MATRIX_ARMS)
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        let learner = "ThompsonSampling";
        let model = covariance(learner, arms)?;
        let prior = match self.sampling {
            Sampling::Joint if arms.n > MAX_ARMS => {
                return Err(BuildError::TooManyArms { learner, found: arms.n, most: MAX_ARMS });
            }
            Sampling::Joint => {
                Some(Cholesky::with_jitter(arms.n, &model.dense()).map_err(BuildError::Model)?)
            }
            Sampling::Marginal => None,
        };
        let posterior = AdaptivePosterior::new(model.clone(), arms.noise_variance, arms.mean);
        Ok(Box::new(State { recipe: self.clone(), posterior, prior, current: None }))
    }
}

impl State {
    /// A random function with mean zero. With `Joint`, it has the covariance of the posterior. With `Marginal`, its values
    /// are independent and have the variances of the posterior.
    fn deviation(&self, stream: &mut Stream) -> Vec<f64> {
        let n = self.posterior.mean().len();
        let mut z = vec![0.0; n];
        match (&self.posterior, &self.prior, &self.current) {
            (AdaptivePosterior::Candidates(posterior), Some(prior), _) => {
                stream.fill_normal(&mut z);
                let mut draw = posterior.sample(&prior.times(&z), stream);
                draw.iter_mut().zip(posterior.mean()).for_each(|(value, mean)| *value -= mean);
                draw
            }
            (AdaptivePosterior::ArmSpace(_), _, Some(current)) => {
                stream.fill_normal(&mut z);
                current.times(&z)
            }
            (AdaptivePosterior::Candidates(_), None, _) | (AdaptivePosterior::ArmSpace(_), _, None) => {
                stream.fill_normal(&mut z);
                z.iter_mut().zip(self.posterior.variance()).for_each(|(z, variance)| *z *= variance.sqrt());
                z
            }
        }
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.posterior.mean().len()
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        let mut scores = self.deviation(stream);
        let scale = self.recipe.scale.get();
        scores.iter_mut().zip(self.posterior.mean()).for_each(|(z, mean)| *z = mean + scale * *z);
        largest(&scores)
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        self.posterior.observe(arm, outcome)?;
        if let (AdaptivePosterior::ArmSpace(posterior), Sampling::Joint) =
            (&self.posterior, self.recipe.sampling)
        {
            self.current = Some(posterior.factor()?);
        }
        Ok(())
    }

    fn predicted(&self, arm: usize) -> Option<f64> {
        Some(self.posterior.mean()[arm])
    }

    fn jitter(&self) -> f64 {
        let factors = [&self.prior, &self.current].into_iter().flatten().map(Cholesky::jitter);
        factors.fold(self.posterior.jitter(), f64::max)
    }
}
