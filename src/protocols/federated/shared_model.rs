//! The model whose weights agents share. It is linear in features that are the same for all agents, so the weights of
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

/// With at most this number of measurements, an agent computes two posteriors anew for every draw, instead of keeping them:
/// that of its shared model, and that of its own model over arms (this one only if no measurement needs jitter).
pub(super) const FEW: usize = 16;

/// The shared model of one agent.
#[derive(Clone)]
pub(super) struct SharedModel {
    common: Arc<AgentCommon>,
    outcomes: WeightOutcomes,
    /// The posterior given all measurements, once there are more than [`FEW`] measurements. A posterior takes roughly
    /// M^2 / 2 numbers for M features, so with few measurements it is not kept, and every draw computes it anew. With
    /// `MinusOwnMean` it is never kept, because the mean that is subtracted changes with every outcome.
    posterior: Option<WeightPosterior>,
    /// The measurements, as long as there is no posterior: the query and the outcome. With `MinusPriorMean`, the prior
    /// mean has already been subtracted from the outcome.
    seen: Vec<(Query, f64)>,
}

impl SharedModel {
    pub(super) fn new(common: &Arc<AgentCommon>, outcomes: WeightOutcomes) -> Self {
        Self { common: Arc::clone(common), outcomes, posterior: None, seen: Vec::new() }
    }

    pub(super) fn observe(&mut self, query: &Query, outcome: f64) -> Result<(), GpError> {
        if !outcome.is_finite() {
            return Err(GpError::OutcomeNotFinite { outcome });
        }
        let centre = match self.outcomes {
            WeightOutcomes::MinusPriorMean => self.common.surrogate.mean,
            WeightOutcomes::Raw | WeightOutcomes::MinusOwnMean => 0.0,
        };
        let outcome = outcome - centre;
        if let Some(posterior) = &mut self.posterior {
            return posterior.observe(&self.common.features_of(query), outcome);
        }
        self.seen.push((query.clone(), outcome));
        if self.seen.len() > FEW && self.outcomes != WeightOutcomes::MinusOwnMean {
            self.posterior = Some(self.given(0.0)?);
            self.seen = Vec::new();
        }
        Ok(())
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

    /// A draw of the weights from their posterior, N(nu, lambda Sigma^-1) in the notation of Dai, Low and Jaillet 2021.
    pub(super) fn sample(&self, stream: &mut Stream) -> Result<Vec<f64>, GpError> {
        if let Some(posterior) = &self.posterior {
            return Ok(posterior.sample(stream));
        }
        let centre = match self.outcomes {
            WeightOutcomes::MinusOwnMean if !self.seen.is_empty() => {
                self.seen.iter().map(|(_, outcome)| outcome).sum::<f64>() / self.seen.len() as f64
            }
            _ => 0.0,
        };
        Ok(self.given(centre)?.sample(stream))
    }

    /// The posterior given the measurements, from whose outcomes `centre` is subtracted.
    fn given(&self, centre: f64) -> Result<WeightPosterior, GpError> {
        let mut posterior = self.common.prior_weights.clone();
        let seen =
            self.seen.iter().map(|(query, outcome)| (self.common.features_of(query), outcome - centre));
        posterior.observe_all(seen)?;
        Ok(posterior)
    }
}
