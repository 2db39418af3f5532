//! The weights of agents as the server computes them, without a run, for audits.

use super::placement::Placement;
use super::recipe::Federated;
use super::roster::Roster;
use super::series::Aggregate;
use crate::protocols::stage::ReplicationSetup;
use crate::rng::{Key, Stream};
use crate::vocab::{Span, Time};

/// What the server of one series would know about its agents if every agent that is asked answered at the speed that it
/// announces. The weights of agents follow from this knowledge.
#[derive(Clone, Debug)]
pub struct SelectedWeights {
    roster: Roster,
    announced: Vec<f64>,
    aggregate: Aggregate,
    placement: Placement,
}

impl Federated {
    /// The state from which the weights of a series follow, before the first round. `key` is the replication's node of the
    /// seed tree; `placement` says which region each agent explores and which sums contain its vectors.
    #[must_use]
    pub fn selected_weights(
        &self,
        stage: &ReplicationSetup,
        key: Key,
        aggregate: &Aggregate,
        placement: &Placement,
    ) -> SelectedWeights {
        let agents = self.in_order(stage);
        let roster = self.roster(stage, &agents, key);
        let announced = roster.announced().to_vec();
        SelectedWeights { roster, announced, aggregate: aggregate.clone(), placement: placement.clone() }
    }
}

impl SelectedWeights {
    /// Selects the agents of a round.
    pub fn select(&mut self, round: u64, stream: &mut Stream) {
        self.roster.select(round, Some(&self.aggregate.selection), stream);
    }

    /// Number of agents that are asked in this round.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.roster.asked()
    }

    /// The agents that report their losses in this round.
    #[must_use]
    pub fn reporters(&self) -> Vec<usize> {
        let reporters = self.aggregate.selection.as_dyn().reporters();
        (0..self.placement.agents()).filter(|&agent| reporters.include(self.roster.asks(agent))).collect()
    }

    /// The weights of this round, regions x agents.
    #[must_use]
    pub fn at(&self, round: u64) -> Vec<Vec<f64>> {
        let weights = self.placement.weights(&self.aggregate, round);
        self.roster.weighted(weights, self.aggregate.importance.as_ref())
    }

    /// Ends a round. `losses` are the released losses of `agents`, noise included, in the same order.
    pub fn close(&mut self, round: u64, agents: &[usize], losses: &[f64]) {
        self.roster.asked_at(Time::ZERO);
        for agent in 0..self.placement.agents() {
            let took = Span::from_seconds(self.announced[agent]);
            self.roster.answered(agent, round, Time::ZERO + took);
        }
        self.roster.released(agents, losses);
        self.roster.close(&vec![true; self.placement.agents()]);
    }
}
