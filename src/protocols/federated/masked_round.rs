//! One masked round without the network, for audits: what each agent adds to the sums, and the sums that the server
//! computes.

use super::contribution::MaskingContract;
use super::mask_graph::MaskGraph;
use super::masking::{Kind, MaskSecrets, decode, mask};
use super::placement::Placement;
use super::series::Aggregate;
use crate::privacy::mechanisms::{FederatedSum, ReceivedVectors, SecureSum};
use crate::rng::Key;

/// The agents of one series in a masked round: their settings, their regions and their secrets for masks.
#[derive(Debug)]
pub struct MaskedRound {
    contract: MaskingContract,
}

impl MaskedRound {
    /// A round of agents with this `placement`, with vectors of this `length`; the agents' secrets
    /// are drawn from children of `key`.
    #[must_use]
    pub fn new(aggregate: &Aggregate, placement: &Placement, length: usize, key: Key) -> Self {
        let keys = (0..placement.agents() as u64).map(|agent| key.index(agent)).collect();
        let contract = MaskingContract {
            aggregate: aggregate.clone(),
            placement: placement.clone(),
            length,
            // `part` adds no pair masks, so the sums do not depend on which agents share masks.
            secrets: MaskSecrets { keys, graph: MaskGraph::Complete(placement.agents()) },
        };
        Self { contract }
    }

    /// Number of noise shares, one per agent, that add up to the planned noise.
    #[must_use]
    pub fn planned_shares(&self) -> u64 {
        self.contract.planned_shares()
    }

    /// The mechanism's input in a round, without vectors: the number of agents and their weights.
    #[must_use]
    pub fn plan(&self, round: u64) -> ReceivedVectors {
        self.contract.plan(round)
    }

    /// The mechanism that a trusted server would use.
    #[must_use]
    pub fn mechanism(&self) -> FederatedSum {
        self.contract.mechanism()
    }

    /// The mechanism of sums over `survivors` agents, as seen by the server and the agents that collude with it.
    #[must_use]
    pub fn seen_by_server(&self, survivors: u64) -> SecureSum {
        self.contract.seen_by_server(survivors)
    }

    /// The mechanism of sums over `survivors` agents, as seen by an agent, or by colluding agents together.
    #[must_use]
    pub fn seen_by_agents(&self, survivors: u64) -> SecureSum {
        self.contract.seen_by_agents(survivors)
    }

    /// The largest number of agents that collude with the server or with each other.
    #[must_use]
    pub fn colluding(&self) -> usize {
        self.contract.aggregate.server.colluding()
    }

    /// What one agent adds to the sums, for all regions one after the other: its share of the noise and, if the agent is
    /// sampled, its vector `omega`, clipped and weighted. The part has no masks: in a real round, a pair mask cancels in the
    /// sum if both agents of the pair answer, and the server removes all other masks with secret shares. So this method adds
    /// no pair masks, and removes the agent's own mask. The sampling and the noise are drawn from children of `node`, the
    /// agent's own node of the seed tree.
    #[must_use]
    pub fn part(&self, agent: usize, round: u64, omega: Vec<f64>, node: &Key) -> Vec<u64> {
        let mut alone = vec![false; self.contract.placement.agents()];
        alone[agent] = true;
        let mut words = self.contract.masked(agent, round, omega, &alone, node);
        mask(&mut words, self.contract.secrets.secret(agent, Kind::Own, round), false);
        words
    }

    /// The sums of the parts, decoded, one per region.
    #[must_use]
    pub fn unmasked<'a>(&self, parts: impl IntoIterator<Item = &'a Vec<u64>>) -> Vec<Vec<f64>> {
        let mut words = vec![0u64; self.contract.aggregate.regions.get() as usize * self.contract.length];
        for part in parts {
            words.iter_mut().zip(part).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        words.chunks(self.contract.length).map(|sum| sum.iter().map(|word| decode(*word)).collect()).collect()
    }
}
