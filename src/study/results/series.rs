//! The results of one series over its replications: means with standard errors, groups, outcomes and bounds.

use super::rounds::TrackRow;
use super::statistics::{Estimate, SHRUNK, estimate_or_mean};
use crate::protocols::{OneArm, RegretBound};
use crate::scenario::Metric;
use crate::vocab::PublicFact;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One series of one cell, over all its replications.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeriesSummary {
    /// Name of the series.
    pub name: String,
    /// Number of replications that have a record.
    pub replications: u64,
    /// Number of replications that ended before their last round.
    pub ended_early: u64,
    /// Why the first replication that ended early did so; `None` if none ended early.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early_because: Option<String>,
    /// The largest jitter that a model needed in any replication: the variance that was added to the diagonal of a
    /// covariance matrix that rounding had made singular. 0 if none was needed.
    #[serde(default)]
    pub jitter: f64,
    /// The message about the privacy budget in the first replication that reached it; absent if none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Number of replications that reached the budget.
    #[serde(default, skip_serializing_if = "is_none")]
    pub budget_reached: u64,
    /// Whether some replication reached the budget and this counts as a failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub budget_failed: bool,
    /// Results by group of agents or cohort of users.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupSummary>,
    /// Differences between groups, where there are at least two and some regret is above 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fairness: Option<Fairness>,
    /// Number of replications in which at least three rounds of the learner are recorded, and the learner queried the same
    /// arm in all recorded rounds. If such a learner observed only this arm and its initial points, equal regrets do not
    /// show that a varied setting has no effect. Always 0 for a series with groups.
    #[serde(default, skip_serializing_if = "is_none")]
    pub one_arm: u64,
    /// Number of replications with a learner that never left an arm although its model knew next to nothing about the other
    /// arms; and what the first of these replications reports about its learners that never left an arm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never_left: Option<(u64, OneArm)>,
    /// Whether the series chooses its arms at random, independently of outcomes, as a baseline for search.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_random: bool,
    /// Its metrics.
    pub metrics: Metrics,
    /// Regret by round, over the replications that reached the end; over all if none did.
    pub curve: Vec<CurvePoint>,
    /// Numbers at the end of the series, each with its bound if it has one; most protocols have no such numbers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<OutcomeRow>,
    /// Numbers by round; most protocols have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_round: Vec<TrackRow>,
    /// Theorems' bounds on the regret, by round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<RegretBound>,
    /// The facts that are taken as public in any replication, each once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub public: Vec<PublicFact>,
}

impl SeriesSummary {
    /// Whether the groups of the series are groups of agents, rather than cohorts of users.
    #[must_use]
    pub fn has_agents(&self) -> bool {
        self.groups.iter().any(|group| group.regret_per_user.is_none())
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A number at the end of a series, over all replications.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeRow {
    /// Its name.
    pub name: String,
    /// Its mean over the replications in which it is defined. If the protocol states a value for replications whose record
    /// lacks the outcome, these replications count with that value.
    pub value: Estimate,
    /// The proven or claimed bound on it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<BoundRow>,
}

/// An upper bound compared with the results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundRow {
    /// The bound, or the mean of the bounds if they differ between replications.
    pub at_most: f64,
    /// Probability with which it is claimed to hold.
    pub probability: f64,
    /// Share of replications in which the bound held, among the replications that have a bound.
    pub held: f64,
    /// Its source.
    pub source: String,
}

/// Differences in regret between groups of agents, or between cohorts of users.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// The group with the largest mean simple regret, or the cohort with the largest mean cumulative regret per user.
    pub worst_group: String,
    /// Jain's index of the groups' mean simple regrets, or of the cohorts' regrets per user: 1 if all are equal, one over
    /// the number of groups if only one is above 0.
    pub jain_index: f64,
}

impl Fairness {
    /// The differences between some groups; `None` for fewer than two, or if all their regrets are 0.
    pub(in crate::study) fn of(groups: &[GroupSummary]) -> Option<Self> {
        let most = |a: &&GroupSummary, b: &&GroupSummary| a.compared().total_cmp(&b.compared());
        let worst = groups.iter().max_by(most).filter(|_| groups.len() > 1)?;
        // Jain's index of n regrets x is (sum x)^2 / (n sum x^2). Values are scaled where their squares would exceed the
        // largest number; the index stays the same.
        let most = groups.iter().map(|group| group.compared().abs()).fold(0.0, f64::max);
        let scale = if most > 1e150 { SHRUNK } else { 1.0 };
        let values = groups.iter().map(|group| group.compared() * scale);
        let (sum, squares) = values.fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
        let jain_index = sum * sum / (groups.len() as f64 * squares);
        (squares > 0.0).then(|| Self { worst_group: worst.group.clone(), jain_index })
    }
}

/// The results of one group of agents or cohort of users, over the replications that did not end early.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct GroupSummary {
    /// Name of the group.
    pub group: String,
    /// Number of agents in it; for a cohort, the number of its users who tried an arm in the first replication.
    pub agents: u64,
    /// Mean simple regret of its agents at the end. A cohort counts as one agent: its simple regret is computed from the
    /// best of all arms that its users tried.
    pub simple_regret: Estimate,
    /// Simple regret of its worst agent at the end; for a cohort, the same as `simple_regret`.
    pub worst_simple_regret: Estimate,
    /// Mean cumulative regret of its agents at the end; for a cohort, the sum over its users.
    pub cumulative_regret: Estimate,
    /// Mean number of evaluations per agent, initial points included; for a cohort, the mean number of its users who tried
    /// an arm.
    pub evaluations: f64,
    /// Cumulative regret per user; present for cohorts only, whose users differ in number between replications.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret_per_user: Option<Estimate>,
}

impl GroupSummary {
    /// The mean by which groups are compared: the mean simple regret of agents, or the mean cumulative regret per user of
    /// cohorts.
    #[must_use]
    pub fn compared(&self) -> f64 {
        self.regret_per_user.unwrap_or(self.simple_regret).mean
    }
}

/// The metrics of a series: means over replications, except for quantiles of latencies, which are over all messages.
/// Regrets are in the unit of the cell's objective.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Metrics {
    /// Simple regret at the end, over the replications that reached the end; absent if there are none, and for a protocol
    /// that optimises nothing.
    pub simple_regret: Option<Estimate>,
    /// Cumulative regret at the end, over the replications that reached the end; absent if `simple_regret` is.
    pub cumulative_regret: Option<Estimate>,
    /// Number of questions asked, which are the evaluations whose regrets are summed in the cumulative regret; in a
    /// federation, the mean over agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<Estimate>,
    /// Cumulative regret divided by the number of questions asked. If messages are lost, fewer questions may be asked, and
    /// cumulative regret is smaller for that reason alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret_per_question: Option<Estimate>,
    /// Virtual seconds from start to end.
    pub virtual_seconds: f64,
    /// Messages sent.
    pub messages: f64,
    /// Bytes sent.
    pub bytes: f64,
    /// Messages lost.
    pub messages_lost: f64,
    /// Median latency of one message over one link in seconds, all replications together.
    pub latency_p50_seconds: Option<f64>,
    /// 99th percentile of the latency of one message over one link in seconds, all replications together.
    pub latency_p99_seconds: Option<f64>,
    /// Bytes sent per round; absent if some replication has no rounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_per_round: Option<f64>,
    /// Mean virtual seconds from the close of one round to the close of the next, over the replications in which at
    /// least two rounds were closed. Absent if there is no such replication, for example because no server closes
    /// rounds.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "estimate_or_mean")]
    pub seconds_per_round: Option<Estimate>,
    /// Other counts of the protocol, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, f64>,
    /// Standard errors of `virtual_seconds`, `messages`, `bytes` and `messages_lost`.
    #[serde(default)]
    pub errors: CostErrors,
}

impl Metrics {
    /// The regret at the end that `metric` names.
    #[must_use]
    pub fn regret(&self, metric: Metric) -> Option<Estimate> {
        match metric {
            Metric::SimpleRegret => self.simple_regret,
            Metric::CumulativeRegret => self.cumulative_regret,
        }
    }
}

/// Standard errors of means over replications; 0 for a single replication.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CostErrors {
    /// Standard error of `virtual_seconds`.
    pub virtual_seconds: f64,
    /// Standard error of `messages`.
    pub messages: f64,
    /// Standard error of `bytes`.
    pub bytes: f64,
    /// Standard error of `messages_lost`.
    pub messages_lost: f64,
}

/// Regret after one round.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct CurvePoint {
    /// The round, from 0 for the initial points.
    pub t: u64,
    /// Simple regret.
    pub simple_regret: Estimate,
    /// Cumulative regret.
    pub cumulative_regret: Estimate,
}
