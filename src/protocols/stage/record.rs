//! The record of one series in one replication: plain data, the same in memory and in a file.

use super::one_arm::OneArm;
use crate::accounting::CountedRelease;
use crate::kernel::Checkpoint;
use crate::network::NetworkStatistics;
use crate::objectives::{Holdings, Instance};
use crate::programs::RecordedSession;
use crate::vocab::PublicFact;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One evaluation of the objective; in a federation, one round.
///
/// In a federation, `outcome` and `value` are means over the agents that measured in this round. The regrets are means over
/// all agents with a measurement so far. The time and the arm are those of the latest measurement in this round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Iteration {
    /// 1, 2, ... for the rounds of the learner; 0 for each initial point.
    pub t: u64,
    /// Index of the arm (row of the candidate set); in a search of a box, the number of the queried point.
    pub arm: u64,
    /// The outcome that was measured, noise included.
    pub outcome: f64,
    /// The objective at the arm, without noise.
    pub value: f64,
    /// Best objective value minus the largest objective value evaluated so far, initial points included.
    pub simple_regret: f64,
    /// Sum of instantaneous regrets over the rounds of the learner so far.
    pub cumulative_regret: f64,
    /// Virtual time of the measurement in seconds.
    pub seconds: f64,
}

/// Estimated memory, in bytes, that one evaluation takes in a record, including the evaluation's share of the arms' inputs
/// and of the releases in this record.
pub(in crate::protocols) const ITERATION: f64 = 300.0;

/// The inputs of the arms that were queried, before scaling, so that tables of results can show them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueriedInputs {
    /// The name of each input.
    pub names: Vec<String>,
    /// The inputs of each arm, by the number of the arm.
    pub arms: BTreeMap<u64, Vec<f64>>,
}

/// Largest number of inputs per arm for which inputs are recorded. An arm with more inputs is usually a row of data, such
/// as a time series, which no reader would look up in a table.
const MAX_INPUTS: usize = 16;

impl QueriedInputs {
    /// The inputs of the arms in `iterations`; empty if arms have more than 16 inputs.
    #[must_use]
    pub fn of(instance: &Instance, iterations: &[Iteration]) -> Self {
        let scaled = &instance.inputs;
        let plain = instance.background.plain.as_ref();
        let names = match plain {
            Some(plain) => plain.names.clone(),
            None => (1..=scaled.d()).map(|column| format!("x{column}")).collect(),
        };
        if names.len() > MAX_INPUTS {
            return Self::default();
        }
        let numbers = |arm: u64| match plain {
            Some(plain) => plain.of(arm as usize).map(<[f64]>::to_vec),
            None => ((arm as usize) < scaled.n()).then(|| scaled.row(arm as usize).to_vec()),
        };
        let arms = iterations.iter().filter_map(|asked| Some((asked.arm, numbers(asked.arm)?)));
        Self { names, arms: arms.collect() }
    }

    /// The inputs of `points`, the queried points of a box by number; `names` are the names of the inputs. Empty if there
    /// are more than 16 inputs.
    #[must_use]
    pub fn of_points(names: &[String], points: BTreeMap<u64, Vec<f64>>) -> Self {
        if names.len() > MAX_INPUTS {
            return Self::default();
        }
        Self { names: names.to_vec(), arms: points }
    }

    fn is_empty(&self) -> bool {
        self.arms.is_empty()
    }
}

/// A number at the end of a series, with a theorem's bound on it if there is one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeriesOutcome {
    /// Its name ("f* - f(lambda~)").
    pub name: String,
    /// Its value in this replication.
    pub value: f64,
    /// The proven or claimed bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<OutcomeBound>,
    /// The value that counts for a replication in which the series does not have this outcome.
    /// Default: such a replication is left out of the outcome's mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<f64>,
    /// Whether the outcome has no value in this replication. `value` is then 0, and the replication is left out of the mean.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undefined: bool,
}

impl SeriesOutcome {
    /// An outcome without a bound. Its mean is taken over the replications that have this outcome.
    #[must_use]
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        Self { name: name.into(), value, bound: None, otherwise: None, undefined: false }
    }

    /// An outcome without a value in this replication, although it may have one in others.
    #[must_use]
    pub fn undefined(name: impl Into<String>) -> Self {
        Self { undefined: true, ..Self::new(name, 0.0) }
    }

    /// The outcome with one change: in replications that do not have this outcome, it counts as `value`.
    #[must_use]
    pub fn otherwise(self, value: f64) -> Self {
        Self { otherwise: Some(value), ..self }
    }
}

/// A number that has a value in each of several rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundTrack {
    /// Its name ("share of vectors in time that are clipped").
    pub name: String,
    /// Pairs of a round and the value in that round, in ascending order of the rounds.
    pub points: Vec<(u64, f64)>,
}

/// An upper bound on an outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutcomeBound {
    /// The bound: the outcome is claimed to be at most this number.
    pub at_most: f64,
    /// Least probability with which the bound is claimed to hold.
    pub probability: f64,
    /// Source of the bound ("Kusner et al. 2015, Theorem 2").
    pub source: String,
}

/// A theorem's bound on a series' regret, by round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RegretBound {
    /// Upper or lower bound.
    pub side: BoundSide,
    /// Simple or cumulative regret.
    pub regret: BoundedRegret,
    /// Source of the bound ("Zhou and Tan 2021, Theorem 3").
    pub source: String,
    /// Assumptions and limits of the bound.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub caveats: Vec<String>,
    /// Pairs of a round and the bound for a run that ends with this round, in units of the objective.
    pub points: Vec<(u64, f64)>,
    /// The regret, after the last round, of a learner that chooses the worst arm in every round.
    pub largest_possible: f64,
}

/// Whether a bound is a lower or an upper one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BoundSide {
    /// Lower bound: every learner has at least this regret on some function.
    Lower,
    /// Upper bound: the regret of this learner is at most the bound.
    Upper,
}

/// The regret that a theorem is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum BoundedRegret {
    /// Simple regret.
    Simple,
    /// Cumulative regret.
    Cumulative,
}

/// The record of one series of one replication.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SeriesRecord {
    /// Name of the series.
    pub name: String,
    /// Evaluations in order.
    pub iterations: Vec<Iteration>,
    /// Number of queries, initial points not counted: the evaluations over which the cumulative regret is summed; in a
    /// federation, the mean over agents. Absent where nothing is optimised.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub questions: Option<f64>,
    /// The inputs of the arms in `iterations`.
    #[serde(default, skip_serializing_if = "QueriedInputs::is_empty")]
    pub inputs: QueriedInputs,
    /// Releases in order.
    pub releases: Vec<CountedRelease>,
    /// Latencies and lost messages, by link.
    pub network: NetworkStatistics,
    /// Virtual seconds from start to end.
    pub virtual_seconds: f64,
    /// In a run with a fork (the unchanged branch included): virtual seconds from the start to the fork. Absent if the
    /// series ended before the fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_at: Option<f64>,
    /// Messages sent.
    pub messages: u64,
    /// Messages lost, whatever the cause.
    pub messages_lost: u64,
    /// Messages delivered.
    pub messages_delivered: u64,
    /// Bytes of all messages sent.
    pub bytes: u64,
    /// Further counts of the protocol. The keys are the names of the counts, in words.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub counts: BTreeMap<String, u64>,
    /// Why the series ended before its last round, if it did.
    pub ended_early: Option<String>,
    /// What happened when the privacy budget was reached; absent if it was not reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetReached>,
    /// Regret at the end by group of agents or cohort of users, for a protocol that has groups or cohorts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupOutcome>,
    /// The closing of each round, for a protocol that asks many parties in each round.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closings: Vec<RoundClosing>,
    /// Numbers at the end of the series, in the protocol's order; most protocols have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<SeriesOutcome>,
    /// The numbers of records that agents hold; present only in the first series, and only if the agents hold records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub holdings: Option<Holdings>,
    /// Numbers by round, in the protocol's order; most series have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub by_round: Vec<RoundTrack>,
    /// Theorems' bounds on the regret; most series have none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bounds: Vec<RegretBound>,
    /// The finding that a learner never left an arm, although its model knew next to nothing about the other arms; absent if
    /// there is no such learner.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub one_arm: Option<OneArm>,
    /// The largest jitter that was added to the diagonal of a model's covariance matrix, as a variance; 0 if no jitter was
    /// needed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub jitter: f64,
    /// Whether the protected data are the same in every run of the study, so that the privacy losses of all runs add up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub same_data: bool,
    /// Facts about protected data that observers know and that no release accounts for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub public: Vec<PublicFact>,
    /// The journal's digest after some numbers of events, to locate the first difference in a replay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checkpoints: Vec<CheckpointRecord>,
    /// The journal's digest.
    pub digest: String,
    /// The answers of programs, dialogue by dialogue; most series ask no program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<RecordedSession>,
}

impl SeriesRecord {
    /// An empty record.
    #[must_use]
    pub fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            iterations: Vec::new(),
            questions: None,
            inputs: QueriedInputs::default(),
            releases: Vec::new(),
            network: NetworkStatistics::default(),
            virtual_seconds: 0.0,
            forked_at: None,
            messages: 0,
            messages_lost: 0,
            messages_delivered: 0,
            bytes: 0,
            counts: BTreeMap::new(),
            ended_early: None,
            budget: None,
            groups: Vec::new(),
            closings: Vec::new(),
            outcomes: Vec::new(),
            holdings: None,
            by_round: Vec::new(),
            bounds: Vec::new(),
            one_arm: None,
            jitter: 0.0,
            same_data: false,
            public: Vec::new(),
            checkpoints: Vec::new(),
            digest: String::new(),
            programs: Vec::new(),
        }
    }

    /// The last evaluation of a series that ran to its end; `None` if the series ended early, because regret after
    /// fewer rounds is not comparable.
    #[must_use]
    pub fn at_the_end(&self) -> Option<&Iteration> {
        self.iterations.last().filter(|_| self.ended_early.is_none())
    }
}

fn is_zero(value: &f64) -> bool {
    *value == 0.0
}

/// The journal's digest after some number of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckpointRecord {
    /// Events so far.
    pub events: u64,
    /// Virtual time of the last of these events, in nanoseconds.
    pub nanos: u64,
    /// The first 16 hexadecimal digits of the digest of all these events.
    pub digest: String,
}

impl From<&Checkpoint> for CheckpointRecord {
    fn from(checkpoint: &Checkpoint) -> Self {
        let Checkpoint { events, at, digest } = *checkpoint;
        Self { events, nanos: at.nanos(), digest: format!("{digest:016x}") }
    }
}

/// A privacy budget that was reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetReached {
    /// Where the budget was reached, and what happened then.
    pub reason: String,
    /// Whether the scenario wants the run to fail.
    pub fail: bool,
}

impl RegretBound {
    /// The bound without its values, for a branch of a fork if the fork changes a setting of the series. The caveats are
    /// replaced by one that says why there are no values.
    #[must_use]
    pub fn withheld(self) -> Self {
        let why = "not given: the theorem assumes the same learner, noise and sampling in the whole run, and this fork \
                   changes a setting of the series";
        Self { points: Vec::new(), caveats: vec![why.to_owned()], ..self }
    }
}

/// A closed round of a protocol that asks many parties in each round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RoundClosing {
    /// The round.
    pub round: u64,
    /// Virtual time of the closing in seconds.
    pub seconds: f64,
    /// Parties whose answer arrived before the round was closed.
    pub in_time: u64,
    /// Answers to earlier rounds that arrived since the previous round was closed.
    pub late: u64,
    /// Parties that were asked in the round and whose answer had not arrived when the round was closed.
    pub missing: u64,
}

/// The regret of one group of agents, or of one cohort of users.
///
/// For a group, each regret is a mean (or, for `worst_simple_regret`, the maximum) over those agents of the group that
/// have a measurement. A cohort has a single simple regret: the best value of all arms minus the best value of the arms
/// that any of its users tried. The cumulative regret and the evaluations of a cohort are sums over its users. If people
/// may visit repeatedly (`population`), every visit counts as a user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupOutcome {
    /// Name of the group or cohort.
    pub group: String,
    /// Number of all agents in the group; for a cohort, number of users who tried an arm.
    pub agents: u64,
    /// Mean of the agents' simple regrets at the end; for a cohort, its simple regret.
    pub simple_regret: f64,
    /// Largest of the agents' simple regrets at the end; for a cohort, its simple regret.
    pub worst_simple_regret: f64,
    /// Mean of the agents' cumulative regrets at the end; for a cohort, the sum over its users.
    pub cumulative_regret: f64,
    /// Evaluations of the objective, initial points included: mean over all agents of a group, or sum over the users of a
    /// cohort.
    pub evaluations: f64,
    /// Cumulative regret per user (with `population`, per visit); present for cohorts only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret_per_user: Option<f64>,
}
