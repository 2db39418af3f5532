//! Cohorts: users with rewards, noise and answer rates of their own.

use super::never_answer::NeverAnswer;
use super::times::time_problems;
use crate::network::latency::LatencyModel;
use crate::objectives::Objective;
use crate::protocols::stage::differences::{Differences, Factors, Shift};
use crate::vocab::{Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A group of users with rewards, noise and answer rates of their own. All users of a cohort share one function. The
/// regret of a user is the largest mean reward of the user's cohort, in the round in which the user tries an arm, minus
/// the mean reward of this arm.
///
/// A cohort's function is computed from the objective's function f as an agent's function is in `Federated`: it is mu +
/// sqrt(1 - h) (f - mu) + sqrt(h) (g - mu), where mu is the prior mean, h the field `heterogeneity`, and g the cohort's own
/// draw. Then `differences` change it. With `drift`, the function changes after every user who tries an arm.
///
/// Example: `Cohort(name: "phone", share: 3)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cohort {
    /// Name in tables.
    pub name: String,
    /// How many users belong to the cohort, relative to the other cohorts: a user (with `population`, a person) is in a
    /// cohort with probability `share` divided by the sum of all shares. Default: 1.
    #[serde(default = "one")]
    pub share: Positive,
    /// h: mean rewards are mu + sqrt(1 - h) (f - mu) + sqrt(h) (g - mu), with mu the prior mean, f common to all
    /// cohorts and g the cohort's own. Default: 0.
    #[serde(default = "same")]
    pub heterogeneity: Probability,
    /// How else the cohort differs: `shift`, `scale`, `noise` or `drift`. A list of values (`Given`) must have exactly one
    /// entry. Default: not at all.
    #[serde(default, skip_serializing_if = "Differences::is_default")]
    pub differences: Differences,
    /// Users of the cohort who try an arm and never report. Default: as `never_answer` of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never_answer: Option<NeverAnswer>,
    /// How long a user of the cohort takes before it reports. Default: as `answer_after` of the protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer_after: Option<LatencyModel>,
}

/// Largest number of cohorts, each of which has a function of its own.
const MAX_COHORTS: usize = 1000;

fn one() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

fn same() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

impl Cohort {
    /// What is wrong with the cohort's values, whatever the objective.
    fn problems(&self) -> Vec<Problem> {
        let mut found: Vec<Problem> =
            self.differences.problems().into_iter().map(|p| p.below("differences")).collect();
        let of_agents = [
            (
                "clusters",
                self.differences.clusters.is_some(),
                "leave it out: each cohort is a cluster of users; write the cohort's `heterogeneity` instead",
            ),
            ("domain", self.differences.domain.is_some(), "leave it out: a user tries any arm"),
            (
                "model_length_scale",
                self.differences.model_length_scale.is_some(),
                "leave it out: users have no model",
            ),
            ("model_noise", self.differences.model_noise.is_some(), "leave it out: users have no model"),
        ];
        for (field, _, cure) in of_agents.into_iter().filter(|(_, stated, _)| *stated) {
            let expected = "shift, scale, noise or drift: the other differences are those of agents";
            found.push(Problem::wrong(format!("differences.{field}"), expected, field, cure));
        }
        // A cohort has one function and one noise, so that further entries of a list would have no effect.
        let lists = [
            ("shift", self.differences.shift.as_ref().map_or(1, Shift::stated)),
            ("scale", self.differences.scale.as_ref().map_or(1, Factors::stated)),
            ("noise", self.differences.noise.as_ref().map_or(1, Factors::stated)),
        ];
        for (field, stated) in lists.into_iter().filter(|(_, stated)| *stated > 1) {
            let (place, cure) = (format!("differences.{field}.Given"), "write a cohort for each entry");
            let expected = "one entry: a cohort has one function and one noise";
            found.push(Problem::wrong(place, expected, format!("{stated} entries"), cure));
        }
        let silence = self.never_answer.map_or_else(Vec::new, |silence| silence.problems());
        found.extend(silence.into_iter().map(|p| p.below("never_answer")));
        let times = self.answer_after.as_ref().map_or_else(Vec::new, time_problems);
        found.extend(times.into_iter().map(|p| p.below("answer_after")));
        found
    }
}

/// What is wrong with the cohorts, whatever the objective.
pub(super) fn problems(cohorts: &[Cohort]) -> Vec<Problem> {
    let mut found = Vec::new();
    if cohorts.len() > MAX_COHORTS {
        let expected = format!("at most {MAX_COHORTS} cohorts, each with a function of its own");
        found.push(Problem::wrong("cohorts", expected, cohorts.len().to_string(), "write fewer"));
    }
    for (index, cohort) in cohorts.iter().enumerate() {
        let place = format!("cohorts[{index}]");
        if cohort.name.is_empty() {
            found.push(Problem::wrong(format!("{place}.name"), "a name", "none", "write name: \"phone\""));
        } else if cohorts[..index].iter().any(|other| other.name == cohort.name) {
            let expected = "a name that no other cohort has";
            found.push(Problem::wrong(
                format!("{place}.name"),
                expected,
                &cohort.name,
                "choose another name",
            ));
        }
        found.extend(cohort.problems().into_iter().map(|problem| problem.below(&place)));
    }
    found
}

/// What is wrong with the cohorts for this objective.
pub(super) fn problems_with(cohorts: &[Cohort], objective: &dyn Objective) -> Vec<Problem> {
    let mut found = Vec::new();
    if !cohorts.is_empty() && objective.is_of_agents() {
        let expected = "no cohorts with this objective, whose functions belong to the agents of a federation";
        let cure = "leave `cohorts` out, or take another objective";
        found.push(Problem::wrong("cohorts", expected, cohorts.len().to_string(), cure));
    }
    for (index, cohort) in cohorts.iter().enumerate() {
        let place = format!("cohorts[{index}]");
        if objective.is_always_the_same() {
            let (h, drift) = (cohort.heterogeneity.get() > 0.0, cohort.differences.drifting().is_some());
            let axes = [
                ("heterogeneity", h, "cohorts differ by draws of it", "one that is above 0"),
                ("differences.drift", drift, "a drift moves to further draws of it", "a drift"),
            ];
            for (field, _, by_draws, value) in axes.into_iter().filter(|(_, set, ..)| *set) {
                let expected =
                    format!("none with this objective: {by_draws}, and every draw gives the same values");
                let cure = "leave it out, or take an objective that is drawn at random (GpSample, MultiTaskSample, RkhsSum)";
                let place = format!("{place}.{field}");
                found.push(Problem::wrong(place, expected, value, cure));
            }
        }
        let own = cohort.differences.problems_with(objective);
        found.extend(own.into_iter().map(|p| p.below("differences").below(&place)));
    }
    found
}
