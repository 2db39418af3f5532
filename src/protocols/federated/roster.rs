//! The agents that the server asks for their vectors in a round, and what the server has counted and learned about its
//! agents.

use super::importance::Importance;
use super::selection::{SelectionHistory, SelectionModel};
use crate::rng::Stream;
use crate::vocab::Time;
use std::sync::Arc;

/// What the server knows about its agents, apart from their vectors.
#[derive(Clone, Debug)]
pub(super) struct Roster {
    /// By agent: the name of its group.
    pub(super) groups: Arc<Vec<String>>,
    /// By agent: whether it is asked for its vector in this round; `None` if all agents are asked.
    selected: Option<Vec<bool>>,
    /// The time at which the agents were asked in this round.
    asked_at: Time,
    /// By agent: the number of rounds in which it was asked, and the number of those in which it answered in time.
    counts: Vec<(u64, u64)>,
    /// What the selection depends on.
    history: SelectionHistory,
    /// By agent: the round of its last report and the loss that it reported, until the loss is released.
    reports: Vec<Option<(u64, f64)>>,
}

impl Roster {
    /// The state before the first round; `announced` is the time in seconds that each agent announces for one unit of
    /// work.
    pub(super) fn new(groups: Arc<Vec<String>>, announced: Vec<f64>) -> Self {
        let agents = groups.len();
        Self {
            groups,
            selected: None,
            asked_at: Time::ZERO,
            counts: vec![(0, 0); agents],
            history: SelectionHistory::new(announced),
            reports: vec![None; agents],
        }
    }

    /// By agent: the time in seconds that it announces for one unit of work.
    pub(super) fn announced(&self) -> &[f64] {
        &self.history.announced
    }

    /// Whether the server asks this agent for its vector in this round.
    pub(super) fn asks(&self, agent: usize) -> bool {
        self.selected.as_ref().is_none_or(|selected| selected[agent])
    }

    /// Number of agents that are asked in this round.
    pub(super) fn asked(&self) -> u64 {
        let of_some = |selected: &Vec<bool>| selected.iter().filter(|asked| **asked).count();
        self.selected.as_ref().map_or(self.groups.len(), of_some) as u64
    }

    /// Whether only some agents are asked in this round.
    pub(super) fn is_selective(&self) -> bool {
        self.selected.is_some()
    }

    /// Selects the agents of a round; with `by` = `None`, all agents are asked.
    pub(super) fn select(&mut self, round: u64, by: Option<&SelectionModel>, stream: &mut Stream) {
        self.history.round = round;
        self.selected = by.and_then(|by| by.as_dyn().select(&self.history, stream));
    }

    /// Stores the present time as the time at which the agents were asked.
    pub(super) fn asked_at(&mut self, now: Time) {
        self.asked_at = now;
    }

    /// Records an answer that arrived in time, if its agent was asked.
    pub(super) fn answered(&mut self, agent: usize, round: u64, now: Time) {
        if self.asks(agent) {
            self.counts[agent].1 += 1;
            self.history.rounds[agent] += 1;
            self.history.involved[agent] = Some(round);
            self.history.took[agent] = Some((now - self.asked_at).seconds());
        }
    }

    /// Keeps an agent's loss until it is released, unless a loss of a later round has already arrived from this agent.
    pub(super) fn reported(&mut self, agent: usize, round: u64, loss: f64) {
        if self.reports[agent].is_none_or(|(known, _)| known <= round) {
            self.reports[agent] = Some((round, loss));
        }
    }

    /// The agents whose losses have arrived and are not released yet, with these losses.
    pub(super) fn take_reports(&mut self) -> (Vec<usize>, Vec<f64>) {
        let reports = self.reports.iter_mut().enumerate();
        reports.filter_map(|(agent, report)| Some((agent, report.take()?.1))).unzip()
    }

    /// Stores the released (noisy) losses of these agents.
    pub(super) fn released(&mut self, agents: &[usize], losses: &[f64]) {
        agents.iter().zip(losses).for_each(|(&agent, &loss)| self.history.reported[agent] = Some(loss));
    }

    /// Ends a round: counts which agents were asked, and adds up the released losses of the agents that were asked and
    /// answered in time.
    pub(super) fn close(&mut self, answered: &[bool]) {
        for agent in 0..self.counts.len() {
            self.counts[agent].0 += u64::from(self.asks(agent));
        }
        let took_part = (0..answered.len()).filter(|&agent| answered[agent] && self.asks(agent));
        let utility = took_part.filter_map(|agent| self.history.reported[agent]).sum();
        self.history.utility.push(utility);
    }

    /// The weights of this round, regions x agents, computed from `weights`, which the weight schedule gives. Only
    /// agents that are asked have weights; in each region these sum to 1, unless all of them are 0. With `importance`,
    /// each weight is then multiplied by 1 over the probability that the agent's answer arrives; this factor is at most
    /// `importance.most`.
    pub(super) fn weighted(
        &self,
        mut weights: Vec<Vec<f64>>,
        importance: Option<&Importance>,
    ) -> Vec<Vec<f64>> {
        if let Some(selected) = &self.selected {
            for region in &mut weights {
                region.iter_mut().zip(selected).filter(|(_, asked)| !**asked).for_each(|(w, _)| *w = 0.0);
                let total: f64 = region.iter().sum();
                if total > 0.0 {
                    region.iter_mut().for_each(|weight| *weight /= total);
                }
            }
        }
        if let Some(importance) = importance {
            let factor = |agent: usize| {
                let (asked, answered) = self.counts[agent];
                importance.factor(&self.groups[agent], answered, asked)
            };
            let factors: Vec<f64> = (0..self.groups.len()).map(factor).collect();
            for region in &mut weights {
                region.iter_mut().zip(&factors).for_each(|(weight, factor)| *weight *= factor);
            }
        }
        weights
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocols::federated::importance::AnswerChance;
    use crate::protocols::federated::selection::Fastest;
    use crate::rng::Key;
    use crate::vocab::{Positive, Probability};
    use std::collections::BTreeMap;
    use std::num::NonZeroU64;

    fn roster(groups: &[&str]) -> Roster {
        let groups = groups.iter().map(|&group| group.to_owned()).collect();
        Roster::new(Arc::new(groups), vec![3.0, 1.0, 2.0, 2.0])
    }

    #[test]
    fn only_selected_agents_have_weights() {
        let mut roster = roster(&["a", "a", "b", "b"]);
        let by = SelectionModel::from(Fastest { k: NonZeroU64::new(2).unwrap() });
        roster.select(0, Some(&by), &mut Key::root(1).stream());
        assert_eq!((0..4).map(|agent| roster.asks(agent)).collect::<Vec<_>>(), [false, true, true, false]);
        assert_eq!(roster.asked(), 2);
        let weights = roster.weighted(vec![vec![0.4, 0.3, 0.1, 0.2]], None);
        assert!((weights[0][1] - 0.75).abs() < 1e-12 && (weights[0][2] - 0.25).abs() < 1e-12, "{weights:?}");
    }

    /// The expected sum equals the sum in which all agents answer, whatever their probabilities of answering. This is
    /// simulated in 40,000 rounds. Weights are w = 1/4, values are v = 1, 2, 3, 4, and the last two agents answer with
    /// probability p = 0.25. The variance of one round is then the sum of (w v)^2 (1 - p) / p over these two agents,
    /// which is (9 + 16) / 16 * 3 = 4.69. So four standard deviations of the mean are 0.0433. Without the factors the
    /// expected sum would be 0.75 + 0.25 * 1.75 = 1.19, not 2.5.
    #[test]
    fn weights_by_the_inverse_probability_are_unbiased() {
        let roster = roster(&["often", "often", "seldom", "seldom"]);
        let quarter = Probability::new(0.25).unwrap();
        let answers = AnswerChance::Stated(BTreeMap::from([("seldom".to_owned(), quarter)]));
        let importance = Importance { answers, most: Positive::new(10.0).unwrap() };
        let weights = roster.weighted(vec![vec![0.25; 4]], Some(&importance));
        assert_eq!(weights[0], [0.25, 0.25, 1.0, 1.0]);
        let mut stream = Key::root(2).stream();
        let mut total = 0.0;
        for _ in 0..40_000 {
            for (agent, weight) in weights[0].iter().enumerate() {
                let answers = agent < 2 || stream.bernoulli(0.25);
                total += if answers { weight * (agent + 1) as f64 } else { 0.0 };
            }
        }
        let mean = total / 40_000.0;
        assert!((mean - 2.5).abs() < 0.0433, "{mean}");
    }

    /// The estimate is (answers + 1) / (requests + 1): for example, (1 + 1) / (3 + 1) after one answer to three
    /// requests.
    #[test]
    fn probabilities_of_answering_are_estimated_from_counts() {
        let mut roster = roster(&["a"; 4]);
        let importance = Importance { answers: AnswerChance::Counted, most: Positive::new(10.0).unwrap() };
        for round in 0..3 {
            let answered = [true, round == 0, false, true];
            for agent in (0..4).filter(|&agent| answered[agent]) {
                roster.answered(agent, round, Time::ZERO);
            }
            roster.close(&answered);
        }
        let weights = roster.weighted(vec![vec![0.25; 4]], Some(&importance));
        assert_eq!(weights[0], [0.25, 0.5, 1.0, 0.25]);
    }
}
