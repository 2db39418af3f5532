//! Above threshold: settings are tried one after another, and the first whose outcome is above a threshold is published.

use super::{
    BestRelease, Guarantee, Measure, Plan, Publication, Search, TAIL, Task, TaskFacts, TaskOutline,
    TrialOrder, accounted_pure, positive, tail_probability,
};
use crate::privacy::mechanisms::{FirstAbove, Mechanism, NoiseArithmetic, TheoremMechanism};
use crate::protocols::release::failure::CannotRelease;
use crate::protocols::stage::ITERATION;
use crate::vocab::effort::{ARMS, MESSAGE, NUMBER};
use crate::vocab::{Basis, Effort, Epsilon, Finite, Neighbours, NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Settings are tried one after another, each at most once, until the noisy outcome of a setting is not below a noisy
/// threshold: the search stops there, and this setting is published. If there is no such setting, nothing is published. Few
/// models are trained if many settings are good enough. With several `workers`, several trials run at a time, and outcomes
/// are compared with the threshold in the order in which they arrive.
///
/// The privacy cost does not depend on the number of trials, and covers what that number reveals: readers may learn from
/// the time of the publication how many settings were tried. So the models may be trained by `workers`, although every
/// trial then takes time. `RandomRepetitions` does not allow `workers`, because its number of trials must stay secret. A
/// threshold that was chosen by looking at the outcomes reveals something about the outcomes, and the privacy cost does not
/// cover this. So state a threshold that follows from what the model is for. The protocol's `rounds` do not limit the
/// number of trials. No model of the function and no prior is assumed.
///
/// Source: Dwork and Roth 2014, Algorithm 1 (AboveThreshold), with the division of epsilon of Lyu, Su and Li 2017,
/// section 4.2.
///
/// Example: `AboveThreshold(epsilon: 1, threshold: -0.2, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1,
/// lambda_min: 0.1, lambda_max: 1))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AboveThreshold {
    /// epsilon of all comparisons together, and so of the setting and of the number of trials.
    pub epsilon: Epsilon,
    /// The threshold, in units of the outcome (of `Tuning`: minus the mean validation loss). Taken as public.
    pub threshold: Finite,
    /// The order in which settings are tried. Default: `Random`.
    #[serde(default)]
    pub order: TrialOrder,
    /// epsilon of the performance of the published setting, in addition to `epsilon`. Default: none, only the setting is
    /// published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub performance: Option<Epsilon>,
    /// Facts of the tuning task that the proof needs, for objectives that do not state them. Default: what the
    /// objective states.
    #[serde(default)]
    pub assume: Option<TaskFacts>,
    /// How noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

impl AboveThreshold {
    fn mechanism(&self, sensitivity: Positive, error: NonNegative) -> FirstAbove {
        FirstAbove::new((self.epsilon, self.performance), sensitivity, error, self.threshold)
            .with(self.arithmetic)
    }

    /// The mechanism for this task, and the basis of its sensitivity.
    fn for_task(&self, task: &Task) -> Result<(FirstAbove, Basis), CannotRelease> {
        let (sensitivity, basis) = task.outcome_sensitivity(self.assume)?;
        Ok((self.mechanism(positive("sensitivity", sensitivity)?, task.rounding()?), basis))
    }

    /// The mechanism for a sensitivity of 1.
    fn unit(&self) -> FirstAbove {
        let (one, zero) = (Positive::new(1.0), NonNegative::new(0.0));
        self.mechanism(one.expect("1 is above 0"), zero.expect("0 is not negative"))
    }
}

impl Publication for AboveThreshold {
    fn problems(&self) -> Vec<Problem> {
        match self.unit().price(&Vec::new(), &Neighbours::ReplaceOne) {
            Ok(_) => Vec::new(),
            Err(error) => vec![Problem::wrong(
                "epsilon",
                "an epsilon for which, together with the epsilon of `performance`, the noise can be drawn exactly",
                error.to_string(),
                "write another epsilon, or `arithmetic: Ideal`",
            )],
        }
    }

    fn laplace_epsilon(&self) -> Option<(f64, NoiseArithmetic)> {
        Some((self.unit().comparisons().least_epsilon(), self.arithmetic))
    }

    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        foreseen.loss_problems(self.assume)
    }

    /// The effort of the longest search, in which every setting is tried once.
    fn effort(&self, arms: u64, _: u64) -> Effort {
        let n = arms as f64;
        Effort::due_to(ARMS, arms, 4.0 * NUMBER * n, 4.0 * MESSAGE * n).with_record_size(ITERATION * n)
    }

    fn accounted(&self) -> f64 {
        accounted_pure(self.epsilon)
    }

    fn search(&self, task: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::UntilAbove { mechanism: self.for_task(task)?.0, order: self.order })
    }

    fn assumed(&self) -> Option<TaskFacts> {
        self.assume
    }

    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease> {
        let (mechanism, basis) = self.for_task(task)?;
        let mut plan = Plan::default();
        if let Some(most) = mechanism.comparisons().value_tail(TAIL) {
            let source = "Laplace noise";
            plan.guarantees.push(Guarantee::new(Measure::ErrorAtSetting, most, tail_probability(), source));
        }
        let released = match self.performance {
            Some(_) => "setting lambda~ and performance v~",
            None => "setting lambda~",
        };
        let mechanism = TheoremMechanism::new(mechanism, "above threshold among trials", None, basis);
        plan.best = Some(BestRelease { mechanism: Box::new(mechanism), released });
        Ok(plan)
    }
}
