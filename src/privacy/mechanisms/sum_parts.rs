//! The settings and the input of a federated sum: participation, divisor, scale of the noise, and the vectors received.

use crate::vocab::Probability;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who takes part in a sum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Participation {
    /// Each agent independently with this probability.
    ///
    /// Example: `Poisson(0.35)`.
    Poisson(Probability),
    /// Exactly this many agents, drawn without replacement.
    ///
    /// Example: `FixedSize(3)`.
    FixedSize(u64),
}

/// What the sum is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Divisor {
    /// The planned rate: weights sum to 1 over all agents, whether or not they answer. The privacy loss is as planned.
    #[default]
    Planned,
    /// Weights are renormalised over the agents that answered, and the noise stays as planned. Each of these agents has
    /// a larger weight, so the noise protects less.
    Arrived,
    /// As `Arrived`, but one of two neighbouring federations lacks an agent altogether. The divisor then changes even if
    /// this agent is not sampled, so the largest change by an agent doubles and sampling gives no protection. An agent that
    /// did not answer may have answered in the neighbouring federation; so the sensitivity also covers the weight that such
    /// an agent would have had.
    ArrivedOrGone,
}

/// What the noise is scaled to, and the sensitivity from which the privacy loss is computed. S is the clipping norm, q
/// the sampling rate, w_max the largest weight, and |w|_2 the largest L2 norm of one agent's weights in the P regions,
/// each of which has a sum of its own. "The paper" is Dai, Low and Jaillet 2021.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SensitivityRule {
    /// Noise and sensitivity use w_max S / q, as in the paper.
    #[default]
    LargestWeight,
    /// Noise as in the paper; the loss is computed from |w|_2 S / (q sqrt P), which is never larger than w_max S / q.
    TighterLoss,
    /// Noise and sensitivity use |w|_2 S / (q sqrt P): the paper's loss with up to sqrt(P) times less noise.
    TighterNoise,
}

/// The vectors that a server holds when it closes a round.
#[derive(Clone, Debug)]
pub struct ReceivedVectors {
    /// Number of agents of the federation, present or not.
    pub population: usize,
    /// Agents and their vectors; the same agent may occur twice (with a late and a current vector).
    pub vectors: Vec<(usize, Arc<Vec<f64>>)>,
    /// Weights: regions x agents. Those of a region sum to 1 or are all 0. With importance weights (a setting of the
    /// federation), each weight is then multiplied by its agent's factor.
    pub weights: Arc<Vec<Vec<f64>>>,
    /// Agents for which a second sampling draw is made, because their vector in this sum is a late one from an earlier
    /// round.
    pub late_sampling_draw: Vec<usize>,
    /// Length of a vector.
    pub length: usize,
    /// For each vector, a factor from 0 to 1 by which its weight is multiplied, for example because
    /// the vector is from an earlier round; empty if all factors are 1. A factor below 0 counts as
    /// 0, one above 1 as 1.
    pub discounts: Vec<f64>,
}

impl ReceivedVectors {
    /// The sum of the weights of the vectors that were received, each weight times its vector's discount. `region` has the
    /// weight of each agent in the region.
    pub(super) fn present(&self, region: &[f64]) -> f64 {
        if self.discounts.is_empty() {
            return self.vectors.iter().map(|(agent, _)| region[*agent]).sum();
        }
        let vectors = self.vectors.iter().enumerate();
        vectors.map(|(place, (agent, _))| self.discount(place) * region[*agent]).sum()
    }

    /// The factor by which the weight of the vector at this position is multiplied, at most 1, so
    /// that the sums' sensitivity to a vector is never larger than without a factor.
    pub(super) fn discount(&self, place: usize) -> f64 {
        let factor = self.discounts.get(place).copied().unwrap_or(1.0);
        if factor > 0.0 { factor.min(1.0) } else { 0.0 }
    }

    /// Whether in every region all agents have equal weights.
    pub(super) fn has_equal_weights(&self) -> bool {
        self.weights.iter().all(|region| region.iter().all(|w| (w - region[0]).abs() <= 1e-12 * region[0]))
    }

    /// For each agent, whether its vector is present.
    pub(super) fn here(&self) -> Vec<bool> {
        let mut here = vec![false; self.population];
        self.vectors.iter().for_each(|(agent, _)| here[*agent] = true);
        here
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    /// The vectors of two of three agents have arrived, one of them with half of its weight: the sum of the weights is
    /// 0.5 * 0.2 + 0.7.
    #[test]
    fn weights_that_are_present_are_discounted() {
        let received = |discounts| ReceivedVectors {
            population: 3,
            vectors: [0, 2].map(|agent| (agent, Arc::new(vec![1.0]))).to_vec(),
            weights: Arc::new(vec![vec![0.2, 0.1, 0.7]]),
            late_sampling_draw: Vec::new(),
            length: 1,
            discounts,
        };
        let present = |discounts| received(discounts).present(&[0.2, 0.1, 0.7]);
        assert!((present(vec![0.5, 1.0]) - 0.8).abs() < 1e-15);
        assert!((present(vec![]) - 0.9).abs() < 1e-15);
        assert!((present(vec![2.0, -1.0]) - 0.2).abs() < 1e-15, "factors are held in [0, 1]");
    }

    /// Weights count as equal if they differ by at most 1e-12 of their size.
    #[test]
    fn weights_are_equal_up_to_rounding() {
        for (differs_by, equal) in
            [(0.0, true), (5e-15, true), (-5e-15, true), (5e-13, false), (-0.005, false)]
        {
            let received = ReceivedVectors {
                population: 2,
                vectors: Vec::new(),
                weights: Arc::new(vec![vec![0.5; 2], vec![0.01, 0.01 + differs_by]]),
                late_sampling_draw: Vec::new(),
                length: 1,
                discounts: Vec::new(),
            };
            assert_eq!(received.has_equal_weights(), equal, "{differs_by}");
        }
    }
}
