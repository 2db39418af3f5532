//! Uniformly random choice of arms: a baseline that does not use the arms' inputs.

use super::arms::{Arms, BuildError};
use super::{Learner, LearnerRecipe};
use crate::gp::GpError;
use crate::rng::Stream;
use crate::vocab::Effort;
use crate::vocab::effort::COVARIANCE;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every arm with the same probability in every round: `Random()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Random {}

#[derive(Clone, Debug)]
struct State {
    arms: usize,
}

impl LearnerRecipe for Random {
    fn effort(&self, _: u64, outcomes: u64) -> Effort {
        Effort::new(0.0, COVARIANCE * outcomes as f64)
    }

    fn needs_inputs(&self) -> bool {
        false
    }

    fn ignores_outcomes(&self) -> bool {
        true
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        Ok(Box::new(State { arms: arms.n }))
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.arms
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        stream.below(self.arms as u64) as usize
    }

    fn observe(&mut self, _: usize, _: f64) -> Result<(), GpError> {
        Ok(())
    }
}
