//! A delay whose distribution changes over time.

use super::mixture::{Mixture, Part};
use super::{Latency, LatencyModel, LinkEnd};
use crate::network::schedule;
use crate::vocab::{DataFolders, Positive, Problem, Span, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A delay whose distribution changes at stated times, once or in every period: for example, the delay of a network that
/// is busy in the evening. The distribution of a message's delay is the one that holds when the message enters the link.
///
/// Only the delay of a link can change over time. A schedule is refused as a compute time, as a period of connection, and
/// inside a mixture or a truncation; a step of a schedule may be a mixture or a truncation. Routes are computed once, from
/// the mean delay in the long run: the mean over one period or, if the schedule is not repeated, the mean of the last step.
///
/// Example: `Schedule(steps: [LatencyStep(at: "0s", is: Constant("20ms")), LatencyStep(at: "18h", is: Constant("90ms"))],
/// every: "24h")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The delays, in order of time; the first one begins at `0s`.
    pub steps: Vec<LatencyStep>,
    /// Period with which the schedule is repeated, longer than the time of the last step. Default: no repetition; the last
    /// delay stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every: Option<Span>,
}

/// A delay, and the time from which it applies.
///
/// Example: `LatencyStep(at: "0s", is: Constant("20ms"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LatencyStep {
    /// When the delay begins to apply, counted from the start of the run, or from the start of each period if there is an
    /// `every`.
    pub at: Span,
    /// The delay; any latency model except another `Schedule`.
    pub is: LatencyModel,
}

impl Schedule {
    fn begins(&self) -> Vec<Span> {
        self.steps.iter().map(|step| step.at).collect()
    }

    /// The delay of a message at a random time in the long run: a mixture of the steps, weighted by their shares of the
    /// time.
    fn over_time(&self) -> Mixture {
        let shares = schedule::shares(&self.begins(), self.every);
        let parts = self.steps.iter().zip(shares);
        let parts = parts.filter_map(|(step, share)| {
            Some(Part { weight: Positive::new(share).ok()?, law: step.is.clone() })
        });
        Mixture { parts: parts.collect() }
    }
}

impl Latency for Schedule {
    /// The quantile of the delay of a message at a random time.
    fn quantile(&self, u: f64) -> Span {
        self.over_time().quantile(u)
    }

    fn quantile_at(&self, at: Time, u: f64) -> Span {
        let index = schedule::step(self.steps.iter().map(|step| step.at), self.every, at);
        self.steps.get(index).map_or(Span::ZERO, |step| step.is.as_dyn().quantile_at(at, u))
    }

    fn mean_seconds(&self) -> f64 {
        self.over_time().mean_seconds()
    }

    fn probability_within(&self, delay: Span) -> f64 {
        self.over_time().probability_within(delay)
    }

    fn needs_link(&self) -> bool {
        true
    }

    fn differs_between_links(&self) -> bool {
        self.steps.iter().any(|step| step.is.as_dyn().differs_between_links())
    }

    fn between(&self, from: LinkEnd<'_>, to: LinkEnd<'_>) -> Option<LatencyModel> {
        if !self.differs_between_links() {
            return None;
        }
        let step = |step: &LatencyStep| {
            let law = step.is.as_dyn().between(from, to).unwrap_or_else(|| step.is.clone());
            LatencyStep { at: step.at, is: law }
        };
        Some(Self { steps: self.steps.iter().map(step).collect(), every: self.every }.into())
    }

    fn problems_between(&self, parties: &[LinkEnd<'_>]) -> Vec<Problem> {
        let steps = self.steps.iter().enumerate();
        let found = steps.flat_map(|(index, step)| {
            let found = step.is.as_dyn().problems_between(parties).into_iter();
            found.map(move |problem| problem.below(&format!("steps[{index}].is")))
        });
        found.collect()
    }

    fn problems(&self) -> Vec<Problem> {
        let steps = self.steps.iter().enumerate();
        let of_steps = steps.flat_map(|(index, step)| step.is.problems_below(&format!("steps[{index}].is")));
        let nested = self.steps.iter().position(|step| step.is.get::<Self>().is_some());
        let nested = nested.map(|index| {
            let cure = "write the inner schedule's steps into the outer one";
            Problem::wrong(
                format!("steps[{index}].is"),
                "a delay without a schedule of its own",
                "Schedule",
                cure,
            )
        });
        schedule::problems(&self.begins(), self.every).into_iter().chain(of_steps).chain(nested).collect()
    }

    fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let steps = self.steps.iter_mut().enumerate();
        steps.flat_map(|(index, step)| step.is.load_below(&format!("steps[{index}].is"), base)).collect()
    }

    fn files(&self) -> Vec<PathBuf> {
        self.steps.iter().flat_map(|step| step.is.as_dyn().files()).collect()
    }

    fn is_unread(&self) -> bool {
        self.steps.iter().any(|step| step.is.as_dyn().is_unread())
    }
}
