//! The methods that choose the next setting to try.

use super::failure::CannotRelease;
use super::publication::{Search, Task};
use super::sampling::Sampler;
use crate::learners::{Learner, LearnerModel, Random};
use crate::programs::Programs;
use crate::rng::Stream;
use std::sync::Arc;

/// The method that chooses the next setting.
#[derive(Clone)]
pub(super) enum Searcher {
    Learner(Box<dyn Learner>),
    Everything,
    Sampler(Sampler),
    /// Settings drawn uniformly, a random number of them.
    Repeated,
}

impl Searcher {
    /// The method before its first trial, and the number of trials in total. In a dry run a learner is replaced by random
    /// choices. A random number of trials is drawn from `stream`.
    ///
    /// # Errors
    /// [`CannotRelease`] if the learner cannot be built.
    pub(super) fn begin(
        search: Search,
        task: &Arc<Task>,
        programs: &Programs,
        dry: bool,
        stream: &mut Stream,
    ) -> Result<(Self, u64), CannotRelease> {
        Ok(match search {
            Search::Learner(learner) => {
                let learner = if dry { LearnerModel::from(Random {}) } else { learner };
                let learner = match task.on_box() {
                    Some(model) => learner.begin_on_box(&model, programs)?,
                    None => learner.begin(&task.arms(), programs)?,
                };
                (Self::Learner(learner), task.rounds)
            }
            Search::Everything => (Self::Everything, task.n() as u64),
            Search::Sampling(how) => (Self::Sampler(Sampler::new(how, task, dry)), task.rounds),
            Search::Repeated(repetitions) => (Self::Repeated, repetitions.draw(stream)),
            Search::Nothing => (Self::Everything, 0),
        })
    }

    /// Tells the method an outcome. Returns the jitter of its model, which the outcome has updated; 0 if it
    /// has no model.
    ///
    /// # Errors
    /// [`CannotRelease::Trial`] if the model cannot process the outcome.
    pub(super) fn observe(&mut self, trial: u64, setting: usize, outcome: f64) -> Result<f64, CannotRelease> {
        match self {
            Self::Learner(learner) => {
                learner.observe(setting, outcome).map_err(|error| CannotRelease::Trial { trial, error })?;
                Ok(learner.jitter())
            }
            Self::Sampler(sampler) => {
                sampler.observe(setting, outcome);
                Ok(0.0)
            }
            Self::Everything | Self::Repeated => Ok(0.0),
        }
    }
}
