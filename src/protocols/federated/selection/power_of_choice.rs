//! Power-of-choice: the selection of the agents with the largest loss among random candidates.

use super::{LossReporters, Selection, SelectionHistory, too_many};
use crate::rng::Stream;
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// The k agents with the largest loss among d candidates, which are drawn at random without replacement. Every agent
/// reports with each answer the loss of the last vectors that it received: the mean squared difference between the agent's
/// outcomes and the prediction of these vectors. The latest report counts; an agent that has not reported yet counts as
/// having the largest loss.
///
/// Source: Cho, Wang and Joshi 2020, "Client selection in federated learning: convergence analysis and power-of-choice
/// selection strategies", section 4 (its variant rpow-d, in which candidates are not asked for a new loss; but here
/// agents that are not selected report too).
///
/// Example: `PowerOfChoice(candidates: 3, k: 2)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PowerOfChoice {
    /// d, the number of candidates.
    pub candidates: NonZeroU64,
    /// k, the number of agents that are selected.
    pub k: NonZeroU64,
}

impl Selection for PowerOfChoice {
    fn reporters(&self) -> LossReporters {
        LossReporters::Everyone
    }

    fn select(&self, known: &SelectionHistory, stream: &mut Stream) -> Option<Vec<bool>> {
        // Candidates come in random order, and the sort keeps the order of equal losses.
        let mut candidates = stream.distinct(known.agents(), self.candidates.get() as usize);
        let loss = |agent: usize| known.reported[agent].unwrap_or(f64::INFINITY);
        candidates.sort_by(|&a, &b| loss(b).total_cmp(&loss(a)));
        let mut selected = vec![false; known.agents()];
        candidates.iter().take(self.k.get() as usize).for_each(|&agent| selected[agent] = true);
        Some(selected)
    }

    fn problems(&self, agents: u64) -> Vec<Problem> {
        let mut problems = too_many("candidates", self.candidates, agents);
        if self.k > self.candidates {
            let expected = format!("at most the number of candidates, {}", self.candidates);
            problems.push(Problem::wrong(
                "k",
                expected,
                self.k.to_string(),
                "lower k, or raise `candidates`",
            ));
        }
        problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    fn of(d: u64, k: u64) -> PowerOfChoice {
        PowerOfChoice { candidates: NonZeroU64::new(d).unwrap(), k: NonZeroU64::new(k).unwrap() }
    }

    /// How often each agent is selected in 6,000 rounds.
    fn frequencies(choice: PowerOfChoice, reported: &[Option<f64>]) -> Vec<f64> {
        let mut stream = Key::root(7).stream();
        let mut known = SelectionHistory::new(vec![0.0; reported.len()]);
        known.reported = reported.to_vec();
        let mut counts = vec![0.0; reported.len()];
        for _ in 0..6000 {
            let selected = choice.select(&known, &mut stream).unwrap();
            assert_eq!(selected.iter().filter(|selected| **selected).count() as u64, choice.k.get());
            counts
                .iter_mut()
                .zip(selected)
                .for_each(|(count, selected)| *count += f64::from(u8::from(selected)));
        }
        counts.iter().map(|count| count / 6000.0).collect()
    }

    fn choose(n: u64, k: u64) -> f64 {
        if k > n { 0.0 } else { (0..k).map(|i| (n - i) as f64 / (i + 1) as f64).product() }
    }

    /// If r agents have a larger loss than an agent, this agent is selected if it is a candidate and at most k - 1 of the r
    /// agents are candidates too. The number of candidates among the r agents has a hypergeometric law. Four standard
    /// deviations of a frequency are at most 4 * 0.5 / sqrt(6000) = 0.0258.
    #[test]
    fn frequencies_follow_the_hypergeometric_law() {
        let (n, d, k) = (8u64, 5u64, 2u64);
        let losses: Vec<Option<f64>> = (0..n).map(|agent| Some(agent as f64)).collect();
        for (agent, found) in frequencies(of(d, k), &losses).into_iter().enumerate() {
            let larger = n - 1 - agent as u64;
            let ways: f64 = (0..k).map(|j| choose(larger, j) * choose(n - 1 - larger, d - 1 - j)).sum();
            let expected = ways / choose(n, d);
            assert!((found - expected).abs() < 0.0258, "agent {agent}: {found} for {expected}");
        }
    }

    /// All agents are equally likely to be selected if none has reported, or if as many candidates
    /// are drawn as are selected.
    #[test]
    fn without_reports_or_further_candidates_all_agents_are_equally_likely() {
        let losses: Vec<Option<f64>> = (0..6).map(|agent| Some(f64::from(agent))).collect();
        for found in [frequencies(of(6, 2), &[None; 6]), frequencies(of(2, 2), &losses)] {
            assert!(found.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.0258), "{found:?}");
        }
    }
}
