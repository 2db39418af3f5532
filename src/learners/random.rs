//! Uniformly random choice of arms or points: a baseline that uses neither the arms' inputs nor the outcomes.

use super::arms::{Arms, BoxModel, BuildError};
use super::{Learner, LearnerRecipe};
use crate::gp::GpError;
use crate::rng::Stream;
use crate::vocab::effort::COVARIANCE;
use crate::vocab::{Effort, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Chooses every arm with the same probability in every round: `Random()`. On a box, every input is drawn independently and
/// uniformly; for an input on a logarithmic scale, the logarithm is drawn uniformly.
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

    fn searches_boxes(&self) -> bool {
        true
    }

    fn build_on_box(&self, model: &BoxModel) -> Result<Box<dyn Learner>, BuildError> {
        Ok(Box::new(InBox { domain: model.domain.clone(), points: Vec::new() }))
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

/// The search of a box, with all points that were suggested or added so far.
#[derive(Clone, Debug)]
struct InBox {
    domain: SearchBox,
    points: Vec<Vec<f64>>,
}

impl Learner for InBox {
    fn arms(&self) -> usize {
        self.points.len()
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        let shares: Vec<f64> = (0..self.domain.d()).map(|_| stream.uniform()).collect();
        self.points.push(self.domain.from_unit(&self.domain.at_shares(&shares)));
        self.points.len() - 1
    }

    fn observe(&mut self, _: usize, _: f64) -> Result<(), GpError> {
        Ok(())
    }

    fn replay_choice(&mut self, _: usize, stream: &mut Stream) {
        for _ in 0..self.domain.d() {
            stream.uniform();
        }
    }

    fn point(&self, arm: usize) -> Option<&[f64]> {
        self.points.get(arm).map(Vec::as_slice)
    }

    fn add_point(&mut self, point: &[f64]) -> Option<usize> {
        self.points.push(point.to_vec());
        Some(self.points.len() - 1)
    }
}
