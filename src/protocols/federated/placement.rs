//! Who explores which region, and whose vectors are in which sum, with what weight.

use super::series::Aggregate;
use std::sync::Arc;

/// The region that each agent explores, and which agents the sum of each region contains.
#[derive(Clone, Debug)]
pub struct Placement {
    /// By agent, the region that it explores, from 0.
    pub explored: Vec<usize>,
    /// By region and agent: whether the region's sum contains the agent; `None` if every sum contains all agents.
    covering: Option<Arc<Vec<Vec<bool>>>>,
}

impl Placement {
    /// Agent n explores the region `explored[n]`, and every sum contains all agents.
    #[must_use]
    pub fn everywhere(explored: Vec<usize>) -> Self {
        Self { explored, covering: None }
    }

    pub(super) fn new(explored: Vec<usize>, covering: Option<Vec<Vec<bool>>>) -> Self {
        Self { explored, covering: covering.map(Arc::new) }
    }

    /// Number of agents.
    #[must_use]
    pub fn agents(&self) -> usize {
        self.explored.len()
    }

    /// By region and agent, whether the region's sum contains the agent; `None` if every sum contains all agents.
    pub(super) fn covering(&self) -> Option<&[Vec<bool>]> {
        self.covering.as_deref().map(Vec::as_slice)
    }

    /// The weights of the agents in sum k: regions x agents. Sum 0 is the one after the initial points. The weights of each
    /// region add up to 1, or are all 0 if no agent in the region's sum has a weight above 0. All weights are public.
    #[must_use]
    pub fn weights(&self, aggregate: &Aggregate, k: u64) -> Vec<Vec<f64>> {
        let mut weights = aggregate.weights.at(k, &self.explored, aggregate.regions.get() as usize);
        let Some(covering) = &self.covering else { return weights };
        for (region, covers) in weights.iter_mut().zip(covering.iter()) {
            region
                .iter_mut()
                .zip(covers)
                .filter(|(_, covers)| !**covers)
                .for_each(|(weight, _)| *weight = 0.0);
            let total: f64 = region.iter().sum();
            if total > 0.0 {
                region.iter_mut().for_each(|weight| *weight /= total);
            }
        }
        weights
    }
}
