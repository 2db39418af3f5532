//! A learner whose choices are checked before they are used. If the learner chooses an arm that does not exist, or a point
//! outside of the box, the replication ends as failed.

use super::arms::{Arms, BoxModel, BuildError};
use super::{Learner, LearnerModel};
use crate::gp::GpError;
use crate::programs::{ProgramFailure, Programs};
use crate::rng::Stream;
use crate::vocab::SearchBox;

#[derive(Clone, Debug)]
struct CheckedLearner {
    learner: Box<dyn Learner>,
    name: &'static str,
    arms: usize,
    /// The box, if queries are points of a box.
    domain: Option<SearchBox>,
    programs: Programs,
}

impl LearnerModel {
    /// The learner before its first round, with the check that protocols rely on: if the learner chooses an arm that does
    /// not exist, the replication ends as failed ([`Programs::failure`]), and the arm is not queried.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build_with`](super::LearnerRecipe::build_with).
    pub fn begin(&self, arms: &Arms, programs: &Programs) -> Result<Box<dyn Learner>, BuildError> {
        let learner = self.as_dyn().build_with(arms, programs)?;
        let (name, programs) = (self.name(), programs.clone());
        Ok(Box::new(CheckedLearner { learner, name, arms: arms.n, domain: None, programs }))
    }

    /// As [`Self::begin`], for a search of a box. If the learner chooses a point outside of the box, the replication ends as
    /// failed.
    ///
    /// # Errors
    /// As [`LearnerRecipe::build_on_box_with`](super::LearnerRecipe::build_on_box_with).
    pub fn begin_on_box(
        &self,
        model: &BoxModel,
        programs: &Programs,
    ) -> Result<Box<dyn Learner>, BuildError> {
        let learner = self.as_dyn().build_on_box_with(model, programs).map_err(|error| match error {
            BuildError::NeedsArms { .. } => BuildError::NeedsArms { learner: self.name().to_owned() },
            other => other,
        })?;
        let (name, programs) = (self.name(), programs.clone());
        Ok(Box::new(CheckedLearner { learner, name, arms: 0, domain: Some(model.domain.clone()), programs }))
    }
}

impl Learner for CheckedLearner {
    fn arms(&self) -> usize {
        if self.domain.is_some() { self.learner.arms() } else { self.arms }
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        self.suggest_while(&[], stream)
    }

    fn suggest_while(&mut self, pending: &[usize], stream: &mut Stream) -> usize {
        let arm = self.learner.suggest_while(pending, stream);
        let exists = match &self.domain {
            Some(domain) => self.learner.point(arm).is_some_and(|point| domain.contains(point)),
            None => arm < self.arms,
        };
        if exists {
            return arm;
        }
        self.programs.fail(ProgramFailure::NoSuchArm {
            learner: self.name.to_owned(),
            arm,
            last: self.arms().saturating_sub(1),
        });
        // The replication has failed, and its further results are dropped, so the returned number does not matter.
        0
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        // After a failure, the queried arm may be one that the learner did not choose, so the learner is given no outcome.
        if self.programs.has_failed() { Ok(()) } else { self.learner.observe(arm, outcome) }
    }

    fn replay_choice(&mut self, arm: usize, stream: &mut Stream) {
        self.learner.replay_choice(arm, stream);
    }

    fn point(&self, arm: usize) -> Option<&[f64]> {
        self.learner.point(arm)
    }

    fn add_point(&mut self, point: &[f64]) -> Option<usize> {
        self.learner.add_point(point)
    }

    fn predicted(&self, arm: usize) -> Option<f64> {
        self.learner.predicted(arm)
    }

    fn wanted(&self) -> usize {
        self.learner.wanted()
    }

    fn jitter(&self) -> f64 {
        self.learner.jitter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learners::{LearnerRecipe, ProblemConstants};
    use crate::rng::Key;
    use serde::Serialize;

    /// The recipe of a learner that, in the third round, chooses an arm that does not exist. The index of this arm is one
    /// above that of the last arm.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    struct Beyond;

    /// The number of arms, and the number of choices so far.
    #[derive(Clone, Debug)]
    struct Counting(usize, usize);

    impl Learner for Counting {
        fn arms(&self) -> usize {
            self.0 + 7
        }
        fn suggest(&mut self, _: &mut Stream) -> usize {
            self.1 += 1;
            if self.1 == 3 { self.0 } else { 1 }
        }
        fn observe(&mut self, arm: usize, _: f64) -> Result<(), GpError> {
            assert_eq!(arm, 1, "an arm that it did not choose");
            Ok(())
        }
    }

    impl LearnerRecipe for Beyond {
        fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
            Ok(Box::new(Counting(arms.n, 0)))
        }
    }

    #[test]
    fn an_arm_that_does_not_exist_is_a_failure_that_names_it() {
        let arms = Arms {
            n: 5,
            covariance: None,
            noise_variance: 0.1,
            mean: 0.0,
            facts: ProblemConstants::default(),
        };
        let programs = Programs::default();
        let mut learner = LearnerModel::from(Beyond).begin(&arms, &programs.of_series("own")).unwrap();
        let mut stream = Key::root(1).stream();
        assert_eq!(learner.arms(), 5);
        for _ in 0..2 {
            let arm = learner.suggest(&mut stream);
            assert_eq!(arm, 1);
            learner.observe(arm, 0.0).unwrap();
        }
        assert!(!programs.has_failed());
        let arm = learner.suggest(&mut stream);
        assert_eq!(arm, 0);
        learner.observe(arm, 0.0).unwrap();
        let said = programs.failure().unwrap().to_string();
        assert_eq!(
            said,
            "the learner Beyond chose arm 5, and the last arm is 4: its `suggest` must return a number below the number of arms"
        );
    }
}
