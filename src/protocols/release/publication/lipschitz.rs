//! Algorithm 3 of Kusner et al. 2015: any search, a Lipschitz validation loss and a convex, regularised training.

use super::{
    Constants, Guarantee, Measure, Plan, Publication, Search, TAIL, Task, TaskFacts, TaskOutline, ValueOf,
    ValueRelease, positive, tail_probability,
};
use crate::learners::{LearnerModel, ProblemConstants};
use crate::objectives::{Extent, TuningFacts};
use crate::privacy::mechanisms::{Laplace, NoiseArithmetic, TheoremMechanism};
use crate::protocols::release::constants as k;
use crate::protocols::release::failure::CannotRelease;
use crate::protocols::stage::series::too_many_points;
use crate::vocab::{Basis, Claim, Effort, Epsilon, Problem, SearchBox};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A learner searches, and the best outcome is published with Laplace noise. The publication is epsilon-DP, without any
/// assumption on a prior, if three conditions hold: models are trained by minimising a convex, regularised loss; a value of
/// the function is minus the mean validation loss of such a model; and the validation loss has the constants that the
/// objective or `assume` states.
/// With `Printed` constants, epsilon-DP is not proven.
///
/// A part of the sensitivity does not shrink with more records, since the searches of two neighbours may end at different
/// settings. The bound on this part holds for any two values of the regularisation lambda between `lambda_min` and
/// `lambda_max`. So it also holds on a box whose only input is lambda.
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, Algorithm 3, Theorems 7 and 8.
///
/// Example: `Lipschitz(epsilon: 1, learner: GpUcb(), assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1,
/// lambda_min: 0.1, lambda_max: 1))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lipschitz {
    /// epsilon of the release.
    pub epsilon: Epsilon,
    /// How the next setting to try is chosen.
    pub learner: LearnerModel,
    /// Constants of the noise. With `Corrected`, the effect of one record on the loss of one setting is taken to be the
    /// smaller of 2 L / (m lambda_min) and g / m, and the sensitivity of the best outcome is at most g. Here L is the
    /// Lipschitz constant of the loss, m the number of validation records and g the range of the loss. `Printed` has L in
    /// place of 2 L, and does not limit the sensitivity to g. Default: `Corrected`.
    #[serde(default)]
    pub constants: Constants,
    /// Facts of the tuning task that the proof needs, for objectives that do not state them. Default: what the
    /// objective states.
    #[serde(default)]
    pub assume: Option<TaskFacts>,
    /// How noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

/// Sensitivity of the best outcome found: the sensitivity of one setting's loss plus the largest distance between the losses
/// of two settings; with `Corrected` constants, at most the range of the loss.
#[must_use]
pub fn sensitivity(facts: TuningFacts, constants: Constants) -> f64 {
    let TuningFacts { records, loss_range, lipschitz, lambda_min, lambda_max } = facts;
    let path = k::path_length(lipschitz, lambda_min, lambda_max);
    let with = |reach| k::record_sensitivity(records, loss_range, lipschitz, lambda_min, reach) + path;
    match constants {
        Constants::Corrected => with(2.0).min(loss_range),
        Constants::Printed => with(1.0),
    }
}

impl Publication for Lipschitz {
    /// Kusner et al. 2015 state Corollary 4 for a finite set of settings, but the proof of Corollary 4 uses only Theorem 7,
    /// which is about any two values of lambda. The best outcomes of two neighbours' searches are outcomes at two such
    /// values between `lambda_min` and `lambda_max`.
    fn needs_finite_set(&self) -> Option<&'static str> {
        None
    }

    fn problem_on_box(&self, domain: &SearchBox) -> Option<Problem> {
        let cure = "search one input, the regularisation: dimensions: [Real(name: \"lambda\", low: 0.1, high: 1, scale: Log)]";
        let [(low, high)] = domain.sides() else {
            let expected = "a box with one input, lambda: Theorem 7 of Kusner et al. 2015 bounds how far losses at two values of \
                            lambda lie apart, and says nothing about another input";
            return Some(Problem::wrong("", expected, format!("{} inputs", domain.d()), cure));
        };
        if domain.categories().iter().any(|list| !list.is_empty()) {
            let expected = "a box with one input, lambda, which is a number";
            return Some(Problem::wrong("", expected, "a category", cure));
        }
        let assumed = self.assume?;
        let (least, most) = (assumed.lambda_min.get(), assumed.lambda_max.get());
        (*low < least || *high > most).then(|| {
            let expected = format!("a box within lambda_min and lambda_max, {least} to {most}");
            let found = format!("{low} to {high}");
            Problem::wrong(
                "assume",
                expected,
                found,
                "state the ends of the box as lambda_min and lambda_max",
            )
        })
    }

    fn learner(&self) -> Option<&LearnerModel> {
        Some(&self.learner)
    }

    fn laplace_epsilon(&self) -> Option<(f64, NoiseArithmetic)> {
        Some((self.epsilon.get(), self.arithmetic))
    }

    fn problems(&self) -> Vec<Problem> {
        let problems = self.learner.as_dyn().problems();
        let problems = problems.into_iter().map(|problem| problem.below(self.learner.name()));
        let facts = ProblemConstants { horizon: Some(1), ..ProblemConstants::default() };
        problems.chain(self.learner.missing_quantity(facts)).map(|problem| problem.below("learner")).collect()
    }

    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        foreseen.loss_problems(self.assume)
    }

    fn problems_of_size(&self, problem: &Extent) -> Vec<Problem> {
        let mut problems: Vec<Problem> =
            too_many_points(&self.learner, problem).into_iter().map(|found| found.below("learner")).collect();
        if problem.inputs != 1 && !problem.is_box {
            let expected = "settings with one input, lambda: Theorem 7 of Kusner et al. 2015 bounds how far losses at two values \
                            of lambda lie apart, and says nothing about another input";
            let cure = "search one input, or write FixedGrid(..), whose noise does not depend on the path of the search";
            problems.push(Problem::wrong("", expected, format!("{} inputs", problem.inputs), cure));
        }
        problems
    }

    fn effort(&self, arms: u64, rounds: u64) -> Effort {
        self.learner.as_dyn().effort(arms, rounds)
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Learner(self.learner.clone()))
    }

    fn chooses_at_random(&self) -> bool {
        self.learner.as_dyn().ignores_outcomes()
    }

    fn assumed(&self) -> Option<TaskFacts> {
        self.assume
    }

    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease> {
        let (facts, basis) = task.loss_facts(self.assume)?;
        if task.inputs.d() != 1 && task.domain.is_none() {
            return Err(CannotRelease::SeveralInputs { inputs: task.inputs.d() });
        }
        let of_lambda = match (&task.domain, self.assume) {
            (Some(_), _) => Some("the input of the box being lambda".to_owned()),
            (None, Some(_)) => Some("the input of the settings being lambda".to_owned()),
            (None, None) => None,
        };
        let basis = basis.with_conditions(of_lambda.as_slice());
        let sensitivity = sensitivity(facts, self.constants);
        let laplace = Laplace::calibrated(self.epsilon, positive("sensitivity", sensitivity)?)?
            .computed_within(task.rounding()?)
            .with(self.arithmetic);
        let claim = Claim {
            epsilon: self.epsilon.get(),
            delta: 0.0,
            source: "Kusner, Gardner, Garnett and Weinberger 2015, Corollary 4".to_owned(),
            cost: None,
        };
        let (name, basis, source) = match self.constants {
            Constants::Corrected => {
                ("Kusner Algorithm 3, Laplace noise, corrected constants", basis, "Theorem 8, corrected")
            }
            Constants::Printed => {
                ("Kusner Algorithm 3, Laplace noise, printed constants", Basis::AsPublished, "Theorem 8")
            }
        };
        let mechanism = Box::new(TheoremMechanism::new(laplace, name, Some(claim), basis));
        let most = laplace.tail(TAIL);
        Ok(Plan {
            setting: None,
            value: Some(ValueRelease { mechanism, of: ValueOf::Best }),
            guarantees: vec![Guarantee::new(Measure::ErrorAgainstBest, most, tail_probability(), source)],
            ..Plan::default()
        })
    }
}
