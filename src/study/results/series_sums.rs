//! Adds up the numbers for the summary of one series, replication by replication in two passes, so that the records need
//! not be in memory.

use super::bounds::BoundMeans;
use super::estimator::{Estimator, Pass};
use super::outcome_sums::OutcomeSums;
use super::rounds::{TrackSums, last_of_rounds};
use super::series::{CostErrors, CurvePoint, Fairness, GroupSummary, Metrics, SeriesSummary};
use crate::network::LinkStatistics;
use crate::protocols::{GroupOutcome, OneArm, SeriesRecord};
use crate::vocab::PublicFact;
use std::collections::BTreeMap;

/// The sums of one series of one cell.
#[derive(Debug, Default)]
pub(in crate::study) struct SeriesSums {
    name: String,
    replications: u64,
    ended_early: u64,
    ended_early_because: Option<String>,
    budget: Option<String>,
    budget_reached: u64,
    budget_failed: bool,
    jitter: f64,
    never_left: Option<(u64, OneArm)>,
    one_arm: u64,
    public: Vec<PublicFact>,
    bounds: BoundMeans,
    metrics: MetricSums,
    groups: Vec<GroupSums>,
    curve: CurveSums,
    outcomes: OutcomeSums,
    by_round: TrackSums,
}

impl SeriesSums {
    /// Sums without any replication. `first` is the series in the first replication; it states the names of the series
    /// and of its groups.
    pub(in crate::study) fn of(first: &SeriesRecord) -> Self {
        let group = |group: &GroupOutcome| GroupSums {
            group: group.group.clone(),
            agents: group.agents,
            ..GroupSums::default()
        };
        Self { name: first.name.clone(), groups: first.groups.iter().map(group).collect(), ..Self::default() }
    }

    /// Adds the next replication of a pass.
    pub(in crate::study) fn add(&mut self, pass: Pass, run: &SeriesRecord) {
        if pass == Pass::Means {
            self.count(run);
        }
        self.metrics.add(pass, run);
        self.curve.add(pass, run);
        self.outcomes.add(pass, run);
        if run.ended_early.is_none() {
            self.by_round.add(pass, run);
            for (sums, group) in self.groups.iter_mut().zip(&run.groups) {
                sums.add(pass, group);
            }
        }
    }

    /// Adds the numbers for which the first pass is enough.
    fn count(&mut self, run: &SeriesRecord) {
        self.replications += 1;
        if let Some(reason) = &run.ended_early {
            self.ended_early += 1;
            self.ended_early_because.get_or_insert_with(|| reason.clone());
        }
        if let Some(budget) = &run.budget {
            self.budget_reached += 1;
            self.budget.get_or_insert_with(|| budget.reason.clone());
            self.budget_failed |= budget.fail;
        }
        self.jitter = self.jitter.max(run.jitter);
        if let Some(one_arm) = &run.one_arm {
            self.never_left.get_or_insert_with(|| (0, one_arm.clone())).0 += 1;
        }
        self.one_arm += u64::from(asks_one_arm(run));
        for fact in &run.public {
            if !self.public.contains(fact) {
                self.public.push(fact.clone());
            }
        }
        self.bounds.add(run);
    }

    /// Ends a pass, after every replication was added.
    pub(in crate::study) fn end(&mut self, pass: Pass) {
        self.outcomes.end(pass, self.replications);
    }

    /// The summary, once both passes have ended.
    pub(in crate::study) fn finish(self) -> SeriesSummary {
        let groups: Vec<GroupSummary> = self.groups.into_iter().filter_map(GroupSums::finish).collect();
        SeriesSummary {
            name: self.name,
            replications: self.replications,
            ended_early: self.ended_early,
            ended_early_because: self.ended_early_because,
            jitter: self.jitter,
            budget: self.budget,
            budget_reached: self.budget_reached,
            budget_failed: self.budget_failed,
            fairness: Fairness::of(&groups),
            groups,
            one_arm: self.one_arm,
            never_left: self.never_left,
            at_random: false,
            metrics: self.metrics.finish(),
            curve: self.curve.finish(),
            outcomes: self.outcomes.finish(),
            by_round: self.by_round.finish(),
            bounds: self.bounds.finish(),
            public: self.public,
        }
    }
}

/// Smallest number of rounds for which a learner that queries a single arm is reported.
const MIN_ROUNDS: usize = 3;

/// Whether every recorded round of the learner queried the same arm. (If a run has many rounds, `Local` records only some
/// of them.) False with fewer than [`MIN_ROUNDS`] recorded rounds. False also for a series with groups: in a federation
/// each agent queries an arm of its own, and cohorts of users are not examined.
fn asks_one_arm(run: &SeriesRecord) -> bool {
    let asked = || run.iterations.iter().filter(|i| i.t > 0).map(|i| i.arm);
    run.groups.is_empty() && asked().count() >= MIN_ROUNDS && asked().all(|arm| Some(arm) == asked().next())
}

/// The sums from which [`Metrics`] are computed.
#[derive(Debug, Default)]
struct MetricSums {
    simple_regret: Estimator,
    cumulative_regret: Estimator,
    questions: Estimator,
    regret_per_question: Estimator,
    /// Whether some run that reached its end asked no questions.
    asked_nothing: bool,
    virtual_seconds: Estimator,
    messages: Estimator,
    bytes: Estimator,
    messages_lost: Estimator,
    latency: LinkStatistics,
    bytes_per_round: Estimator,
    /// Whether some run has no rounds.
    without_rounds: bool,
    seconds_per_round: Estimator,
    counts: BTreeMap<String, f64>,
}

impl MetricSums {
    fn add(&mut self, pass: Pass, run: &SeriesRecord) {
        if pass == Pass::Means {
            self.latency.merge(&run.network.total());
            for (name, count) in &run.counts {
                match self.counts.get_mut(name) {
                    Some(sum) => *sum += *count as f64,
                    None => drop(self.counts.insert(name.clone(), *count as f64)),
                }
            }
        }
        let asked = run.questions.filter(|asked| *asked > 0.0);
        if let Some(last) = run.at_the_end() {
            self.simple_regret.add(pass, last.simple_regret);
            self.cumulative_regret.add(pass, last.cumulative_regret);
            match asked {
                Some(asked) => {
                    self.questions.add(pass, asked);
                    self.regret_per_question.add(pass, last.cumulative_regret / asked);
                }
                None => self.asked_nothing = true,
            }
        }
        self.virtual_seconds.add(pass, run.virtual_seconds);
        self.messages.add(pass, run.messages as f64);
        self.bytes.add(pass, run.bytes as f64);
        self.messages_lost.add(pass, run.messages_lost as f64);
        let rounds = run.iterations.last().map_or(0, |iteration| iteration.t) as f64;
        if rounds > 0.0 {
            self.bytes_per_round.add(pass, run.bytes as f64 / rounds);
        } else {
            self.without_rounds = true;
        }
        if let (Some(first), Some(last)) = (run.closings.first(), run.closings.last())
            && last.round > first.round
        {
            let seconds = (last.seconds - first.seconds) / (last.round - first.round) as f64;
            self.seconds_per_round.add(pass, seconds);
        }
    }

    fn finish(self) -> Metrics {
        let runs = self.virtual_seconds.n() as f64;
        let asked = |sums: Estimator| sums.estimate().filter(|_| !self.asked_nothing);
        let error = |sums: Estimator| sums.estimate().map_or(0.0, |estimate| estimate.se);
        Metrics {
            simple_regret: self.simple_regret.estimate(),
            cumulative_regret: self.cumulative_regret.estimate(),
            questions: asked(self.questions),
            regret_per_question: asked(self.regret_per_question),
            virtual_seconds: self.virtual_seconds.mean(),
            messages: self.messages.mean(),
            bytes: self.bytes.mean(),
            messages_lost: self.messages_lost.mean(),
            latency_p50_seconds: self.latency.latency_seconds(0.5),
            latency_p99_seconds: self.latency.latency_seconds(0.99),
            bytes_per_round: (!self.without_rounds).then(|| self.bytes_per_round.mean()),
            seconds_per_round: self.seconds_per_round.estimate(),
            errors: CostErrors {
                virtual_seconds: error(self.virtual_seconds),
                messages: error(self.messages),
                bytes: error(self.bytes),
                messages_lost: error(self.messages_lost),
            },
            counts: self.counts.into_iter().map(|(name, sum)| (name, sum / runs)).collect(),
        }
    }
}

/// The sums of one group of agents or cohort of users, over the runs that did not end early.
#[derive(Debug, Default)]
struct GroupSums {
    group: String,
    agents: u64,
    simple_regret: Estimator,
    worst_simple_regret: Estimator,
    cumulative_regret: Estimator,
    evaluations: Estimator,
    regret_per_user: Estimator,
}

impl GroupSums {
    fn add(&mut self, pass: Pass, group: &GroupOutcome) {
        self.simple_regret.add(pass, group.simple_regret);
        self.worst_simple_regret.add(pass, group.worst_simple_regret);
        self.cumulative_regret.add(pass, group.cumulative_regret);
        self.evaluations.add(pass, group.evaluations);
        if let Some(regret) = group.regret_per_user.filter(|_| group.agents > 0) {
            self.regret_per_user.add(pass, regret);
        }
    }

    fn finish(self) -> Option<GroupSummary> {
        Some(GroupSummary {
            group: self.group,
            agents: self.agents,
            simple_regret: self.simple_regret.estimate()?,
            worst_simple_regret: self.worst_simple_regret.estimate()?,
            cumulative_regret: self.cumulative_regret.estimate()?,
            evaluations: self.evaluations.mean(),
            regret_per_user: self.regret_per_user.estimate(),
        })
    }
}

/// The sums of the regrets by round, over the runs that reached the end, or over all runs if none did. If any run reached
/// the end, runs that ended early are left out, because the mean would jump where such a run ends.
#[derive(Debug, Default)]
struct CurveSums {
    reached_end: bool,
    by_round: BTreeMap<u64, (Estimator, Estimator)>,
}

impl CurveSums {
    fn add(&mut self, pass: Pass, run: &SeriesRecord) {
        let whole = run.ended_early.is_none();
        if whole && !self.reached_end {
            self.reached_end = true;
            self.by_round.clear();
        }
        if whole == self.reached_end {
            for iteration in last_of_rounds(&run.iterations) {
                let (simple, cumulative) = self.by_round.entry(iteration.t).or_default();
                simple.add(pass, iteration.simple_regret);
                cumulative.add(pass, iteration.cumulative_regret);
            }
        }
    }

    fn finish(self) -> Vec<CurvePoint> {
        let point = |(t, (simple, cumulative)): (u64, (Estimator, Estimator))| {
            let (simple_regret, cumulative_regret) = (simple.estimate()?, cumulative.estimate()?);
            Some(CurvePoint { t, simple_regret, cumulative_regret })
        };
        self.by_round.into_iter().filter_map(point).collect()
    }
}
