//! An objective, a distribution of noise, and a learner.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;
use std::sync::Arc;
use subrosa::gp::covariance::Covariance;
use subrosa::gp::{GpError, Points};
use subrosa::learners::{Arms, BuildError, Learner, LearnerRecipe};
use subrosa::objectives::{
    Fitted, Instance, Noise, NoiseLaw, NoiseModel, Objective, ObjectiveError, Prepared, ProblemFacts,
    Resources, Surrogate,
};
use subrosa::rng::{Key, Stream};
use subrosa::vocab::{Positive, Probability, Problem};

/// -(6x - 2)^2 sin(12x - 4) on equidistant points x of [0, 1]; the inputs are x times `width`.
///
/// Source: Forrester, Sobester and Keane 2008, appendix.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forrester {
    /// Number of points.
    points: NonZeroUsize,
    /// Noise of an outcome.
    noise: NoiseModel,
    /// Largest input. Records move in the units of the inputs.
    #[serde(default = "one")]
    width: Positive,
}

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

impl Objective for Forrester {
    fn problems(&self, _: &Resources) -> Vec<Problem> {
        self.noise.as_dyn().problems().into_iter().map(|problem| problem.below("noise")).collect()
    }

    fn prepare(
        &self,
        _: &Resources,
        _: Option<&Fitted>,
        _: Key,
    ) -> Result<Box<dyn Prepared>, ObjectiveError> {
        Ok(Box::new(Ready(self.clone())))
    }
}

#[derive(Debug)]
struct Ready(Forrester);

impl Prepared for Ready {
    fn realise(&self, _: Key) -> Result<Instance, ObjectiveError> {
        let n = self.0.points.get();
        let at = |i: usize| i as f64 / (n.max(2) - 1) as f64;
        let values = (0..n).map(at).map(|x| -(6.0 * x - 2.0).powi(2) * libm::sin(12.0 * x - 4.0)).collect();
        let width = self.0.width.get();
        Ok(Instance {
            inputs: Arc::new(Points::new(n, 1, (0..n).map(|i| width * at(i)).collect())),
            values: Arc::new(values),
            noise: Noise::Law(self.0.noise.clone()),
            surrogate: Surrogate {
                covariance: Covariance::squared_exponential(0.15 * width, 25.0),
                noise_variance: 0.01,
                mean: 0.0,
            },
            background: ProblemFacts::with_stated_inputs(),
        })
    }
}

/// The sum of two uniform draws: a triangle on [-bound, bound].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TwoDice {
    /// No draw is larger in size.
    bound: Positive,
}

impl NoiseLaw for TwoDice {
    fn draw(&self, stream: &mut Stream) -> f64 {
        self.bound.get() * (stream.uniform() + stream.uniform() - 1.0)
    }

    fn variance(&self) -> f64 {
        self.bound.get() * self.bound.get() / 6.0
    }

    fn bound(&self) -> Option<f64> {
        Some(self.bound.get())
    }
}

/// A random arm with probability `explore`, else the one with the largest outcome so far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explorer {
    /// Probability of a random arm.
    explore: Probability,
}

#[derive(Clone, Debug)]
struct Player {
    explore: f64,
    arms: usize,
    best: Option<(usize, f64)>,
}

impl LearnerRecipe for Explorer {
    fn needs_inputs(&self) -> bool {
        false
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        Ok(Box::new(Player { explore: self.explore.get(), arms: arms.n, best: None }))
    }
}

impl Learner for Player {
    fn arms(&self) -> usize {
        self.arms
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        let (explores, any) = (stream.bernoulli(self.explore), stream.below(self.arms as u64) as usize);
        self.best.filter(|_| !explores).map_or(any, |(arm, _)| arm)
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if self.best.is_none_or(|(_, best)| outcome > best) {
            self.best = Some((arm, outcome));
        }
        Ok(())
    }
}
