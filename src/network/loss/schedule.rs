//! A loss that changes over time.

use super::{Loss, LossModel, LossProcess};
use crate::network::schedule;
use crate::vocab::{DataFolders, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A loss that changes at stated times, once or in every period. The step that holds when a message enters the link decides
/// whether the message is lost. A `GilbertElliott` keeps its state while another step holds.
///
/// Example: `Schedule(steps: [LossStep(at: "0s", is: Independent(0.01)), LossStep(at: "18h", is: Independent(0.2))], every:
/// "24h")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The losses, in order of time; the first one begins at `0s`.
    pub steps: Vec<LossStep>,
    /// Period with which the schedule is repeated, longer than the time of the last step. Default: no repetition; the last
    /// loss stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
}

/// A loss, and the time from which it applies.
///
/// Example: `LossStep(at: "0s", is: Independent(0.01))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossStep {
    /// When the loss begins to apply, counted from the start of the run, or from the start of each period if there is an
    /// `every`.
    pub at: Span,
    /// The loss; any of the loss models.
    pub is: LossModel,
}

impl Schedule {
    fn begins(&self) -> Vec<Span> {
        self.steps.iter().map(|step| step.at).collect()
    }
}

#[derive(Clone, Debug)]
struct Process {
    begins: Vec<Span>,
    every: Option<Span>,
    shares: Vec<f64>,
    steps: Vec<Box<dyn LossProcess>>,
}

impl Loss for Schedule {
    fn start(&self) -> Box<dyn LossProcess> {
        let begins = self.begins();
        let shares = schedule::shares(&begins, self.every);
        let steps = self.steps.iter().map(|step| step.is.as_dyn().start()).collect();
        Box::new(Process { begins, every: self.every, shares, steps })
    }

    /// The mean over time in the long run.
    fn mean(&self) -> f64 {
        let shares = schedule::shares(&self.begins(), self.every);
        self.steps.iter().zip(shares).map(|(step, share)| share * step.is.as_dyn().mean()).sum()
    }

    fn problems(&self) -> Vec<Problem> {
        let of_steps = self.steps.iter().enumerate().flat_map(|(index, step)| {
            let found = step.is.as_dyn().problems().into_iter();
            found.map(move |problem| problem.below(&format!("steps[{index}].is")))
        });
        schedule::problems(&self.begins(), self.every).into_iter().chain(of_steps).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let steps = self.steps.iter_mut().enumerate().flat_map(|(index, step)| {
            let found = step.is.as_dyn_mut().load(base).into_iter();
            found.map(move |problem| problem.below(&format!("steps[{index}].is")))
        });
        steps.collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.steps.iter().flat_map(|step| step.is.as_dyn().files()).collect()
    }
}

impl LossProcess for Process {
    /// Whether a message at a random time is lost. One draw decides both the step that holds at this time and the loss.
    fn drops(&mut self, u: f64) -> bool {
        let mut left = u;
        for (step, share) in self.steps.iter_mut().zip(&self.shares) {
            if left < *share {
                return step.drops(left / share);
            }
            left -= share;
        }
        self.steps.last_mut().is_some_and(|step| step.drops(u))
    }

    fn drops_at(&mut self, at: Time, u: f64) -> bool {
        let index = schedule::step(self.begins.iter().copied(), self.every, at);
        self.steps.get_mut(index).is_some_and(|step| step.drops_at(at, u))
    }
}
