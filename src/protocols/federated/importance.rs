//! Weights that correct for biased participation: each agent's weight is divided by the probability that the agent's
//! answer arrives in time.

use crate::vocab::{Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Each agent's weight is divided by p, the probability that the agent's answer arrives in time. Then the expected sum is
/// the sum over all agents with the undivided weights, however seldom some agents answer (Horvitz and Thompson 1952). This
/// equality holds if p is the true probability and 1 / p is at most `most`. If the `divisor` of the sums
/// is `Arrived` or `ArrivedOrGone`, the weights that were divided by p are then scaled so that those of the agents that
/// answered sum to 1 (Hajek's form of the estimate: a little biased, less variable).
///
/// The largest change that an agent can make to the sum grows with the agent's weight, so the noise is scaled to the
/// largest weight after the division: the noise multiplier z and the privacy loss stay the same, and the noise grows.
///
/// Source: Horvitz and Thompson 1952, "A generalization of sampling without replacement from a finite universe".
///
/// Example: `Importance(answers: Stated({"agent": 0.4}))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Importance {
    /// The source of p.
    pub answers: AnswerChance,
    /// The upper limit of the factor 1 / p, and so of the factor by which the noise grows. An agent whose 1 / p is above
    /// the limit gets too small a weight.
    /// Default: 10.
    #[serde(default = "ten")]
    pub most: Positive,
}

/// The source of the probability that an agent's answer arrives in time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum AnswerChance {
    /// Stated by group of agents; 1 for groups that are not named.
    ///
    /// Example: `Stated({"agent": 0.4})`.
    Stated(BTreeMap<String, Probability>),
    /// Estimated from the rounds so far, including the round that is being summed: (1 + the number of the agent's answers in
    /// time) / (1 + the number of rounds in which the agent was asked). Who answers when is taken as public.
    Counted,
}

fn ten() -> Positive {
    Positive::new(10.0).expect("10 is above 0")
}

impl Importance {
    /// The factor on the weight of an agent. The agent belongs to the group `group`; it was asked in `rounds` rounds, and
    /// answered in time in `answers` of these rounds.
    #[must_use]
    pub fn factor(&self, group: &str, answers: u64, rounds: u64) -> f64 {
        let chance = match &self.answers {
            AnswerChance::Stated(by_group) => by_group.get(group).map_or(1.0, |chance| chance.get()),
            AnswerChance::Counted => (answers + 1) as f64 / (rounds + 1) as f64,
        };
        if chance > 0.0 { (1.0 / chance).min(self.most.get()) } else { self.most.get() }
    }

    /// What is wrong with these settings for agents in these groups.
    pub(super) fn problems(&self, groups: &[String]) -> Vec<Problem> {
        let mut problems = Vec::new();
        if self.most.get() < 1.0 {
            let expected = "a factor of at least 1, which is the factor of an agent that always answers";
            problems.push(Problem::wrong("most", expected, self.most.to_string(), "leave it out"));
        }
        if let AnswerChance::Stated(by_group) = &self.answers {
            for (name, chance) in by_group {
                if !groups.contains(name) {
                    problems.push(Problem::unknown("answers", "group of agents", name, groups));
                } else if chance.get() <= 0.0 {
                    let expected = format!("a probability above 0 for \"{name}\"");
                    let cure = "leave agents that never answer out of the federation";
                    problems.push(Problem::wrong("answers", expected, "0", cure));
                }
            }
        }
        problems
    }
}
