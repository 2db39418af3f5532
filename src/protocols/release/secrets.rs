//! The results of a search, computed without the network. An audit compares them with those on a neighbouring data set.

use super::failure::CannotRelease;
use super::outcomes::Trials;
use super::publication::{Search, Task, Utility};
use super::{Release, ReleaseSeries};
use crate::learners::BuildError;
use crate::programs::Programs;
use crate::rng::Key;

/// The trials of a finished search. They are as sensitive as the data.
#[derive(Clone, Debug)]
pub struct TrialResults(Trials);

impl TrialResults {
    /// The utility of each setting.
    ///
    /// # Errors
    /// [`CannotRelease`], if a setting that is needed was never tried, or if the posterior mean cannot be computed.
    pub fn utilities(&self, task: &Task, utility: Utility) -> Result<Vec<f64>, CannotRelease> {
        self.0.utilities(task, task.n(), utility)
    }

    /// The largest outcome.
    #[must_use]
    pub fn best(&self) -> Option<f64> {
        self.0.best()
    }

    /// The outcome of the last trial.
    #[must_use]
    pub fn last(&self) -> Option<f64> {
        self.0.last()
    }

    /// The mean outcome of one setting, if it has been tried.
    #[must_use]
    pub fn mean(&self, setting: usize) -> Option<f64> {
        self.0.mean(setting)
    }
}

impl Release {
    /// The search of a series, trial by trial, if the settings have these noise-free `values`. The noise of a trial is drawn
    /// from a child of `noise`; `key` is the replication's node of the seed tree.
    ///
    /// # Errors
    /// [`CannotRelease`], if the learner cannot be built or updated, if it chooses a setting that does not exist, or if the
    /// search has no single result that could be compared: every setting is chosen privately, or the number of trials is
    /// random or depends on noisy outcomes.
    pub fn secrets(
        &self,
        series: &ReleaseSeries,
        task: &Task,
        values: &[f64],
        noise: Key,
        key: Key,
    ) -> Result<TrialResults, CannotRelease> {
        let publication = series.publication.as_dyn();
        let noise_sd = if publication.noise_free() { 0.0 } else { task.noise_sd };
        let outcome =
            |trial: u64, setting: usize| values[setting] + noise_sd * noise.index(trial).stream().normal();
        let mut trials = Trials::new(true);
        match publication.search(task)? {
            Search::Learner(learner) => {
                let programs = Programs::default();
                let mut learner = learner.begin(&task.arms(), &programs)?;
                let mut stream = key.child("party").child(&self.owner).child("learner").stream();
                for trial in 0..self.rounds {
                    let setting = learner.suggest(&mut stream);
                    let found = outcome(trial, setting);
                    learner.observe(setting, found)?;
                    trials.add(setting, found);
                }
                if let Some(failure) = programs.failure() {
                    return Err(BuildError::from(failure).into());
                }
            }
            Search::Everything => {
                (0..values.len()).for_each(|setting| trials.add(setting, outcome(setting as u64, setting)));
            }
            Search::Sampling(_) | Search::Repeated(_) | Search::UntilAbove { .. } => {
                return Err(CannotRelease::NoOneSecret { series: series.name.clone() });
            }
            Search::Nothing => {}
        }
        Ok(TrialResults(trials))
    }
}
