//! Oort: the selection of agents with a large loss and a fast device.

use super::history::by_weight;
use super::{LossReporters, Selection, SelectionHistory, too_many};
use crate::rng::Stream;
use crate::vocab::{NonNegative, Probability, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Selects K agents: a share 1 - epsilon of them by statistical and system utility, the others at random among the
/// agents that have not answered yet, in proportion to their announced speed. Here epsilon is the share of exploration,
/// not a privacy loss.
///
/// The utility of an agent is (U + sqrt(0.1 ln R / L)) (T / D)^alpha; if D is at most T, the factor (T / D)^alpha is left
/// out. U is the agent's report, capped at the 95 % quantile of the reports of all agents that have a utility. The report
/// of an agent with n measurements is n sqrt(mean of squared losses), where the loss of a measurement is the squared
/// difference between its outcome and the value that the server's last shared vectors predict. L is the last round in
/// which the agent took part, R is this round (both counted from 1), D is how long the agent's last answer took, and T is
/// the preferred duration of a round. (1 - epsilon) K agents are drawn, with probabilities in proportion to their
/// utility, from those whose utility is at least `cut_off` times the utility of the (1 - epsilon) K-th best. T begins at
/// `pacer_step`. It grows by `pacer_step` whenever the reports of the agents that took part had a smaller sum in the last
/// `pacer_window` rounds than in as many rounds before them.
///
/// Source: Lai, Zhu, Madhyastha and Chowdhury 2021, "Oort: efficient federated learning via guided participant selection",
/// Algorithm 1; the cap and the removal of agents that took part often are in section 4.4.
///
/// Example: `Oort(k: 2, pacer_step: "2s")`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Oort {
    /// K, the number of agents that are selected.
    pub k: NonZeroU64,
    /// epsilon in the first round: the share of the K agents that are drawn for exploration. Default: 0.9, as in the paper.
    #[serde(default = "nine_tenths")]
    pub exploration: Probability,
    /// The factor on epsilon after each round. Default: 0.98, as in the paper.
    #[serde(default = "slowly")]
    pub decay: Probability,
    /// The smallest epsilon. Default: 0.2, as in the paper.
    #[serde(default = "fifth")]
    pub least_exploration: Probability,
    /// alpha, the exponent of the penalty for slow agents. Default: 2, as in the paper.
    #[serde(default = "two")]
    pub penalty: NonNegative,
    /// An agent is drawn by utility only if its utility is at least this share of the utility of the (1 - epsilon) K-th
    /// best agent. Default: 0.95, as in the paper.
    #[serde(default = "most")]
    pub cut_off: Probability,
    /// The first preferred duration T of a round, and the step by which it grows. Default: 10 s.
    #[serde(default = "ten_seconds")]
    pub pacer_step: Span,
    /// Number of rounds over which reports are summed to decide whether T grows. Default: 20.
    #[serde(default = "twenty")]
    pub pacer_window: NonZeroU64,
    /// Number of rounds after which an agent retires: an agent that took part in more rounds is not selected any more.
    /// So an agent whose losses are always large (an outlier) is not selected in every round. At least K agents are always
    /// left: in each round, agents retire in descending order of the number of rounds in which they took part, and those
    /// that come last in this order stay if fewer than K would be left.
    /// Default: no agent retires; the paper's experiments with outliers use 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retires_after: Option<NonZeroU64>,
}

fn nine_tenths() -> Probability {
    Probability::new(0.9).expect("0.9 is a probability")
}

fn slowly() -> Probability {
    Probability::new(0.98).expect("0.98 is a probability")
}

fn fifth() -> Probability {
    Probability::new(0.2).expect("0.2 is a probability")
}

fn two() -> NonNegative {
    NonNegative::new(2.0).expect("2 is not below 0")
}

fn most() -> Probability {
    Probability::new(0.95).expect("0.95 is a probability")
}

fn ten_seconds() -> Span {
    Span::from_millis(10_000)
}

fn twenty() -> NonZeroU64 {
    const TWENTY: NonZeroU64 = NonZeroU64::new(20).expect("20 is not zero");
    TWENTY
}

/// The quantile of reports at which they are capped.
const CAP: f64 = 0.95;

impl Oort {
    /// epsilon in a round; rounds are counted from 0.
    fn exploration_in(&self, round: u64) -> f64 {
        let decayed = self.exploration.get() * libm::pow(self.decay.get(), round as f64);
        decayed.max(self.least_exploration.get().min(self.exploration.get()))
    }

    /// T, in seconds, after these sums of reports, one for each past round.
    fn preferred(&self, utility: &[f64]) -> f64 {
        let window = self.pacer_window.get() as usize;
        let sum = |from: usize| utility[from..from + window].iter().sum::<f64>();
        let falls = |&end: &usize| sum(end - 2 * window) > sum(end - window);
        let steps = (window.saturating_mul(2)..=utility.len()).filter(falls).count();
        self.pacer_step.seconds() * (1 + steps) as f64
    }

    /// By agent, whether it has retired because it took part in more than `retires_after` rounds. At least K agents are
    /// left.
    fn retired(&self, known: &SelectionHistory) -> Vec<bool> {
        let mut retired = vec![false; known.agents()];
        let Some(most) = self.retires_after else { return retired };
        let mut often: Vec<usize> =
            (0..known.agents()).filter(|&agent| known.rounds[agent] > most.get()).collect();
        often.sort_by_key(|&agent| (std::cmp::Reverse(known.rounds[agent]), agent));
        often.truncate(known.agents().saturating_sub(self.k.get() as usize));
        often.into_iter().for_each(|agent| retired[agent] = true);
        retired
    }

    /// The utility of every agent that has answered and reported, and has not retired.
    fn utilities(&self, known: &SelectionHistory, retired: &[bool]) -> Vec<(usize, f64)> {
        let explored = |agent: usize| {
            Some((agent, known.reported[agent]?.max(0.0), known.involved[agent]? + 1, known.took[agent]?))
        };
        let explored: Vec<_> =
            (0..known.agents()).filter(|&agent| !retired[agent]).filter_map(explored).collect();
        let mut reports: Vec<f64> = explored.iter().map(|(_, report, ..)| *report).collect();
        reports.sort_by(f64::total_cmp);
        let cap = reports.get((CAP * reports.len() as f64) as usize).copied().unwrap_or(f64::INFINITY);
        let preferred = self.preferred(&known.utility);
        let utility = |(agent, report, last, took): (usize, f64, u64, f64)| {
            let age = (0.1 * libm::log((known.round + 1) as f64) / last as f64).sqrt();
            let value = report.min(cap) + age;
            let slow = if preferred < took { libm::pow(preferred / took, self.penalty.get()) } else { 1.0 };
            (agent, value * slow)
        };
        explored.into_iter().map(utility).collect()
    }
}

impl Selection for Oort {
    fn reporters(&self) -> LossReporters {
        LossReporters::Selected
    }

    fn report(&self, losses: &[f64]) -> f64 {
        let n = losses.len().max(1) as f64;
        n * (losses.iter().map(|loss| loss * loss).sum::<f64>() / n).sqrt()
    }

    fn select(&self, known: &SelectionHistory, stream: &mut Stream) -> Option<Vec<bool>> {
        let k = (self.k.get() as usize).min(known.agents());
        let retired = self.retired(known);
        let mut utilities = self.utilities(known, &retired);
        let mut unexplored: Vec<usize> = (0..known.agents()).filter(|&agent| !retired[agent]).collect();
        unexplored.retain(|agent| utilities.iter().all(|(other, _)| other != agent));
        // If fewer agents have a utility than are to be drawn by utility, unexplored agents take their places, and vice
        // versa.
        let wanted = (self.exploration_in(known.round) * k as f64).round() as usize;
        let to_explore = wanted.clamp(k.saturating_sub(utilities.len()), unexplored.len().min(k));
        let to_exploit = k - to_explore;
        utilities.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let cut_off = to_exploit.checked_sub(1).map_or(0.0, |last| self.cut_off.get() * utilities[last].1);
        utilities.retain(|(_, utility)| *utility >= cut_off);
        let mut chosen = by_weight(utilities, to_exploit, stream);
        // An announced time below one nanosecond counts as one nanosecond.
        let by_speed = unexplored.into_iter().map(|agent| (agent, 1.0 / known.announced[agent].max(1e-9)));
        chosen.extend(by_weight(by_speed.collect(), to_explore, stream));
        let mut selected = vec![false; known.agents()];
        chosen.into_iter().for_each(|agent| selected[agent] = true);
        Some(selected)
    }

    fn problems(&self, agents: u64) -> Vec<Problem> {
        let mut problems = too_many("k", self.k, agents);
        if self.pacer_step == Span::ZERO {
            let expected = "a duration above 0";
            problems.push(Problem::wrong(
                "pacer_step",
                expected,
                "0 s",
                "about the time of a fast agent's answer",
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn oort(k: u64) -> Oort {
        Oort {
            k: NonZeroU64::new(k).unwrap(),
            exploration: nine_tenths(),
            decay: slowly(),
            least_exploration: fifth(),
            penalty: two(),
            cut_off: Probability::new(0.0).unwrap(),
            pacer_step: Span::from_millis(1_000),
            pacer_window: NonZeroU64::new(2).unwrap(),
            retires_after: None,
        }
    }

    fn known(reports: &[f64], took: &[f64], round: u64) -> SelectionHistory {
        let mut known = SelectionHistory::new(vec![1.0; reports.len()]);
        known.round = round;
        known.reported = reports.iter().map(|report| Some(*report)).collect();
        known.took = took.iter().map(|took| Some(*took)).collect();
        known.involved = vec![Some(0); reports.len()];
        known
    }

    /// Computed without this code, in round R = 10 after a last answer in round L = 1, where sqrt(0.1 ln R / L) =
    /// 0.479853. The utility of the agent that took 2 s, where 1 s is preferred, is divided by 4. The 95 % quantile of
    /// three reports is the largest.
    #[test]
    fn utilities_by_hand() {
        let found = oort(1).utilities(&known(&[1.0, 3.0, 4.0], &[1.0, 2.0, 0.5], 9), &[false; 3]);
        for ((_, found), expected) in found.iter().zip([1.479_853, 3.479_853 / 4.0, 4.479_853]) {
            assert!((found - expected).abs() < 1e-6, "{found} for {expected}");
        }
    }

    /// One agent is drawn with probabilities in proportion to utility. Four standard deviations of a frequency in 6,000
    /// rounds are at most 0.0258.
    #[test]
    fn one_agent_is_drawn_by_utility() {
        let one = Oort { exploration: Probability::new(0.0).unwrap(), ..oort(1) };
        let known = known(&[1.0, 3.0, 4.0], &[1.0, 2.0, 0.5], 9);
        let total = 1.479_853 + 3.479_853 / 4.0 + 4.479_853;
        let mut stream = Key::root(8).stream();
        let mut counts = [0.0; 3];
        for _ in 0..6000 {
            let selected = one.select(&known, &mut stream).unwrap();
            counts.iter_mut().zip(selected).for_each(|(count, is)| *count += f64::from(u8::from(is)));
        }
        for (count, expected) in counts.iter().zip([1.479_853, 3.479_853 / 4.0, 4.479_853]) {
            assert!((count / 6000.0 - expected / total).abs() < 0.0258, "{count} for {expected}");
        }
    }

    /// In round 0 no agent has answered yet, so K unexplored agents are drawn by speed. With K = 1 and announced times of
    /// 1 s and 3 s, the first is drawn with probability 3/4.
    #[test]
    fn unexplored_agents_are_drawn_by_speed() {
        let mut stream = Key::root(9).stream();
        let known = SelectionHistory::new(vec![1.0, 3.0]);
        let first = (0..6000).filter(|_| oort(1).select(&known, &mut stream).unwrap()[0]).count();
        assert!((first as f64 / 6000.0 - 0.75).abs() < 0.0258, "{first}");
    }

    /// The preferred duration grows in every round in which the sum over the last two rounds is below the sum over the
    /// two rounds before them.
    #[test]
    fn the_pacer_follows_falling_utility() {
        let preferred = |utility: &[f64]| oort(1).preferred(utility);
        assert_eq!(preferred(&[5.0, 5.0, 1.0]), 1.0);
        assert_eq!(preferred(&[5.0, 5.0, 1.0, 1.0]), 2.0);
        assert_eq!(preferred(&[5.0, 5.0, 1.0, 1.0, 1.0]), 3.0);
        assert_eq!(preferred(&[1.0, 1.0, 5.0, 5.0, 9.0]), 1.0);
    }

    /// An agent that took part in more than two rounds is not selected any more, and agents with the most rounds retire
    /// first. With K = 2 of four agents, only two may retire, although in the second case three took part more than
    /// twice.
    #[test]
    fn agents_retire_after_many_rounds() {
        let retires = Oort {
            retires_after: NonZeroU64::new(2),
            exploration: Probability::new(0.0).unwrap(),
            ..oort(2)
        };
        let mut known = known(&[100.0, 100.0, 1.0, 1.0], &[1.0; 4], 9);
        let mut stream = Key::root(12).stream();
        for (rounds, left) in [([3, 5, 2, 0], [2, 3]), ([3, 5, 4, 0], [0, 3])] {
            known.rounds = rounds.to_vec();
            for _ in 0..50 {
                let selected = retires.select(&known, &mut stream).unwrap();
                let selected: Vec<usize> = (0..4).filter(|&agent| selected[agent]).collect();
                assert_eq!(selected, left, "{rounds:?}");
            }
        }
    }

    /// Exploration decays to its least share, and exactly K agents are selected, however many have answered.
    #[test]
    fn as_many_as_asked_for_are_selected() {
        assert!((oort(1).exploration_in(1) - 0.882).abs() < 1e-12 && oort(1).exploration_in(500) == 0.2);
        let mut stream = Key::root(10).stream();
        for explored in 0..6 {
            let mut known = known(&[1.0, 0.0, -2.0, 4.0, 5.0], &[1.0; 5], 50);
            known.involved[explored.min(5)..].iter_mut().for_each(|round| *round = None);
            for k in 1..=5 {
                let selected = oort(k).select(&known, &mut stream).unwrap();
                assert_eq!(selected.iter().filter(|is| **is).count() as u64, k, "{explored} explored");
            }
        }
    }
}
