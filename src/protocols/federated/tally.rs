//! Mean regrets by round and by group, from the measurements of many agents.

use super::messages::Clipped;
use super::participation::{ParticipationTally, Respondents};
use super::rank_assignment::heterogeneity_of;
use crate::protocols::stage::differences::OwnFunction;
use crate::protocols::stage::{
    GroupOutcome, Iteration, QueriedArms, Regret, RoundClosing, RoundTrack, SeriesOutcome,
};
use crate::vocab::Time;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One measurement.
#[derive(Clone, Copy, Debug)]
struct Measured {
    agent: usize,
    arm: u64,
    outcome: f64,
    value: f64,
    seconds: f64,
    /// Whether shared vectors chose the arm.
    shared: bool,
}

/// The regret of one agent so far. If the agent's function drifts, the simple regret is computed with the function of the
/// round of the last query: this function's best value, minus its best value among all arms queried so far. The cumulative
/// regret is the sum of the instantaneous regrets, each computed with the function of its own round; initial points are not
/// counted.
struct OwnRegret {
    function: Arc<OwnFunction>,
    regret: Regret,
    /// The arms queried so far, if the function drifts.
    queried: BTreeSet<usize>,
}

impl OwnRegret {
    fn new(function: &Arc<OwnFunction>) -> Self {
        let regret = Regret::new(function.best(0));
        Self { function: Arc::clone(function), regret, queried: BTreeSet::new() }
    }

    fn evaluated(&mut self, round: u64, arm: usize, value: f64) {
        if !self.function.drifts() {
            return self.regret.evaluated(round, value);
        }
        self.queried.insert(arm);
        let (best, now) = (self.function.best(round), self.function.at(round));
        let found = self.queried.iter().map(|&arm| now[arm]).fold(f64::NEG_INFINITY, f64::max);
        self.regret.simple = best - found;
        if round > 0 {
            self.regret.cumulative += best - value;
        }
    }
}

/// Collects measurements of one series.
#[derive(Debug)]
pub(super) struct Tally {
    functions: Vec<Arc<OwnFunction>>,
    /// Measurements by round.
    rounds: Vec<Vec<Measured>>,
    /// One entry for each round that was closed.
    pub(super) closings: Vec<RoundClosing>,
    /// For each round in which the server clips vectors: the round, the number of answers in time, and the number and weight
    /// of the vectors that are clipped. Empty, for example, without a clipping norm.
    clipped: Vec<(u64, u64, Clipped)>,
    /// Round, clipping norm of the next round, and noisy share of vectors within this round's norm; empty if the norm is
    /// fixed.
    norms: Vec<(u64, f64, f64)>,
    /// Rounds share vectors if their number is below this number.
    shared_rounds: u64,
    participation: ParticipationTally,
    /// On a box: the number of measurements so far.
    numbered: u64,
    /// On a box: the point measured last in each round, with the number of its measurement.
    last_points: BTreeMap<u64, (u64, Vec<f64>)>,
}

impl Tally {
    /// A tally without measurements, for `rounds` rounds, of which those below `shared_rounds` share vectors.
    pub(super) fn new(functions: Vec<Arc<OwnFunction>>, rounds: u64, shared_rounds: u64) -> Self {
        Self {
            shared_rounds,
            participation: ParticipationTally::new(functions.len()),
            functions,
            rounds: vec![Vec::new(); rounds as usize + 1],
            closings: Vec::new(),
            clipped: Vec::new(),
            norms: Vec::new(),
            numbered: 0,
            last_points: BTreeMap::new(),
        }
    }

    pub(super) fn measured(
        &mut self,
        agent: u64,
        round: u64,
        (arm, shared): (u64, bool),
        outcome: f64,
        at: Time,
    ) {
        let agent = agent as usize;
        let value = self.functions[agent].at(round)[arm as usize];
        let seconds = at.seconds();
        self.rounds[round as usize].push(Measured { agent, arm, outcome, value, seconds, shared });
    }

    /// As [`Self::measured`], at a point of a box. The measurements of all agents are numbered together, in the order in
    /// which they are added.
    pub(super) fn measured_at(
        &mut self,
        agent: u64,
        round: u64,
        (point, shared): (&[f64], bool),
        outcome: f64,
        at: Time,
    ) {
        let (agent, arm) = (agent as usize, self.numbered);
        self.numbered += 1;
        let value = self.functions[agent].at_point(point);
        let seconds = at.seconds();
        self.last_points.insert(round, (arm, point.to_vec()));
        self.rounds[round as usize].push(Measured { agent, arm, outcome, value, seconds, shared });
    }

    /// On a box: the point measured last in each round, by the number of its measurement.
    pub(super) fn last_points(&self) -> BTreeMap<u64, Vec<f64>> {
        self.last_points.values().map(|(number, point)| (*number, point.clone())).collect()
    }

    /// Two numbers, both without noise: the best value that any agent has measured, and the mean over agents of the best
    /// value that the agent has measured. Agents without a measurement are left out of the mean; `None` if no agent has a
    /// measurement.
    pub(super) fn best_found(&self) -> Option<(f64, f64)> {
        let mut best = vec![f64::NEG_INFINITY; self.functions.len()];
        for m in self.rounds.iter().flatten() {
            best[m.agent] = best[m.agent].max(m.value);
        }
        best.retain(|value| value.is_finite());
        let most = best.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (!best.is_empty()).then(|| (most, best.iter().sum::<f64>() / best.len() as f64))
    }

    /// Mean value at the points that shared vectors chose, and the expected mean if each of these points were replaced
    /// by a random point of the domain in the same round. `None` if shared vectors chose no point.
    pub(super) fn shared_queries(&self) -> Option<(f64, f64)> {
        let mean_of = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let means: Vec<f64> = self.functions.iter().map(|f| mean_of(f.at(0))).collect();
        let (mut count, mut chosen, mut random) = (0.0, 0.0, 0.0);
        for (round, measured) in (0..).zip(&self.rounds) {
            for m in measured.iter().filter(|m| m.shared) {
                let function = &self.functions[m.agent];
                count += 1.0;
                chosen += m.value;
                random += if function.drifts() { mean_of(function.at(round)) } else { means[m.agent] };
            }
        }
        (count > 0.0).then(|| (chosen / count, random / count))
    }

    /// By round, 1 minus the mean, over agents, of the largest outcome that the agent has measured so far, noise included,
    /// as in Figure 3 of Dai, Low and Jaillet 2021. Agents without a measurement so far are left out.
    pub(super) fn best_outcomes(&self) -> RoundTrack {
        let mut best = vec![f64::NEG_INFINITY; self.functions.len()];
        let mut points = Vec::with_capacity(self.rounds.len());
        for (round, measured) in self.rounds.iter().enumerate() {
            for m in measured {
                best[m.agent] = best[m.agent].max(m.outcome);
            }
            let known = || best.iter().filter(|best| best.is_finite());
            if known().next().is_some() {
                points.push((round as u64, 1.0 - known().sum::<f64>() / known().count() as f64));
            }
        }
        RoundTrack { name: "1 - best outcome, mean of agents".to_owned(), points }
    }

    /// The number and weight of the clipped vectors, by round.
    pub(super) fn clipped(&self) -> Vec<(u64, Clipped)> {
        self.clipped.iter().map(|(round, _, clipped)| (*round, *clipped)).collect()
    }

    /// Mean number of measurements after the initial points, over the agents that measured anything. This is the mean number
    /// of terms of an agent's cumulative regret.
    pub(super) fn questions(&self) -> Option<f64> {
        let mut measured = vec![false; self.functions.len()];
        self.rounds.iter().flatten().for_each(|m| measured[m.agent] = true);
        let agents = measured.into_iter().filter(|measured| *measured).count();
        let asked: usize = self.rounds.iter().skip(1).map(Vec::len).sum();
        (agents > 0).then(|| asked as f64 / agents as f64)
    }

    /// The arms that each agent has queried; none on a box.
    pub(super) fn queried(&self) -> Vec<QueriedArms> {
        let mut queried = vec![QueriedArms::default(); self.functions.len()];
        if self.numbered > 0 {
            return queried;
        }
        for (t, measured) in self.rounds.iter().enumerate() {
            measured.iter().for_each(|m| queried[m.agent].add(t as u64, m.arm as usize));
        }
        queried
    }

    /// The share of clipped vectors among those that arrived in time, by round; `None` without a clipping norm, or if no
    /// vector arrived in time in any round.
    pub(super) fn clipped_shares(&self) -> Option<RoundTrack> {
        let share = |&(round, vectors, clipped): &(u64, u64, Clipped)| {
            (vectors > 0).then(|| (round, clipped.vectors as f64 / vectors as f64))
        };
        let points: Vec<(u64, f64)> = self.clipped.iter().filter_map(share).collect();
        let name = "share of vectors in time that are clipped".to_owned();
        (!points.is_empty()).then_some(RoundTrack { name, points })
    }

    /// Adds the clipping norm of the next round (`norm`), which follows from the vectors of this round (`round`), and the
    /// noisy share of vectors within this round's norm (`within`).
    pub(super) fn norm(&mut self, round: u64, norm: f64, within: f64) {
        self.norms.push((round, norm, within));
    }

    /// By round, the clipping norm and the noisy share of vectors within it; empty if the norm is fixed. `first` is the norm
    /// of round 0.
    pub(super) fn norms(&self, first: f64) -> Vec<RoundTrack> {
        if self.norms.is_empty() {
            return Vec::new();
        }
        // The norm after the last round that shares vectors clips nothing.
        let followed = self.norms.iter().filter(|&&(round, ..)| round + 1 < self.shared_rounds);
        let next = followed.map(|&(round, norm, _)| (round + 1, norm));
        let norms = std::iter::once((0, first)).chain(next).collect();
        let within = self.norms.iter().map(|&(round, _, within)| (round, within)).collect();
        let track = |name: &str, points| RoundTrack { name: name.to_owned(), points };
        vec![track("clipping norm", norms), track("share of vectors within the norm, with noise", within)]
    }

    pub(super) fn closed(
        &mut self,
        round: u64,
        (in_time, late, asked): (u64, u64, u64),
        (clipped, respondents): (Option<Clipped>, &Respondents),
        at: Time,
    ) {
        if round < self.shared_rounds {
            self.participation.closed(respondents);
        }
        self.clipped.extend(clipped.map(|clipped| (round, in_time, clipped)));
        let missing = asked.saturating_sub(in_time);
        self.closings.push(RoundClosing { round, seconds: at.seconds(), in_time, late, missing });
    }

    /// Measures of whether the agents that the server heard ([`Respondents`]) are a representative sample of all agents.
    /// Empty without any measurement, as in a dry run.
    pub(super) fn participation(&self) -> Vec<SeriesOutcome> {
        let mut regrets: Vec<OwnRegret> = self.functions.iter().map(OwnRegret::new).collect();
        for (t, measured) in self.rounds.iter().enumerate() {
            measured.iter().for_each(|m| regrets[m.agent].evaluated(t as u64, m.arm as usize, m.value));
        }
        let regrets: Vec<f64> = regrets.iter().map(|own| own.regret.simple).collect();
        if regrets.iter().all(|regret| regret.is_infinite()) {
            return Vec::new();
        }
        let values: Vec<_> = self.functions.iter().map(|function| Arc::clone(function.at(0))).collect();
        self.participation.outcomes(&heterogeneity_of(&values), &regrets)
    }

    /// Mean simple and cumulative regret over agents, round by round, and the outcome by group. In a round that an agent
    /// missed, the agent's regrets stay as they were. Agents without any measurement so far are left out of mean regrets.
    pub(super) fn finish(&self, groups: &[(String, Vec<usize>)]) -> (Vec<Iteration>, Vec<GroupOutcome>) {
        let agents = self.functions.len();
        let mut regrets: Vec<OwnRegret> = self.functions.iter().map(OwnRegret::new).collect();
        let mut evaluations = vec![0u64; agents];
        let mut iterations = Vec::new();
        for (t, measured) in self.rounds.iter().enumerate() {
            for m in measured {
                regrets[m.agent].evaluated(t as u64, m.arm as usize, m.value);
                evaluations[m.agent] += 1;
            }
            let Some(last) = measured.last() else { continue };
            let count = measured.len() as f64;
            let known = || regrets.iter().map(|own| own.regret).filter(|regret| regret.simple.is_finite());
            let started = known().count().max(1) as f64;
            iterations.push(Iteration {
                t: t as u64,
                arm: last.arm,
                outcome: measured.iter().map(|m| m.outcome).sum::<f64>() / count,
                value: measured.iter().map(|m| m.value).sum::<f64>() / count,
                simple_regret: known().map(|regret| regret.simple).sum::<f64>() / started,
                cumulative_regret: known().map(|regret| regret.cumulative).sum::<f64>() / started,
                seconds: measured.iter().map(|m| m.seconds).fold(0.0, f64::max),
            });
        }
        let outcome = |(group, members): &(String, Vec<usize>)| {
            let known = || {
                members.iter().map(|&agent| regrets[agent].regret).filter(|regret| regret.simple.is_finite())
            };
            let count = known().count().max(1) as f64;
            GroupOutcome {
                regret_per_user: None,
                group: group.clone(),
                agents: members.len() as u64,
                simple_regret: known().map(|regret| regret.simple).sum::<f64>() / count,
                worst_simple_regret: known().map(|regret| regret.simple).fold(0.0, f64::max),
                cumulative_regret: known().map(|regret| regret.cumulative).sum::<f64>() / count,
                evaluations: members.iter().map(|&a| evaluations[a] as f64).sum::<f64>()
                    / members.len().max(1) as f64,
            }
        };
        (iterations, groups.iter().map(outcome).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The mean of all values drifts from 1/2 in round 0 to 4 in round 1. In round 1, shared vectors chose an arm.
    #[test]
    fn random_points_are_valued_in_the_round_of_the_query() {
        let by_round = vec![Arc::new(vec![0.0, 1.0]), Arc::new(vec![3.0, 5.0])];
        let mut tally = Tally::new(vec![Arc::new(OwnFunction::new(by_round, None))], 1, 1);
        tally.measured(0, 1, (0, false), 0.0, Time::ZERO);
        assert_eq!(tally.shared_queries(), None);
        tally.measured(0, 1, (1, true), 5.0, Time::ZERO);
        assert_eq!(tally.shared_queries(), Some((5.0, 4.0)));
    }
}
