//! Publishes the best setting that was tried, and the best outcome, without protection: the non-private baseline.

use super::{Part, Plan, Publication, Search, SettingRelease, Task, Utility, ValueOf, ValueRelease};
use crate::learners::{LearnerModel, ProblemConstants};
use crate::objectives::Extent;
use crate::privacy::mechanisms::{Argmax, Disclosure};
use crate::protocols::release::failure::CannotRelease;
use crate::protocols::stage::series::too_many_points;
use crate::vocab::{Effort, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Publishes the setting with the best mean outcome, and the best outcome, without protection. No finite epsilon holds.
///
/// Example: `NonPrivate(learner: GpUcb())`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NonPrivate {
    /// How the next setting to try is chosen.
    pub learner: LearnerModel,
    /// Which results are published. Default: `Both`.
    #[serde(default)]
    pub publish: Part,
}

impl Publication for NonPrivate {
    fn problems(&self) -> Vec<Problem> {
        let problems = self.learner.as_dyn().problems();
        let problems = problems.into_iter().map(|problem| problem.below(self.learner.name()));
        let facts = ProblemConstants { horizon: Some(1), ..ProblemConstants::default() };
        problems.chain(self.learner.missing_quantity(facts)).map(|problem| problem.below("learner")).collect()
    }

    fn problems_of_size(&self, problem: &Extent) -> Vec<Problem> {
        too_many_points(&self.learner, problem).into_iter().map(|found| found.below("learner")).collect()
    }

    fn effort(&self, arms: u64, rounds: u64) -> Effort {
        self.learner.as_dyn().effort(arms, rounds)
    }

    fn allows_missing_outcomes(&self) -> bool {
        true
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Learner(self.learner.clone()))
    }

    fn needs_finite_set(&self) -> Option<&'static str> {
        None
    }

    fn learner(&self) -> Option<&LearnerModel> {
        Some(&self.learner)
    }

    fn chooses_at_random(&self) -> bool {
        self.learner.as_dyn().ignores_outcomes()
    }

    fn plan(&self, _: &Task) -> Result<Plan, CannotRelease> {
        let setting = self
            .publish
            .setting()
            .then(|| SettingRelease { mechanism: Box::new(Argmax), utility: Utility::OutcomesOfTried });
        let value = self
            .publish
            .value()
            .then(|| ValueRelease { mechanism: Box::new(Disclosure::new()), of: ValueOf::Best });
        Ok(Plan { setting, value, ..Plan::default() })
    }
}
