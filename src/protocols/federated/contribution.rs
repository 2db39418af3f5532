//! What an agent sends to a server that is not trusted: the agent's vector, clipped and weighted, plus a share of the
//! noise, and masked.

use super::masking::{Kind, MaskSecrets, adds, agreed, encode, mask};
use super::placement::Placement;
use super::series::Aggregate;
use super::server_trust::ServerTrust;
use crate::privacy::mechanisms::{FederatedSum, Participation, ReceivedVectors, clipping::clip_norm};
use crate::rng::Key;
use crate::vocab::Positive;
use std::sync::Arc;

/// The agreement between all agents and the server.
#[derive(Debug)]
pub(super) struct MaskingContract {
    pub(super) aggregate: Aggregate,
    /// Who explores which region, and whose vectors are in which sum.
    pub(super) placement: Placement,
    /// Length of one vector.
    pub(super) length: usize,
    pub(super) secrets: MaskSecrets,
}

impl MaskingContract {
    /// The input of the mechanism in a round, without the agents' vectors: the number of agents,
    /// their weights, and the length of a vector.
    pub(super) fn plan(&self, round: u64) -> ReceivedVectors {
        ReceivedVectors {
            population: self.placement.agents(),
            vectors: Vec::new(),
            weights: Arc::new(self.placement.weights(&self.aggregate, round)),
            late_sampling_draw: Vec::new(),
            length: self.length,
            discounts: Vec::new(),
        }
    }

    pub(super) fn mechanism(&self) -> FederatedSum {
        self.aggregate.mechanism(self.placement.agents() as u64)
    }

    /// Number of agents whose shares of the noise together make the planned noise: all agents except the planned share of
    /// dropouts, at least 1.
    pub(super) fn planned_shares(&self) -> u64 {
        let dropout = match self.aggregate.server {
            ServerTrust::Trusted => 0.0,
            ServerTrust::Masked { planned_dropout, .. } => planned_dropout.get(),
        };
        ((1.0 - dropout) * self.placement.agents() as f64).round().max(1.0) as u64
    }

    /// The masked words of one member (an agent that has distributed the shares of its secrets), all regions one after the
    /// other. `omega` is the agent's vector, `members` says by agent who is a member, and `key` is the agent's node of the
    /// seed tree.
    pub(super) fn masked(
        &self,
        agent: usize,
        round: u64,
        mut omega: Vec<f64>,
        members: &[bool],
        key: &Key,
    ) -> Vec<u64> {
        let plan = self.plan(round);
        let regions = plan.weights.len();
        let rate = match self.aggregate.participation {
            Participation::Poisson(rate) => rate.get(),
            // `check` refuses samples of fixed size under masks, because no party could draw the sample.
            Participation::FixedSize(size) => size as f64 / plan.population as f64,
        };
        if let Some(clip) = self.aggregate.clip
            && let Ok(bound) = Positive::new(clip.get() / (regions as f64).sqrt())
        {
            clip_norm(&mut omega, bound);
        }
        let chosen = key.child("participation").index(round).stream().bernoulli(rate);
        let sd = self.mechanism().noise_sd(&plan) / (self.planned_shares() as f64).sqrt();
        let mut noise = key.child("noise share").index(round).stream();
        let mut words = Vec::with_capacity(regions * self.length);
        for region in plan.weights.iter() {
            let weight = if chosen { region[agent] / rate } else { 0.0 };
            words.extend(omega.iter().map(|value| encode(weight * value + sd * noise.normal())));
        }
        mask(&mut words, self.secrets.secret(agent, Kind::Own, round), true);
        let secret = self.secrets.secret(agent, Kind::Pair, round);
        for other in self.secrets.graph.pairs(agent).into_iter().filter(|&other| members[other]) {
            mask(&mut words, agreed(secret, self.secrets.public(other, round)), adds(agent, other));
        }
        words
    }

    /// Whether an agent (`holder`) sends its shares for the sum over the agents that `answered`: only if a majority of
    /// all agents answered, or, where agents share masks with few neighbours, a majority of the holder's neighbours. A
    /// sum over few agents has little noise, and a sum over one agent is that agent's answer.
    pub(super) fn allows_unmasking(&self, holder: usize, answered: &[bool]) -> bool {
        let held = self.secrets.graph.held_by(holder);
        held.into_iter().filter(|&owner| answered[owner]).count() >= self.secrets.threshold()
    }

    /// Whether the agents that answered hold enough shares to unmask their sum. If each agent shares masks with a few
    /// neighbours only, the agents that answered must hold enough shares of the secret of every member whose masks are in
    /// the sum.
    pub(super) fn can_be_unmasked(&self, answered: &[bool], members: &[bool]) -> bool {
        let holders: Vec<usize> = (0..answered.len()).filter(|&agent| answered[agent]).collect();
        self.secrets.graph.covers(&holders, answered, members, self.secrets.threshold())
    }

    /// The shares that a member (`holder`) sends: one entry for each agent, or, where agents share masks with few
    /// neighbours, for each neighbour of the holder. For a member that answered, the entry is a share of the seed of
    /// that member's own mask. For a member that did not answer, it is a share of that member's pair secret. For an
    /// agent that is not a member, it is 0, because nobody holds shares of that agent's secrets.
    pub(super) fn shares(&self, holder: usize, round: u64, answered: &[bool], members: &[bool]) -> Vec<u64> {
        let kind = |answered: bool| if answered { Kind::Own } else { Kind::Pair };
        let share = |owner: usize| {
            let member = members.get(owner).is_some_and(|member| *member);
            if member { self.secrets.share(owner, kind(answered[owner]), round, holder) } else { 0 }
        };
        self.secrets.graph.held_by(holder).into_iter().map(share).collect()
    }
}
