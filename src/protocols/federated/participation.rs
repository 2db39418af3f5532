//! Measures whether the answers that the server hears are a representative sample of all answers that are due.

use crate::protocols::stage::SeriesOutcome;
use std::fmt;
use std::sync::Arc;

/// By agent: whether the agent is heard in a round. An agent is heard if the server, when it closes the round, has the
/// agent's answer to this round, with or without a vector, or a late vector of the agent that enters the sum of this round.
#[derive(Clone, PartialEq, Eq)]
pub struct Respondents(pub Arc<[bool]>);

impl fmt::Debug for Respondents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.0.iter().filter(|answered| **answered).count(), self.0.len())
    }
}

/// Names of the outcomes of a [`ParticipationTally`]; reports find the outcomes by these names.
const OF_HETEROGENEITY: &str = "mean heterogeneity of answers heard minus that of answers due";
const OF_REGRET: &str = "mean simple regret of answers heard minus that of answers due";
const QUARTERS: [&str; 4] = [
    "share of answers heard by simple regret: lowest quarter",
    "share of answers heard by simple regret: second quarter",
    "share of answers heard by simple regret: third quarter",
    "share of answers heard by simple regret: highest quarter",
];

/// By agent: the number of its answers that were heard, that is, the number of rounds in which the agent was heard
/// ([`Respondents`]). Also the number of answers that were due from each agent: the number of rounds that share vectors.
#[derive(Debug)]
pub(super) struct ParticipationTally {
    answers: Vec<u64>,
    due: u64,
}

impl ParticipationTally {
    pub(super) fn new(agents: usize) -> Self {
        Self { answers: vec![0; agents], due: 0 }
    }

    /// Adds a round that shares vectors.
    pub(super) fn closed(&mut self, respondents: &Respondents) {
        self.due += 1;
        self.answers
            .iter_mut()
            .zip(respondents.0.iter())
            .for_each(|(count, answered)| *count += u64::from(*answered));
    }

    /// Mean of a quantity over the answers that were heard, minus its mean over all answers that were due. The value is
    /// undefined if no answer was heard; the result is `None` if all answers that were due were heard. Agents whose quantity
    /// is NaN or infinite are left out of both means.
    fn bias(&self, name: &str, of: &[f64]) -> Option<SeriesOutcome> {
        let known = || self.answers.iter().zip(of).filter(|(_, value)| value.is_finite());
        let (heard, agents) = (known().map(|(count, _)| *count).sum::<u64>(), known().count());
        if heard == self.due * agents as u64 {
            return None;
        }
        if heard == 0 {
            return Some(SeriesOutcome::undefined(name));
        }
        let due = known().map(|(_, value)| value).sum::<f64>() / agents as f64;
        let bias = known().map(|(count, value)| *count as f64 * (value - due)).sum::<f64>() / heard as f64;
        let bias = if differ(of) { bias } else { 0.0 };
        Some(SeriesOutcome::new(name, bias).otherwise(0.0))
    }

    /// The outcomes of one series: the biases and, for each quarter of the agents in order of regret, the share of the
    /// quarter's due answers that were heard. The list is empty if all answers were heard; when replications are combined,
    /// an empty list counts as biases of 0 and shares of 1. The bias of heterogeneity is left out if all agents have the
    /// same heterogeneity. The shares are left out if fewer than four agents have a finite regret.
    pub(super) fn outcomes(&self, heterogeneity: &[f64], regret: &[f64]) -> Vec<SeriesOutcome> {
        let mut outcomes = Vec::new();
        if differ(heterogeneity) {
            outcomes.extend(self.bias(OF_HETEROGENEITY, heterogeneity));
        }
        let Some(bias) = self.bias(OF_REGRET, regret) else { return outcomes };
        outcomes.push(bias);
        let mut order: Vec<usize> = (0..regret.len()).filter(|&agent| regret[agent].is_finite()).collect();
        order.sort_by(|&a, &b| regret[a].total_cmp(&regret[b]));
        if order.len() >= QUARTERS.len() {
            // Each of several agents of equal regret gets the mean of the counts of all of them, so that their order has no
            // effect.
            let alike = |a: &usize, b: &usize| regret[*a].total_cmp(&regret[*b]).is_eq();
            let mean = |group: &[usize]| {
                let heard: u64 = group.iter().map(|&agent| self.answers[agent]).sum();
                std::iter::repeat_n(heard as f64 / group.len() as f64, group.len())
            };
            let heard: Vec<f64> = order.chunk_by(alike).flat_map(mean).collect();
            for (quarter, name) in QUARTERS.iter().enumerate() {
                let part = quarter * order.len() / 4..(quarter + 1) * order.len() / 4;
                let due = (part.len() as u64 * self.due) as f64;
                let heard: f64 = heard[part].iter().sum();
                outcomes.push(SeriesOutcome::new(*name, heard / due).otherwise(1.0));
            }
        }
        outcomes
    }
}

/// Whether the quantity differs between any two of the agents whose value is finite.
fn differ(of: &[f64]) -> bool {
    let mut known = of.iter().filter(|value| value.is_finite());
    known.next().is_some_and(|first| known.any(|value| value != first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bias_is_the_mean_over_answers_minus_the_mean_over_all() {
        let mut tally = ParticipationTally::new(4);
        for heard in [[true, true, false, true], [true, false, false, true]] {
            tally.closed(&Respondents(Arc::new(heard)));
        }
        // Numbers of answers heard, by agent: 2, 1, 0 and 2. The mean heterogeneity is (1 + 2 + 3 + 6) / 4 = 3 over the
        // answers due, and (2 + 2 + 0 + 12) / 5 = 3.2 over the answers heard.
        let found = tally.outcomes(&[1.0, 2.0, 3.0, 6.0], &[4.0, 3.0, f64::INFINITY, 1.0]);
        assert!((found[0].value - 0.2).abs() < 1e-12, "{found:?}");
        // The mean regret, without the third agent, whose regret is infinite, is 8 / 3 over the answers due, and
        // (8 + 3 + 2) / 5 over the answers heard.
        assert!((found[1].value - (2.6 - 8.0 / 3.0)).abs() < 1e-12, "{found:?}");
        assert_eq!(found.len(), 2, "three agents have no quarters");
        let found = tally.outcomes(&[1.0; 4], &[4.0, 3.0, 2.0, 1.0]);
        assert_eq!(found[0].name, OF_REGRET, "equal agents have no bias of heterogeneity");
        let shares: Vec<f64> = found[1..].iter().map(|outcome| outcome.value).collect();
        assert_eq!(shares, [1.0, 0.0, 0.5, 1.0]);
    }

    /// Agents of equal regret share their counts of answers heard, whatever their order.
    #[test]
    fn ties_between_quarters_are_shared() {
        let shares = |heard: [bool; 4]| {
            let mut tally = ParticipationTally::new(4);
            tally.closed(&Respondents(Arc::new(heard)));
            let found = tally.outcomes(&[1.0; 4], &[5.0, 5.0, 5.0, 7.0]);
            found[1..].iter().map(|outcome| outcome.value).collect::<Vec<f64>>()
        };
        let first = shares([true, false, false, true]);
        assert_eq!(first, shares([false, false, true, true]));
        assert_eq!(first, [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0]);
    }

    /// If no answer was heard, the bias is undefined, not 0. If all agents have the same regret, the bias is 0, and the
    /// quarters still have shares.
    #[test]
    fn without_answers_the_bias_is_undefined_and_equal_regrets_have_shares() {
        let mut tally = ParticipationTally::new(4);
        tally.closed(&Respondents(Arc::new([false; 4])));
        let found = tally.outcomes(&[1.0, 2.0, 3.0, 4.0], &[4.0, 3.0, 2.0, 1.0]);
        assert!(found[0].undefined && found[1].undefined, "{found:?}");
        assert!(found[2..].iter().all(|share| share.value == 0.0), "{found:?}");
        tally.closed(&Respondents(Arc::new([true, false, false, false])));
        let found = tally.outcomes(&[1.0; 4], &[0.0; 4]);
        let values: Vec<f64> = found.iter().map(|outcome| outcome.value).collect();
        assert_eq!(values, [0.0, 0.125, 0.125, 0.125, 0.125]);
    }

    #[test]
    fn there_are_no_outcomes_if_all_answers_entered_the_sums() {
        let mut tally = ParticipationTally::new(2);
        tally.closed(&Respondents(Arc::new([true, true])));
        assert!(tally.outcomes(&[1.0, 2.0], &[1.0, 2.0]).is_empty());
    }
}
