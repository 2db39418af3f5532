//! Every setting is tried, and one is chosen privately: a guarantee that holds without any prior.

use super::{
    Guarantee, Measure, Part, Plan, Publication, Search, Selection, SettingRelease, TAIL, Task, TaskFacts,
    TaskOutline, Utility, positive, tail_probability,
};
use crate::privacy::mechanisms::{
    ExponentialMechanism, Laplace, Mechanism, NoiseArithmetic, ReportNoisyMax, TheoremMechanism,
};
use crate::protocols::release::failure::CannotRelease;
use crate::protocols::stage::ITERATION;
use crate::vocab::effort::{ARMS, MESSAGE, NUMBER};
use crate::vocab::{Effort, Epsilon, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All settings are tried, so the list of settings tried reveals nothing. An outcome has the sensitivity of a
/// mean over the m validation records, at most g*/m, where g* is the largest minus the smallest loss of one
/// record. To publish the setting costs epsilon; to publish a performance, with Laplace noise, costs another
/// epsilon.
///
/// The number of trials is the number of settings; the protocol's `rounds` do not limit it.
/// Source: Dwork and Roth 2014, sections 3.3 and 3.4, applied to a finite grid.
///
/// Example: `FixedGrid(epsilon: 1, assume: TaskFacts(records: 1000, loss_range: 4, lipschitz: 1, lambda_min: 0.1,
/// lambda_max: 1))`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FixedGrid {
    /// epsilon of each of the two releases.
    pub epsilon: Epsilon,
    /// How the setting is chosen. Default: `Exponential`.
    #[serde(default)]
    pub selection: Selection,
    /// Which results are published; with `Value`, the performance of the best setting. Default: `Both`.
    #[serde(default)]
    pub publish: Part,
    /// Facts of the tuning task that the proof needs, for objectives that do not state them. Default: what the
    /// objective states.
    #[serde(default)]
    pub assume: Option<TaskFacts>,
    /// How noise is sampled and how choices are made. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

impl Publication for FixedGrid {
    fn needs_finite_set(&self) -> Option<&'static str> {
        Some("it evaluates every setting, so there must be finitely many")
    }

    fn laplace_epsilon(&self) -> Option<(f64, NoiseArithmetic)> {
        Some((self.epsilon.get(), self.arithmetic))
    }

    fn problems_with(&self, foreseen: TaskOutline) -> Vec<Problem> {
        foreseen.loss_problems(self.assume)
    }

    /// Every setting is tried once.
    fn effort(&self, arms: u64, _: u64) -> Effort {
        let n = arms as f64;
        Effort::due_to(ARMS, arms, 4.0 * NUMBER * n, 4.0 * MESSAGE * n).with_record_size(ITERATION * n)
    }

    fn accounted(&self) -> f64 {
        self.publish.accounted(self.epsilon)
    }

    /// Every setting is tried in any case. So a missing outcome affects only which settings have an outcome, and a setting
    /// without one is not a candidate for the private choice.
    fn allows_missing_outcomes(&self) -> bool {
        true
    }

    fn search(&self, _: &Task) -> Result<Search, CannotRelease> {
        Ok(Search::Everything)
    }

    fn assumed(&self) -> Option<TaskFacts> {
        self.assume
    }

    fn plan(&self, task: &Task) -> Result<Plan, CannotRelease> {
        let (sensitivity, basis) = task.outcome_sensitivity(self.assume)?;
        let sensitivity = positive("sensitivity", sensitivity)?;
        let rounding = task.rounding()?;
        let mut plan = Plan::default();
        if self.publish.setting() {
            let exponential = ExponentialMechanism::new(self.epsilon, sensitivity)
                .computed_within(rounding)
                .with(self.arithmetic);
            let mechanism: Box<dyn Mechanism<Input = Vec<f64>, Output = usize> + Send + Sync> =
                match self.selection {
                    Selection::Exponential => Box::new(TheoremMechanism::new(
                        exponential,
                        "exponential mechanism over a fixed grid",
                        None,
                        basis.clone(),
                    )),
                    Selection::NoisyMax | Selection::PermuteAndFlip => Box::new(TheoremMechanism::new(
                        ReportNoisyMax::new(self.epsilon, sensitivity)
                            .computed_within(rounding)
                            .with(self.arithmetic),
                        "report noisy max over a fixed grid",
                        None,
                        basis.clone(),
                    )),
                };
            plan.setting = Some(SettingRelease { mechanism, utility: Utility::Outcomes });
            let most = exponential.shortfall(task.n(), TAIL);
            let source = "exponential mechanism";
            plan.guarantees.push(Guarantee::new(Measure::OutcomeGap, most, tail_probability(), source));
        }
        if self.publish.value() {
            let laplace = Laplace::calibrated(self.epsilon, sensitivity)?
                .computed_within(rounding)
                .with(self.arithmetic);
            let name = "Laplace noise over a fixed grid";
            let mechanism = Box::new(TheoremMechanism::new(laplace, name, None, basis));
            plan.release_value(mechanism, self.publish, laplace.tail(TAIL));
        }
        Ok(plan)
    }
}
