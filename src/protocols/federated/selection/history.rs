//! What a server knows about its agents when it selects some of them.

use crate::rng::Stream;

/// What the server knows before it selects the agents of a round. Everything except `reported` and `utility` is taken as
/// public.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectionHistory {
    /// The round for which agents are selected. In round 0 agents measure their initial points.
    pub round: u64,
    /// By agent: the time in seconds that it announces for one unit of work.
    pub announced: Vec<f64>,
    /// By agent: the last loss that it reported and that was released, with the noise that was added, if any; `None` before
    /// the first such loss.
    pub reported: Vec<Option<f64>>,
    /// By agent: the last round in which it was selected and its answer arrived in time; `None` if there is no such round.
    pub involved: Vec<Option<u64>>,
    /// By agent: the number of rounds in which it was selected and its answer arrived in time.
    pub rounds: Vec<u64>,
    /// By agent: the time in seconds between the request and the agent's answer, for the last answer that arrived in
    /// time.
    pub took: Vec<Option<f64>>,
    /// By past round: the sum of the entries of `reported` at the end of the round, over the agents that were selected and
    /// whose answers arrived in time; an entry `None` adds nothing.
    pub utility: Vec<f64>,
}

impl SelectionHistory {
    /// The history before the first round.
    #[must_use]
    pub fn new(announced: Vec<f64>) -> Self {
        let agents = announced.len();
        Self {
            announced,
            reported: vec![None; agents],
            involved: vec![None; agents],
            rounds: vec![0; agents],
            took: vec![None; agents],
            ..Self::default()
        }
    }

    /// Number of agents.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.announced.len()
    }
}

/// Draws `count` of the agents in `from` (all of them, if there are fewer) without replacement, one after another. `from`
/// has the number and the weight of each agent. In each draw, the probability of an agent is proportional to its weight, if
/// the weight is above 0, and 0 otherwise. If none of the agents that are left has a weight above 0, or if the sum of their
/// weights is not finite, the agents that are left are equally likely.
#[must_use]
pub fn by_weight(mut from: Vec<(usize, f64)>, count: usize, stream: &mut Stream) -> Vec<usize> {
    let mut drawn = Vec::with_capacity(count.min(from.len()));
    while drawn.len() < count && !from.is_empty() {
        let weight = |&(_, weight): &(usize, f64)| if weight > 0.0 { weight } else { 0.0 };
        let total: f64 = from.iter().map(weight).sum();
        let place = if total > 0.0 && total.is_finite() {
            let mut left = stream.uniform() * total;
            let found = from.iter().position(|agent| {
                left -= weight(agent);
                left < 0.0
            });
            // If rounding leaves a remainder, the last agent with a weight is drawn.
            found.or_else(|| from.iter().rposition(|agent| weight(agent) > 0.0)).unwrap_or(0)
        } else {
            stream.below(from.len() as u64) as usize
        };
        drawn.push(from.remove(place).0);
    }
    drawn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    /// Two draws from agents 0, 1 and 2 with weights 1, 2 and 5. The first draw gives agent 2 with probability 5/8. Agent 0
    /// is not drawn if agents 1 and 2 are drawn, in either order: with probability 2/8 * 5/6 + 5/8 * 2/3 = 5/8. For 8,000
    /// trials, 4 standard deviations of a frequency are 4 sqrt(5/8 * 3/8 / 8000) = 0.0217.
    #[test]
    fn draws_follow_the_weights() {
        let mut stream = Key::root(5).stream();
        let (mut first, mut lacks) = (0.0, 0.0);
        for _ in 0..8000 {
            let drawn = by_weight(vec![(0, 1.0), (1, 2.0), (2, 5.0)], 2, &mut stream);
            first += f64::from(u8::from(drawn[0] == 2));
            lacks += f64::from(u8::from(!drawn.contains(&0)));
        }
        for found in [first / 8000.0, lacks / 8000.0] {
            assert!((found - 0.625).abs() < 0.0217, "{found}");
        }
        assert_eq!(by_weight(vec![(3, 0.0)], 4, &mut stream), [3]);
    }
}
