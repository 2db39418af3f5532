//! The settings by which agents choose points: repeated points, initial points, and the width of their own draws.

use super::common::AgentCommon;
use crate::gp::{GpError, gain_bounds};
use crate::vocab::{Delta, NonNegative};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What an agent does with a point that it has measured before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Repeated {
    /// The agent measures the point again.
    #[default]
    Allowed,
    /// The agent measures a random point of the domain in place of the known point, as the code of Dai, Low and Jaillet 2021
    /// does. If the agent can measure only a part of the domain, the random point is from this part. The random point may
    /// have been measured before too. On a box, two points are the same if all their coordinates are equal.
    RandomPoint,
}

impl Repeated {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Where an agent's initial points lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum InitialPoints {
    /// In the region that the agent explores.
    #[default]
    InOwnRegion,
    /// Anywhere in the domain (in the agent's own part, if the agent can measure only a part). Only the initial points
    /// ignore the regions: the factor of each agent's vector in the sum of each region (the schedule `weights`) is the same
    /// as with `InOwnRegion`.
    Everywhere,
}

impl InitialPoints {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// `beta_t`, a factor on the standard deviation in an agent's own Thompson sampling. The field `scale` of `Federated` is a
/// further factor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Width {
    /// 1 in every round, as in the experiments of Dai, Low and Jaillet 2021.
    #[default]
    Constant,
    /// `beta_t` = B + sigma sqrt(2 (gamma + 1 + ln(4 / delta))). Here sigma is the standard deviation of the noise that
    /// the model assumes, divided by the prior standard deviation; the noise variance is taken to be at least 1e-6.
    /// gamma is an upper bound on the information gain of as many outcomes as an agent has if it measured in every round
    /// so far. It is the smaller of two bounds: the information gain of a greedy choice of arms, divided by 1 - 1/e, and
    /// the gain if all arms were independent. Source: Dai, Low and Jaillet 2021, Algorithm 2 and Theorem 1.
    Theorem {
        /// B, a bound on the norm of every agent's function in the space of the model's covariance. Default: 1.
        #[serde(default = "one")]
        norm: NonNegative,
        /// delta, the probability with which the theorem's bound may fail. Default: 0.1.
        #[serde(default = "tenth")]
        failure: Delta,
    },
}

fn one() -> NonNegative {
    NonNegative::new(1.0).expect("1 is not below 0")
}

fn tenth() -> Delta {
    Delta::new(0.1).expect("0.1 is a delta")
}

impl Width {
    pub(super) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// `beta_t` of rounds 1, 2, ..; empty if it is 1 in every round.
    pub(super) fn by_round(
        self,
        common: &AgentCommon,
        initial: u64,
        rounds: u64,
    ) -> Result<Vec<f64>, GpError> {
        let Self::Theorem { norm, failure } = self else { return Ok(Vec::new()) };
        let (variance, noise) = (common.surrogate.covariance.variance, common.assumed_noise());
        let counts: Vec<u64> = (0..rounds).map(|round| initial + round).collect();
        let gains = gain_bounds(&common.covariance, &counts, noise)?;
        let sigma = (noise / variance).sqrt();
        let confidence = 1.0 + libm::log(4.0 / failure.get());
        Ok(gains.into_iter().map(|gain| norm.get() + sigma * (2.0 * (gain + confidence)).sqrt()).collect())
    }
}
