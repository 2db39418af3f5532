//! The model whose weights agents share: linear in features that are the same for all agents, so that the weights of
//! several agents can be summed.

use super::common::AgentCommon;
use super::query::Query;
use crate::gp::{GpError, WeightPosterior};
use crate::rng::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// What is subtracted from outcomes before weights are fitted to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum WeightOutcomes {
    /// The prior mean of the objective, in every round.
    #[default]
    MinusPriorMean,
    /// Nothing: raw outcomes, as in equation 2 of Dai, Low and Jaillet 2021 and in the authors' code.
    Raw,
    /// The mean of the agent's own outcomes so far: the weights then show where an agent's function is high, but not
    /// how high it is.
    MinusOwnMean,
}

impl WeightOutcomes {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The shared model of one agent.
#[derive(Clone)]
pub(super) struct SharedModel {
    common: Arc<AgentCommon>,
    outcomes: WeightOutcomes,
    /// Posterior given all measurements so far; the prior if outcomes are centred by their own mean, since each draw
    /// then computes the posterior anew.
    posterior: WeightPosterior,
    /// The measurements, if outcomes are centred by their own mean; empty otherwise.
    seen: Vec<(Query, f64)>,
}

impl SharedModel {
    pub(super) fn new(common: &Arc<AgentCommon>, outcomes: WeightOutcomes) -> Result<Self, GpError> {
        let posterior = WeightPosterior::new(common.m, common.feature_noise)?;
        Ok(Self { common: Arc::clone(common), outcomes, posterior, seen: Vec::new() })
    }

    pub(super) fn observe(&mut self, query: &Query, outcome: f64) -> Result<(), GpError> {
        let centre = match self.outcomes {
            WeightOutcomes::MinusPriorMean => self.common.surrogate.mean,
            WeightOutcomes::Raw => 0.0,
            WeightOutcomes::MinusOwnMean => {
                self.seen.push((query.clone(), outcome));
                return Ok(());
            }
        };
        self.posterior.observe(&self.common.features_of(query), outcome - centre)
    }

    /// What is subtracted from these measurements before weights are fitted to them.
    pub(super) fn centre(&self, seen: &[(Query, f64)]) -> f64 {
        match self.outcomes {
            WeightOutcomes::MinusPriorMean => self.common.surrogate.mean,
            WeightOutcomes::Raw => 0.0,
            WeightOutcomes::MinusOwnMean => {
                seen.iter().map(|(_, outcome)| outcome).sum::<f64>() / seen.len().max(1) as f64
            }
        }
    }

    /// A draw of the weights from their posterior, N(nu, lambda Sigma^-1) in the paper's notation.
    pub(super) fn sample(&self, stream: &mut Stream) -> Result<Vec<f64>, GpError> {
        if self.seen.is_empty() {
            return Ok(self.posterior.sample(stream));
        }
        let mean = self.seen.iter().map(|(_, outcome)| outcome).sum::<f64>() / self.seen.len() as f64;
        let mut posterior = self.posterior.clone();
        for (query, outcome) in &self.seen {
            posterior.observe(&self.common.features_of(query), outcome - mean)?;
        }
        Ok(posterior.sample(stream))
    }
}
