//! What a scenario says about one series: what agents get to know of each other, and how the server goes about it.

use super::rounds::{Late, RoundPolicy};
use super::weights::WeightSchedule;
use crate::privacy::mechanisms::{Divisor, FederatedSum, Participation};
use crate::vocab::{Neighbours, NonNegative, Positive, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

/// Agents that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentGroup {
    /// A party, or the group of parties (`count` makes one of the same name).
    pub members: String,
    /// h: each agent's objective is sqrt(1 - h) f + sqrt(h) g, f common to all and g its own. Default: 0.
    #[serde(default = "same")]
    pub heterogeneity: Probability,
}

fn same() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

/// One way to do it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct FederatedSeries {
    /// Name in tables and figures.
    pub name: String,
    /// What agents get to know of each other.
    pub sharing: Sharing,
    /// How often an agent asks the shared vector instead of its own model. Default: `InverseSquareRoot`.
    #[serde(default)]
    pub shared_queries: SharedQueries,
    /// When the server closes a round. Default: when all have answered, after 60 s at the latest.
    #[serde(default)]
    pub policy: RoundPolicy,
}

/// 1 - p_t, the probability that an agent follows the shared vector in round t.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SharedQueries {
    /// 1 / sqrt(t).
    #[default]
    InverseSquareRoot,
    /// 1 / t.
    Inverse,
    /// 1 / t^2.
    InverseSquare,
}

impl SharedQueries {
    /// The probability in round t = 1, 2, ...
    #[must_use]
    pub fn probability(self, t: u64) -> f64 {
        let t = t.max(1) as f64;
        match self {
            Self::InverseSquareRoot => 1.0 / t.sqrt(),
            Self::Inverse => 1.0 / t,
            Self::InverseSquare => 1.0 / (t * t),
        }
    }
}

/// What agents get to know of each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Sharing {
    /// Nothing: plain Thompson sampling (TS).
    Alone(Alone),
    /// The vector of a random other agent, as it is: the original FTS.
    RandomAgent(RandomAgent),
    /// Weighted sums over a sample of agents: FTS by server, FTS-DE, DP-FTS, DP-FTS-DE.
    Aggregate(Aggregate),
}

/// Plain Thompson sampling: `Alone()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alone {}

/// The original FTS: `RandomAgent()`. Source: Dai, Low and Jaillet 2020, Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomAgent {}

/// Weighted sums of agents' vectors, over a sample, clipped and with noise.
///
/// With noise multiplier z a sum has Gaussian noise of standard deviation z times the most that one agent can add to it.
/// Source: Dai, Low and Jaillet 2020, Algorithm 1 (FTS); 2021, Algorithms 1 and 2 (FTS-DE, DP-FTS, DP-FTS-DE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// Regions of the domain, P; agent n explores region n mod P. Default: 1.
    #[serde(default = "one")]
    pub regions: NonZeroU32,
    /// S, the norm that vectors are clipped to (S / sqrt(P) for each). Default: no clipping, and no privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Positive>,
    /// z, the noise multiplier. Default: 0, no noise and no privacy.
    #[serde(default = "zero")]
    pub noise_multiplier: NonNegative,
    /// Who takes part in a sum. Default: everybody, `Poisson(1)`.
    #[serde(default = "everybody")]
    pub participation: Participation,
    /// How much each agent counts where. Default: the authors' annealed weights (uniform for one region).
    #[serde(default)]
    pub weights: WeightSchedule,
    /// What the sum is divided by. Default: `Planned`.
    #[serde(default)]
    pub divisor: Divisor,
    /// What happens to answers that come too late. Default: `Discard`.
    #[serde(default)]
    pub late: Late,
    /// Whether agents see who took part. Default: false.
    #[serde(default)]
    pub visible_participation: bool,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn everybody() -> Participation {
    Participation::Poisson(Probability::new(1.0).expect("1 is a probability"))
}

impl Aggregate {
    pub(super) fn mechanism(&self) -> FederatedSum {
        FederatedSum {
            participation: self.participation,
            clip: self.clip,
            noise_multiplier: self.noise_multiplier.get(),
            divisor: self.divisor,
            multiplicity: 1,
            keeps_coin: false,
            visible: self.visible_participation,
        }
    }
}

impl Sharing {
    pub(super) fn regions(&self) -> usize {
        match self {
            Self::Aggregate(aggregate) => aggregate.regions.get() as usize,
            Self::Alone(_) | Self::RandomAgent(_) => 1,
        }
    }

    pub(super) fn neighbours(&self) -> Neighbours {
        match self {
            Self::Aggregate(Aggregate { participation: Participation::FixedSize(_), .. }) => {
                Neighbours::ReplaceOne
            }
            Self::Aggregate(_) | Self::Alone(_) | Self::RandomAgent(_) => Neighbours::ZeroOut,
        }
    }
}
