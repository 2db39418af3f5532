//! A weight schedule and a policy of a federation's server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use subrosa::protocols::federated::{Policy, Weights};
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
