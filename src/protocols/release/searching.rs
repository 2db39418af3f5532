//! The methods that choose the next setting to try.

use super::failure::CannotRelease;
use super::publication::{Search, Task, TrialOrder};
use super::sampling::Sampler;
use crate::learners::{Learner, LearnerModel, Random};
use crate::privacy::mechanisms::{Compared, Comparisons, FirstAbove};
use crate::programs::Programs;
use crate::rng::Stream;
use std::sync::Arc;

/// The method that chooses the next setting.
#[derive(Clone)]
pub(super) enum Searcher {
    Learner(Box<dyn Learner>),
    Everything,
    Sampler(Sampler),
    /// A random number of settings, each drawn uniformly.
    Repeated,
    /// Settings in a given order, until the noisy outcome of a setting is not below a noisy threshold.
    UntilAbove(Box<UntilAbove>),
}

/// A search that stops at the first setting whose noisy outcome is not below a noisy threshold. Its state is as secret as
/// the outcomes.
#[derive(Clone)]
pub(super) struct UntilAbove {
    pub(super) order: Vec<usize>,
    mechanism: FirstAbove,
    /// The comparisons so far, with a copy of the stream of the mechanisms. The release at the end makes the same
    /// comparisons again, with the same noise drawn from the stream itself, so it selects the trial at which the search
    /// stopped.
    begun: Option<(Comparisons, Stream)>,
}

impl UntilAbove {
    /// Whether the search stops at the trial with this outcome; `stream` is the stream of the mechanisms, from which nothing
    /// has been drawn since the search began.
    ///
    /// # Errors
    /// [`CannotRelease::Mechanism`] if the mechanism cannot compare.
    pub(super) fn stops(&mut self, outcome: f64, stream: &Stream) -> Result<bool, CannotRelease> {
        let (comparisons, copy) = match &mut self.begun {
            Some(begun) => begun,
            none => {
                let mut copy = stream.clone();
                none.insert((self.mechanism.begin(&mut copy)?, copy))
            }
        };
        Ok(comparisons.compare(outcome, copy).is_none_or(|answer| answer != Compared::Below))
    }
}

impl Searcher {
    /// The method before its first trial, and the number of trials; for `UntilAbove`, which may stop earlier, the largest
    /// possible number.
    ///
    /// In a dry run a learner is replaced by random choices. A random number of trials, or a random order of settings, is
    /// drawn from `stream`.
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
            Search::UntilAbove { mechanism, order } => {
                let mut settings: Vec<usize> = (0..task.n()).collect();
                if order == TrialOrder::Random {
                    for last in (1..settings.len()).rev() {
                        settings.swap(last, stream.below(last as u64 + 1) as usize);
                    }
                }
                let total = settings.len() as u64;
                (Self::UntilAbove(Box::new(UntilAbove { order: settings, mechanism, begun: None })), total)
            }
            Search::Nothing => (Self::Everything, 0),
        })
    }

    /// Passes an outcome to the method. Returns the jitter of the learner's model, which the outcome has updated; 0 if the
    /// method updates no model here.
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
            Self::Everything | Self::Repeated | Self::UntilAbove(_) => Ok(0.0),
        }
    }
}
