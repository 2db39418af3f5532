//! A learner for several questions at a time: a copy of the learner observes filled-in outcomes of the pending questions,
//! and then chooses the next arm.

use super::arms::{Arms, BoxModel, BuildError};
use super::{Learner, LearnerModel, LearnerRecipe, Outcomes};
use crate::gp::GpError;
use crate::programs::Programs;
use crate::rng::Stream;
use crate::vocab::{Effort, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The outcome that a pending question is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum PendingOutcome {
    /// The posterior mean at the question's arm (kriging believer: Ginsbourger, Le Riche and Carraro 2010,
    /// section 4.2). The posterior means of all arms stay as they are, and the variances fall as if
    /// the outcome had been observed. The exception is an `Acquisition` that fits its hyperparameters: it fits them to the
    /// filled-in outcomes too, so the means may change, and the variances may change differently. With `GpUcb`, the
    /// kriging believer is GP-BUCB (Desautels, Krause and Burdick 2014, Algorithm 1). The regret bound of GP-BUCB needs
    /// beta_t to be raised by a factor e^(2C), where C bounds the information gain of the pending questions. Reports show no
    /// bound for GP-BUCB. `KrigingBeliever` needs a learner with a posterior mean: `GpUcb`, `ExpectedImprovement`,
    /// `ThompsonSampling` or `Acquisition`.
    #[default]
    KrigingBeliever,
    /// The smallest outcome so far (constant liar: Ginsbourger, Le Riche and Carraro 2010, section 4.2). With this choice
    /// the questions spread the most.
    ConstantMin,
    /// The mean of the outcomes so far.
    ConstantMean,
    /// The largest outcome so far. With this choice the questions gather where outcomes are good.
    ConstantMax,
}

/// A learner that takes pending questions (queries without an outcome yet) into account. Several questions
/// are pending where the workers of `Release` or the users of `Local` are asked at the same time,
/// and in `Outsourced` with `queries_at_once` above 1. Without `Parallel`, every learner
/// except `Acquisition` chooses as if the pending questions had not been asked; a learner without
/// randomness then often asks many workers about the same arm.
///
/// If questions are pending when an arm is to be chosen, a copy of the learner is made. The copy observes an outcome for
/// each pending question, the oldest question first; these outcomes are filled in as `pending` says. Then the copy chooses
/// the arm. Filled-in outcomes depend only on outcomes that were observed. Before the first outcome, `ConstantMin`,
/// `ConstantMean` and `ConstantMax` fill in the prior mean. No theorem is shown for the learner, since the theorems assume
/// that every outcome is known before the next choice. `ThompsonSampling` spreads its questions by its own random draws, and
/// so can be used without `Parallel` (Kandasamy et al. 2018).
///
/// Example: `Parallel(learner: GpUcb(), pending: KrigingBeliever)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Parallel {
    /// The learner that is copied; neither an external program nor another `Parallel`.
    pub learner: Box<LearnerModel>,
    /// The outcome that a pending question is given. Default: `KrigingBeliever`.
    #[serde(default)]
    pub pending: PendingOutcome,
}

#[derive(Clone, Debug)]
struct State {
    learner: Box<dyn Learner>,
    pending: PendingOutcome,
    prior_mean: f64,
    /// Number of the outcomes so far; `sum` is their sum, and `range` has the smallest and the largest of them.
    count: u64,
    sum: f64,
    range: (f64, f64),
    /// The largest jitter that a copy of the learner has needed.
    jitter: f64,
}

/// Time for copying the learner and observing pending questions, in multiples of the learner's own time, for the
/// estimate of the effort.
const FORESEEN: f64 = 8.0;

impl Parallel {
    fn inner(&self) -> &dyn LearnerRecipe {
        self.learner.as_dyn()
    }

    fn state(&self, learner: Box<dyn Learner>, prior_mean: f64) -> Box<dyn Learner> {
        Box::new(State {
            learner,
            pending: self.pending,
            prior_mean,
            count: 0,
            sum: 0.0,
            range: (f64::INFINITY, f64::NEG_INFINITY),
            jitter: 0.0,
        })
    }

    fn below(&self, problems: Vec<Problem>) -> impl Iterator<Item = Problem> {
        let place = format!("learner.{}", self.learner.name());
        problems.into_iter().map(move |problem| problem.below(&place))
    }
}

impl LearnerRecipe for Parallel {
    fn needs_inputs(&self) -> bool {
        self.inner().needs_inputs()
    }

    fn ignores_outcomes(&self) -> bool {
        self.inner().ignores_outcomes()
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems: Vec<Problem> = self.below(self.inner().problems()).collect();
        let name = self.learner.name();
        if self.learner.get::<Self>().is_some() || !self.inner().programs().is_empty() {
            let expected = "a learner that is neither an external program nor Parallel";
            problems.push(Problem::wrong("learner", expected, name, "write learner: GpUcb(), for example"));
        } else if self.pending == PendingOutcome::KrigingBeliever && !self.inner().predicts() {
            let expected = "a learner with a posterior mean, for the pending outcomes of KrigingBeliever";
            let cure = "write learner: GpUcb(), for example, or pending: ConstantMean";
            problems.push(Problem::wrong("learner", expected, name, cure));
        }
        problems
    }

    fn problems_with(&self, outcomes: Outcomes) -> Vec<Problem> {
        self.below(self.inner().problems_with(outcomes)).collect()
    }

    fn predicts(&self) -> bool {
        self.inner().predicts()
    }

    fn moment(&self, arms: &Arms) -> Option<(f64, f64)> {
        self.inner().moment(arms)
    }

    fn effort(&self, arms: u64, outcomes: u64) -> Effort {
        let alone = self.inner().effort(arms, outcomes);
        let copies = Effort::new(0.0, FORESEEN * alone.seconds);
        alone.times(2.0).and(copies)
    }

    fn most_arms(&self) -> Option<u64> {
        self.inner().most_arms()
    }

    fn searches_boxes(&self) -> bool {
        self.inner().searches_boxes()
    }

    fn build_on_box(&self, model: &BoxModel) -> Result<Box<dyn Learner>, BuildError> {
        Ok(self.state(self.inner().build_on_box(model)?, model.mean))
    }

    fn build(&self, arms: &Arms) -> Result<Box<dyn Learner>, BuildError> {
        self.build_with(arms, &Programs::default())
    }

    fn build_with(&self, arms: &Arms, programs: &Programs) -> Result<Box<dyn Learner>, BuildError> {
        Ok(self.state(self.inner().build_with(arms, programs)?, arms.mean))
    }
}

impl State {
    /// The outcome that a pending question about `arm` is given. `learner` is the copy that observes this outcome.
    fn filled_in(&self, learner: &dyn Learner, arm: usize) -> f64 {
        if self.pending == PendingOutcome::KrigingBeliever {
            return learner.predicted(arm).unwrap_or(self.prior_mean);
        }
        match self.pending {
            _ if self.count == 0 => self.prior_mean,
            PendingOutcome::ConstantMin => self.range.0,
            PendingOutcome::ConstantMax => self.range.1,
            PendingOutcome::ConstantMean | PendingOutcome::KrigingBeliever => self.sum / self.count as f64,
        }
    }
}

impl Learner for State {
    fn arms(&self) -> usize {
        self.learner.arms()
    }

    fn suggest(&mut self, stream: &mut Stream) -> usize {
        self.learner.suggest(stream)
    }

    fn suggest_while(&mut self, pending: &[usize], stream: &mut Stream) -> usize {
        if pending.is_empty() {
            return self.suggest(stream);
        }
        let mut copy = self.learner.clone();
        for &arm in pending {
            let outcome = self.filled_in(copy.as_ref(), arm);
            // If the copy cannot observe a filled-in outcome, the next arm is chosen as if no question were pending. Errors
            // of real outcomes are still reported.
            if copy.observe(arm, outcome).is_err() {
                copy = self.learner.clone();
                break;
            }
        }
        let arm = copy.suggest(stream);
        self.jitter = self.jitter.max(copy.jitter());
        if let Some(point) = copy.point(arm)
            && self.learner.point(arm).is_none()
        {
            self.learner.add_point(point);
        }
        self.learner.replay_choice(arm, stream);
        arm
    }

    fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        self.learner.observe(arm, outcome)?;
        self.count += 1;
        self.sum += outcome;
        self.range = (self.range.0.min(outcome), self.range.1.max(outcome));
        Ok(())
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

    fn wanted(&self) -> usize {
        self.learner.wanted()
    }

    fn predicted(&self, arm: usize) -> Option<f64> {
        self.learner.predicted(arm)
    }

    fn jitter(&self) -> f64 {
        self.jitter.max(self.learner.jitter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gp::covariance::Covariance;
    use crate::gp::{AdaptivePosterior, ArmCovariance, Points, largest};
    use crate::learners::{GpUcb, ProblemConstants};
    use crate::rng::Key;
    use std::sync::Arc;

    fn arms() -> Arms {
        let points = Arc::new(Points::new(40, 1, (0..40).map(|i| f64::from(i) / 40.0).collect()));
        let covariance = ArmCovariance::of_inputs(points, Covariance::squared_exponential(0.1, 1.0));
        Arms {
            n: 40,
            covariance: Some(covariance),
            noise_variance: 0.01,
            mean: 0.3,
            facts: ProblemConstants::default(),
        }
    }

    /// GP-BUCB by its definition: the mean is computed from the observed outcomes only, and the variance also counts the
    /// pending arms.
    #[test]
    fn a_kriging_believer_of_gp_ucb_is_gp_bucb() {
        let arms = arms();
        let recipe =
            Parallel { learner: Box::new(GpUcb::default().into()), pending: PendingOutcome::default() };
        let mut learner = recipe.build(&arms).unwrap();
        let new = || AdaptivePosterior::new(arms.covariance.clone().unwrap(), 0.01, 0.3);
        let (mut observed, mut hallucinated) = (new(), new());
        let (mut stream, mut pending) = (Key::root(3).stream(), Vec::new());
        for (arm, outcome) in [(7, 1.2), (30, -0.4), (12, 0.8)] {
            learner.observe(arm, outcome).unwrap();
            observed.observe(arm, outcome).unwrap();
            hallucinated.observe(arm, outcome).unwrap();
        }
        for t in 1..=12 {
            let weight = crate::learners::BetaSchedule::default().at(t, 40).sqrt();
            let bounds = observed.mean().iter().zip(hallucinated.variance());
            let bounds: Vec<f64> = bounds.map(|(mean, variance)| mean + weight * variance.sqrt()).collect();
            let arm = learner.suggest_while(&pending, &mut stream);
            let best = bounds[largest(&bounds)];
            assert!(bounds[arm] > best - 1e-9, "round {t}: arm {arm}, {} below {best}", bounds[arm]);
            pending.push(arm);
            // Any outcome gives the same variances.
            hallucinated.observe(arm, 17.0).unwrap();
        }
        let distinct: std::collections::BTreeSet<usize> = pending.iter().copied().collect();
        assert!(distinct.len() >= 8, "{pending:?}");
    }

    #[test]
    fn constants_are_those_of_the_outcomes() {
        let arms = arms();
        for (pending, expected) in [
            (PendingOutcome::ConstantMin, -1.0),
            (PendingOutcome::ConstantMean, 0.5),
            (PendingOutcome::ConstantMax, 2.0),
        ] {
            let inner: Box<dyn Learner> = GpUcb::default().build(&arms).unwrap();
            let mut state = State {
                learner: inner,
                pending,
                prior_mean: 0.3,
                count: 0,
                sum: 0.0,
                range: (f64::INFINITY, f64::NEG_INFINITY),
                jitter: 0.0,
            };
            assert_eq!(state.filled_in(state.learner.as_ref(), 4), 0.3);
            for outcome in [0.5, -1.0, 2.0] {
                state.observe(3, outcome).unwrap();
            }
            assert!((state.filled_in(state.learner.as_ref(), 4) - expected).abs() < 1e-12);
        }
    }
}
