//! The recipe of one series: what agents share, and how the server computes sums.

use super::adaptive_clip::AdaptiveClip;
use super::importance::Importance;
use super::loss_reports::LossReports;
use super::overlap::Overlap;
use super::personal_sampling::PersonalSampling;
use super::queries::InitialPoints;
use super::rounds::{Late, RoundPolicy};
use super::selection::SelectionModel;
use super::server_trust::ServerTrust;
use super::staleness::StalenessDiscount;
use super::weights::WeightSchedule;
use crate::privacy::mechanisms::{
    Divisor, FederatedSum, Informative, NoiseArithmetic, Participation, SensitivityRule,
};
use crate::protocols::stage::Series;
use crate::protocols::stage::differences::Differences;
use crate::vocab::{Neighbours, NonNegative, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU32, NonZeroU64};

fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

/// Agents with the same settings.
///
/// Example: `AgentGroup(members: "agent")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentGroup {
    /// Name of a party or of a group of parties (a party with a `count` is a group of that name).
    #[schemars(with = "crate::vocab::PartyOrGroup")]
    pub members: String,
    /// h: each agent's objective minus the prior mean is sqrt(1 - h) f + sqrt(h) g. Here f is common to all agents and g
    /// is the agent's own, both minus the prior mean. If every draw of the objective gives the same values, as with a
    /// table, g is drawn from the Gaussian process that is the objective's surrogate. Default: 0.
    #[serde(default = "same")]
    pub heterogeneity: Probability,
    /// How these agents differ otherwise: shift, scale, noise, clusters, drift, domain, own models. Default: not at all.
    #[serde(default, skip_serializing_if = "Differences::is_default")]
    pub differences: Differences,
    /// The region that these agents explore, from 0 (modulo the number of regions of a series, P). Default: agent n
    /// explores region n mod P.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub explores: Option<u32>,
    /// Answers that are missing because of what the agent measured. With `by: Value`, whether an answer is missing
    /// depends on the agent's last outcome. With `by: Regret`, it depends on the agent's simple regret: the largest
    /// value of its own objective minus the largest value that it has measured, both noise-free. (If its objective drifts,
    /// the smallest instantaneous regret of its measurements so far takes the place of the simple regret.) Who answers is
    /// then a release about the agents, with entries in the ledger for each round.
    /// Default: none, answers are missing only because of the network and the parties' availability.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Informative>,
    /// Whether an agent leaves for good with its first answer that is missing because of `silence`. An agent that has left
    /// measures nothing more and sends nothing more. Default: false, a silent agent is asked again in the next round.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub leaves: bool,
}

fn same() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

/// One series: one variant of the protocol, with its own results.
///
/// Example: `Series(name: "together", sharing: Aggregate(clip: 2, noise_multiplier: 1, participation: Poisson(0.5),
/// weights: Uniform()))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct FederatedSeries {
    /// Name in tables and figures.
    pub name: String,
    /// What agents share with each other.
    pub sharing: Sharing,
    /// How often an agent chooses its query by the shared vectors instead of its own model.
    /// Default: `InverseSquareRoot`.
    #[serde(default)]
    pub shared_queries: SharedQueries,
    /// When the server ends a round. Default: when all have answered, after 60 s at the latest.
    #[serde(default)]
    pub policy: RoundPolicy,
    /// K: after round K agents search on their own. No vector and no sum is sent any more, so there is no further
    /// privacy loss, except by `silence` that depends on what agents measured. Agents and server still exchange messages,
    /// without vectors. The reason is that an agent begins a round, and spends its compute time, when it receives the
    /// server's message; if this message is lost, the agent makes no measurement in the round.
    /// Source: Dai, Low and Jaillet 2021, footnote 13. Default: agents share to the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_after: Option<NonZeroU64>,
}

impl FederatedSeries {
    /// Number of the server's broadcasts before agents search on their own, in a run of `rounds`
    /// rounds. It is one more than the number of rounds if there is a closing broadcast and sharing
    /// never ends.
    #[must_use]
    pub fn shared_rounds(&self, rounds: u64) -> u64 {
        let all = self.sharing.broadcasts(rounds);
        self.local_after.map_or(all, |last| all.min(last.get()))
    }

    /// The problem of a `local_after` that contradicts another setting, or after which no round follows.
    pub(super) fn local_problem(&self, rounds: u64) -> Option<Problem> {
        let last = self.local_after?;
        match &self.sharing {
            Sharing::Alone(_) => Some(Problem::wrong(
                "local_after",
                "none: agents that share nothing search on their own from the start",
                last.to_string(),
                "leave it out",
            )),
            Sharing::Aggregate(aggregate) if aggregate.closing_broadcast => Some(Problem::wrong(
                "local_after",
                "none together with closing_broadcast, which comes after the last round",
                last.to_string(),
                "leave `local_after` or `closing_broadcast` out",
            )),
            Sharing::Aggregate(_) | Sharing::RandomAgent(_) => (last.get() >= rounds).then(|| {
                Problem::wrong(
                    "local_after",
                    format!(
                        "a round before the last one, {rounds}, so that agents have a round in which they search on their own"
                    ),
                    last.to_string(),
                    "lower it, raise `rounds`, or leave it out (agents then share to the end)",
                )
            }),
        }
    }
}

impl Series for FederatedSeries {
    fn name(&self) -> &str {
        &self.name
    }
}

/// 1 - p_t, the probability that an agent chooses its query by the shared vectors in round t.
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

/// What agents share with each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[expect(clippy::large_enum_variant, reason = "there is one for each series")]
pub enum Sharing {
    /// Nothing: plain Thompson sampling (TS).
    Alone(Alone),
    /// The vector of a random other agent, as it is: the original FTS.
    RandomAgent(RandomAgent),
    /// Weighted sums over a sample of agents: FTS with a server that sums, FTS-DE, DP-FTS, DP-FTS-DE.
    Aggregate(Aggregate),
}

/// Agents share nothing, and each does Thompson sampling with its own model: `Alone()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alone {}

/// Each agent gets the vector of one random other agent, as in the first publication of FTS: `RandomAgent()`. Source: Dai,
/// Low and Jaillet 2020, Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomAgent {}

/// Weighted sums of the clipped vectors of sampled agents, with noise.
///
/// With noise multiplier z, a sum has Gaussian noise whose standard deviation is z times the planned sensitivity. The
/// planned sensitivity bounds the change that one agent can make to the sum if all agents answer in time; the field
/// `sensitivity` says how this bound is computed.
/// Settings with which an agent can change the sum more (`divisor: Arrived`, `late: AddToNext`) do not increase the
/// noise; the privacy loss in the ledger is then larger.
/// Source: Dai, Low and Jaillet 2020, Algorithm 1 (FTS); 2021, Algorithms 1 and 2 (FTS-DE, DP-FTS, DP-FTS-DE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// P, the number of regions of the domain; agent n explores region n mod P, unless its group states `explores`.
    /// Default: 1.
    #[serde(default = "one")]
    pub regions: NonZeroU32,
    /// Where agents' initial points lie. Default: `InOwnRegion`. (Distributed exploration has two parts: initial points in
    /// regions, and weights by region. Figure 5 of Dai, Low and Jaillet 2021 switches off one part at a time. `Everywhere`
    /// keeps only the weights by region; `weights: Uniform()` keeps only the initial points in regions.)
    #[serde(default, skip_serializing_if = "InitialPoints::is_default")]
    pub initial: InitialPoints,
    /// S, the clipping norm over all regions: the vector for each region is clipped to S / sqrt(P). Default: no
    /// clipping, and no privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Positive>,
    /// How the clipping norm follows the agents' vectors after the first sum. Default: it stays as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive_clip: Option<AdaptiveClip>,
    /// z, the noise multiplier. Default: 0, no noise and no privacy.
    #[serde(default = "zero")]
    pub noise_multiplier: NonNegative,
    /// Who takes part in a sum. Default: everybody, `Poisson(1)`.
    #[serde(default = "everybody")]
    pub participation: Participation,
    /// An epsilon for each agent: each agent is sampled as often as its own epsilon allows. Default: all are sampled alike.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub personal: Option<PersonalSampling>,
    /// Whose vectors a sum contains, and which points agents may choose by the sum, if an agent can measure only a part of
    /// the domain. Default: `WholeDomain`.
    #[serde(default, skip_serializing_if = "Overlap::is_default")]
    pub overlap: Overlap,
    /// The weight of each agent in each region. Default: `Annealed`, the weights of Dai, Low and Jaillet 2021 (with one
    /// region, all agents have the same weight).
    #[serde(default)]
    pub weights: WeightSchedule,
    /// Which agents the server asks for their vectors in a round; only these have weights. Default: `Everyone`.
    #[serde(default, skip_serializing_if = "SelectionModel::is_everyone")]
    pub selection: SelectionModel,
    /// The noise in the losses that agents report for a selection by loss. Default: no noise, and no privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss_reports: Option<LossReports>,
    /// Weights that correct for biased participation. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
    /// What the sum is divided by. Default: `Planned`.
    #[serde(default)]
    pub divisor: Divisor,
    /// What happens to answers that arrive too late. Default: `Discard`.
    #[serde(default)]
    pub late: Late,
    /// The factor on the weight of a late vector, by the number of rounds by which it is late. Default: 1, no discount.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub staleness: Option<StalenessDiscount>,
    /// Whether the server broadcasts once more after the last round. No agent uses this broadcast, and it costs as much
    /// privacy as any other. In Dai, Low and Jaillet 2021, the loop (t = 0 to T) has this broadcast, but the privacy losses
    /// are computed for T broadcasts only. Default: false.
    #[serde(default)]
    pub closing_broadcast: bool,
    /// The rule for two sensitivities: the one to which the noise is scaled, and the one from which the privacy loss is
    /// computed. Default: `LargestWeight`, the rule of Dai, Low and Jaillet 2021.
    #[serde(default)]
    pub sensitivity: SensitivityRule,
    /// Whether the server is trusted with agents' vectors. Default: `Trusted`.
    #[serde(default)]
    pub server: ServerTrust,
    /// Whether agents see which agents were sampled. Default: false.
    #[serde(default)]
    pub visible_participation: bool,
    /// How noise is sampled. Default: `Exact` if the server is trusted, and `Ideal` under masks, where `Exact` is
    /// refused. Under masks each agent adds a share of the noise, and each share would be rounded separately. The sum of
    /// rounded shares does not have the distribution of noise that is rounded once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<NoiseArithmetic>,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn everybody() -> Participation {
    Participation::Poisson(Probability::new(1.0).expect("1 is a probability"))
}

impl Aggregate {
    /// The mechanism of the sums of a round in which no answer is late, with the first clipping norm, if `asked` agents
    /// are asked.
    #[must_use]
    pub fn mechanism(&self, asked: u64) -> FederatedSum {
        let z = self.noise_multiplier.get();
        FederatedSum {
            participation: self.participation,
            clip: self.clip,
            noise_multiplier: z,
            divisor: self.divisor,
            multiplicity: 1,
            keeps_sampling_draw: false,
            visible: self.visible_participation,
            sensitivity: self.sensitivity,
            claimed_rate: None,
            excluded_from_claim: false,
            arithmetic: self.arithmetic.unwrap_or(if self.server.is_masked() {
                NoiseArithmetic::Ideal
            } else {
                NoiseArithmetic::Exact
            }),
            rates: None,
            count: self.adaptive_clip.map(|adaptive| adaptive.count(z, self.planned(asked))),
        }
    }
}

impl AgentGroup {
    /// Whether a setting of this group makes its agents' functions differ from the objective by more than a factor. Such
    /// a setting shifts the functions, or mixes them with further draws: one for each agent (`heterogeneity`), one for
    /// each cluster, or one for each round of a drift.
    pub(super) fn deviates(&self) -> bool {
        self.heterogeneity.get() > 0.0
            || self.differences.reach() > 0.0
            || self.differences.split_up().is_some()
            || self.differences.drifting().is_some()
    }

    /// What is wrong with `silence` and `leaves` of the group.
    pub(super) fn silence_problems(&self) -> Vec<Problem> {
        let problems = self.silence.as_ref().map_or_else(Vec::new, Informative::problems);
        let mut problems: Vec<Problem> =
            problems.into_iter().map(|problem| problem.below("silence")).collect();
        if self.leaves && self.silence.is_none() {
            let cure =
                "write silence: Informative(by: Regret, slope: 1, base_rate: 0.05), or leave `leaves` out";
            let expected = "agents whose answers may be missing because of what they measured";
            problems.push(Problem::wrong("leaves", expected, "no `silence`", cure));
        }
        problems
    }
}

impl Sharing {
    /// The settings of sums, if vectors are shared as sums.
    pub(super) fn aggregate(&self) -> Option<&Aggregate> {
        match self {
            Self::Aggregate(aggregate) => Some(aggregate),
            Self::Alone(_) | Self::RandomAgent(_) => None,
        }
    }

    /// The clipping norm; if it is adaptive, the norm of the first sum.
    pub(super) fn clip(&self) -> Option<Positive> {
        self.aggregate()?.clip
    }

    /// Whether the clipping norm follows the agents' vectors.
    pub(super) fn adapts_clip(&self) -> bool {
        self.aggregate().is_some_and(|aggregate| aggregate.adaptive_clip.is_some())
    }

    /// The selection, if it depends on losses that agents report.
    pub(super) fn reporting(&self) -> Option<&SelectionModel> {
        self.aggregate().filter(|aggregate| aggregate.selects_by_loss()).map(|aggregate| &aggregate.selection)
    }

    pub(super) fn regions(&self) -> usize {
        match self {
            Self::Aggregate(aggregate) => aggregate.regions.get() as usize,
            Self::Alone(_) | Self::RandomAgent(_) => 1,
        }
    }

    /// Number of the server's broadcasts in a run of `rounds` rounds.
    #[must_use]
    pub fn broadcasts(&self, rounds: u64) -> u64 {
        match self {
            Self::Aggregate(aggregate) => rounds + u64::from(aggregate.closing_broadcast),
            Self::Alone(_) | Self::RandomAgent(_) => rounds,
        }
    }

    /// Where agents' initial points lie.
    pub(super) fn initial(&self) -> InitialPoints {
        match self {
            Self::Aggregate(aggregate) => aggregate.initial,
            Self::Alone(_) | Self::RandomAgent(_) => InitialPoints::InOwnRegion,
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
