//! The history of a learner: its suggestions and outcomes. Another learner that takes the learner's place needs them.

use super::Learner;
use crate::gp::GpError;
use crate::rng::Stream;

/// The suggestions and outcomes of a learner, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    steps: Vec<Step>,
    /// Over a box: the suggested points; a point's number is its position.
    points: Vec<Vec<f64>>,
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The learner suggested this arm.
    Suggested(u32),
    /// The learner observed the outcome of an arm.
    Observed(u32, f64),
}

impl History {
    /// Adds a suggestion: the number of the arm, from 0.
    pub(crate) fn suggested(&mut self, arm: usize) {
        self.steps.push(Step::Suggested(arm as u32));
    }

    /// Over a box: stores the point with number `arm`, unless the point is stored already.
    pub(crate) fn suggested_point(&mut self, arm: usize, point: &[f64]) {
        if arm == self.points.len() {
            self.points.push(point.to_vec());
        }
    }

    /// Adds the outcome of the arm with this number (from 0).
    pub(crate) fn observed(&mut self, arm: usize, outcome: f64) {
        self.steps.push(Step::Observed(arm as u32, outcome));
    }

    /// Repeats the whole history of the old learner for its replacement `learner`: calls `replay_choice` of `learner` for
    /// each suggestion, and `observe` of `learner` for each outcome. Over a box, a suggested point that `learner` does not
    /// have is added to `learner` first. `stream` is the stream of both learners in its initial state. So a replacement with
    /// almost the same settings as the old learner ends in almost the same state as the old learner.
    ///
    /// # Errors
    /// [`GpError`] if `learner` cannot be updated with an outcome; see [`Learner::observe`].
    ///
    /// # Panics
    /// If `learner` has fewer arms than the old learner; see [`Learner::observe`].
    pub(crate) fn replay_into(&self, learner: &mut dyn Learner, mut stream: Stream) -> Result<(), GpError> {
        self.steps.iter().try_for_each(|step| match *step {
            Step::Suggested(arm) => {
                if let Some(point) = self.points.get(arm as usize)
                    && learner.point(arm as usize).is_none()
                {
                    learner.add_point(point);
                }
                learner.replay_choice(arm as usize, &mut stream);
                Ok(())
            }
            Step::Observed(arm, outcome) => learner.observe(arm as usize, outcome),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::{Covariance, Shape};
    use crate::gp::{ArmCovariance, Points};
    use crate::learners::{Arms, LearnerRecipe, MomaGpUcb, ProblemConstants};
    use crate::rng::Key;
    use std::sync::Arc;

    /// MoMA-GP-UCB, which changes its arm only between epochs, replaces a learner that changed its arm at any time.
    #[test]
    fn moma_makes_epochs_of_the_history_of_another_learner() {
        let points = Arc::new(Points::new(3, 1, vec![0.0, 0.5, 1.0]));
        let covariance = Covariance::new(Shape::SquaredExponential, 0.2, 1.0);
        let arms = Arms {
            n: 3,
            covariance: Some(ArmCovariance::of_inputs(points, covariance)),
            noise_variance: 0.01,
            mean: 0.0,
            facts: ProblemConstants { horizon: Some(100), bound: Some(1.0), ..ProblemConstants::default() },
        };
        let recipe: MomaGpUcb = ron::from_str(
            "(constants: OrderWise, repetitions: Some(3), beta_scale: 0.001, payoffs: HeavyTailed(central_moment: 0.01))",
        )
        .unwrap();
        let mut learner = recipe.build(&arms).unwrap();
        let mut history = History::default();
        // Two outcomes of arm 0 alternate with three outcomes of arm 1. The third outcome of arm 1 is late. Arm 2 has been
        // suggested and has no outcome yet.
        for (arm, outcome) in [(1, 0.9), (0, -0.5), (1, 1.0)] {
            history.suggested(arm);
            history.observed(arm, outcome);
        }
        for arm in [1, 0, 2] {
            history.suggested(arm);
        }
        history.observed(0, -0.5);
        history.observed(1, 1.1);
        let stream = Key::root(1).stream();
        history.replay_into(learner.as_mut(), stream.clone()).unwrap();
        let mut stream = stream;
        let mut play = |learner: &mut Box<dyn Learner>, outcome: f64| {
            let (arm, wanted) = (learner.suggest(&mut stream), learner.wanted());
            (0..wanted).for_each(|_| learner.observe(arm, outcome).unwrap());
            (arm, wanted)
        };
        assert_eq!(play(&mut learner, -0.5), (2, 3), "arm 2, suggested last, has the current epoch");
        assert_eq!(play(&mut learner, -2.0), (1, 3), "arm 1 has a full epoch, with the largest outcomes");
        assert_eq!(play(&mut learner, -2.0), (0, 1), "arm 0 has two outcomes: its epoch lacks one");
    }
}
