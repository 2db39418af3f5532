//! A weight schedule, a policy, a selection and a discount of stale vectors of a federation's server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subrosa::protocols::federated::{Policy, Selection, SelectionHistory, Staleness, Weights};
use subrosa::rng::Stream;
use subrosa::vocab::{Positive, Problem, Span};

/// An agent that explores a region counts `factor` times as much there as any other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Explorers {
    /// Weight of an agent that explores the region, over that of any other agent.
    factor: Positive,
}

impl Weights for Explorers {
    fn at(&self, _: u64, explored: &[usize], regions: usize) -> Vec<Vec<f64>> {
        let weight = |own: bool| if own { self.factor.get() } else { 1.0 };
        (0..regions)
            .map(|region| {
                let total: f64 = explored.iter().map(|&r| weight(r == region)).sum();
                explored.iter().map(|&r| weight(r == region) / total).collect()
            })
            .collect()
    }
}

/// When half of the agents have answered, or after `patience`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HalfOf {
    /// Longest wait.
    patience: Span,
}

impl Policy for HalfOf {
    fn patience(&self) -> Span {
        self.patience
    }

    fn is_enough(&self, fresh: u64, _: u64, agents: u64) -> bool {
        2 * fresh >= agents
    }

    fn problems(&self, agents: u64) -> Vec<Problem> {
        if agents >= 2 {
            return Vec::new();
        }
        vec![Problem::wrong("", "two agents or more", agents.to_string(), "add agents")]
    }
}

/// The agents with an even number in even rounds, the others in odd ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Alternating {}

impl Selection for Alternating {
    fn select(&self, known: &SelectionHistory, _: &mut Stream) -> Option<Vec<bool>> {
        let turn = known.round % 2;
        (known.agents() > 1).then(|| (0..known.agents() as u64).map(|agent| agent % 2 == turn).collect())
    }
}

/// A vector of s rounds ago counts 2^-s.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HalfEachRound {}

impl Staleness for HalfEachRound {
    fn factor(&self, late: u64) -> f64 {
        libm::exp2(-(late as f64))
    }
}
