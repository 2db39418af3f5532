//! CTL as a scenario names it: its bound on rewards, and what keeps rewards within the bound.

use super::Report;
use super::ctl::{Ctl, Rewards};
use super::report::{NoiseFacts, ReportError, RewardFacts, RewardMechanism, RewardReport};
use crate::privacy::mechanisms::NoiseArithmetic;
use crate::vocab::{Delta, Epsilon, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Clipping to [-(B + R), B + R], where B bounds mean rewards and R their noise, and Laplace noise of scale 2
/// (B + R) / epsilon: each report is epsilon-LDP.
///
/// Source: Zhou and Tan 2021, curator CTL of Algorithm 1.
///
/// Example: `Ctl(epsilon: 1, bound: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Ctl")]
pub struct CtlReport {
    /// Epsilon of one report.
    pub epsilon: Epsilon,
    /// B + R, in units of the reward. Default: the absolute mean of the surrogate, plus the largest distance of a mean
    /// reward from that mean, plus R, the bound on the noise (with mean 0 this is the paper's bound); required if the noise
    /// is unbounded and `delta` is not stated. (The default is known to a simulator, not to a user: a real system must state
    /// it.)
    #[serde(default)]
    pub bound: Option<Positive>,
    /// Whether rewards beyond the bound are clipped to it. Without clipping the guarantee holds only if no reward lies
    /// beyond the bound. Default: true.
    #[serde(default = "yes")]
    pub clip: bool,
    /// The paper's delta for unbounded noise, with `clip: false`: R is then the size that the noise exceeds with this
    /// probability, and a report is (epsilon, delta)-LDP for the mean reward. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// How the noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

fn yes() -> bool {
    true
}

impl RewardReport for CtlReport {
    fn epsilon(&self) -> Option<f64> {
        Some(self.epsilon.get())
    }

    fn at_epsilon(&self, epsilon: Epsilon) -> Option<Report> {
        Some(Self { epsilon, ..*self }.into())
    }

    fn problems(&self) -> Vec<Problem> {
        let Some(delta) = self.delta.filter(|_| self.clip || self.bound.is_some()) else { return Vec::new() };
        vec![Problem::wrong(
            "delta",
            "no delta where rewards are clipped or their bound is stated",
            delta.to_string(),
            "leave out delta; or write clip: false and leave out bound, which then follows from the law of the noise",
        )]
    }

    fn problems_with(&self, noise: &NoiseFacts<'_>) -> Vec<Problem> {
        let unknown = match self.delta {
            Some(delta) => (noise.has_tail)(delta) == Some(false),
            None => noise.bounded == Some(false),
        };
        if self.bound.is_some() || !unknown {
            return Vec::new();
        }
        let cure = match self.delta {
            // No delta helps where the noise states no tail.
            Some(_) => {
                "write bound: Some(6.0), for example, beyond which rewards are clipped, and leave out `delta`"
            }
            None => {
                "write bound: Some(6.0), for example, beyond which rewards are clipped; or, with the paper's delta for \
                 unbounded noise, clip: false and delta: Some(0.001)"
            }
        };
        vec![Problem::wrong(
            "bound",
            "a bound on rewards, B + R: the objective's noise has none",
            "none",
            cure,
        )]
    }

    fn mechanism(&self, facts: &RewardFacts<'_>) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError> {
        let size = match self.delta {
            Some(delta) => (facts.noise_tail)(delta),
            None => facts.noise_bound,
        };
        let largest = size.map(|size| facts.mean.abs() + facts.deviation + size);
        let range = match (self.bound, largest) {
            (Some(bound), _) => bound,
            (None, Some(largest)) => Positive::new(largest).map_err(ReportError::NoBound)?,
            (None, None) => return Err(ReportError::Unbounded),
        };
        let rewards = match (self.clip, facts.noise_bound, self.delta) {
            (true, ..) => Rewards::Clipped,
            (false, Some(noise), _) if facts.reach + noise <= range.get() * (1.0 + 1e-12) => Rewards::Bounded,
            (false, _, Some(delta)) => Rewards::Likely(delta),
            (false, ..) => Rewards::Beyond,
        };
        let ctl = Ctl::new(self.epsilon, range, self.clip)?.assuming(rewards).with(self.arithmetic)?;
        Ok(Some(Arc::new(ctl)))
    }
}
