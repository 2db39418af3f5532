//! Masked sums: who can compute them, at which privacy cost, and the check of the budget before shares are requested.
//!
//! Once agents are asked for shares of the secrets behind the masks, no budget can prevent the sum from being computed.
//! So the budget is checked before the request, for the server, for the agents and for relays that can read messages.
//! The privacy cost towards an observer counts only the shares of the noise that this observer does not know. Ledger
//! entries are made at these times:
//!
//! * for the server, when it holds enough secret shares, including those of colluding agents, even if the round was given
//!   up;
//! * for the agents, when the sum is sent;
//! * for a relay, when secret shares are requested, since it may read shares that never reach the server. The cost is
//!   the same as for the agents, since the relay may itself be an agent.

use super::contribution::MaskingContract;
use super::messages::{FederatedProtocol, OwnFact};
use super::server::Server;
use super::unmasking::PendingUnmasking;
use crate::kernel::Context;
use crate::privacy::ledger::{Budgeted, Ledger, LedgerWriter, Occasion, ReleaseError, release};
use crate::privacy::mechanisms::{SecureSum, SecureSumOutput};
use crate::privacy::{Released, Sensitive};
use crate::protocols::stage::{JournalLedger, end_refused, seen_by};
use crate::vocab::{Observer, PrivacyEvent};
use std::sync::Arc;

impl MaskingContract {
    /// Number of agents whose shares of a secret the server must receive, besides the colluding agents, whose shares it has.
    pub(super) fn shares_needed(&self) -> usize {
        self.secrets.threshold().saturating_sub(self.aggregate.server.colluding())
    }

    /// The sums of the vectors of `survivors` agents, for an observer who knows `known` shares of their noise; `whom`
    /// says with whom agents collude.
    fn sum(&self, survivors: u64, known: u64, whom: &str) -> SecureSum {
        let condition = match self.aggregate.server.colluding() {
            0 => "a server and agents that follow the protocol and do not collude".to_owned(),
            most => format!(
                "a server that follows the protocol, at most {most} of the agents colluding {whom}, and \
                 all other agents following the protocol"
            ),
        };
        let agents = self.placement.agents();
        let condition =
            match self.aggregate.server.graph_condition(agents, agents.saturating_sub(survivors as usize)) {
                Some(graph) => format!("{condition}; {graph}"),
                None => condition,
            };
        SecureSum {
            sum: self.mechanism(),
            shares: survivors.saturating_sub(known),
            planned: self.planned_shares(),
            condition,
        }
    }

    /// The sums as seen by the server together with the agents that collude with it.
    pub(super) fn seen_by_server(&self, survivors: u64) -> SecureSum {
        self.sum(survivors, self.aggregate.server.colluding() as u64, "with it")
    }

    /// The sums as seen by an agent, which knows its own share of the noise, or by a coalition of agents, which knows
    /// the shares of all its members. What an agent that colludes with the server learns is covered by the server's
    /// entry.
    pub(super) fn seen_by_agents(&self, survivors: u64) -> SecureSum {
        let whom = "with each other and none with the server (an agent that colludes with the server learns what the \
                    server's ledger entry states)";
        self.sum(survivors, self.aggregate.server.colluding().max(1) as u64, whom)
    }
}

impl Server {
    fn occasions(&self, round: u64, ctx: &Context<'_, FederatedProtocol>) -> [Occasion; 2] {
        let agents = Occasion { round: round + 1, ..self.occasion("sums of weights", ctx) };
        [Occasion { observer: Observer(self.name.clone()), ..agents.clone() }, agents]
    }

    /// `sum`, with what is needed to state the privacy loss that Dai, Low and Jaillet 2021 claim. The claim is the same as
    /// with a trusted server: it is computed with the planned noise and with the sampling rate that the round policy implies
    /// ([`super::rounds::RoundPolicy::claimed_rate`]). A sum that is sent to the agents after the last of the `rounds`
    /// rounds has no claim.
    fn as_claimed(&self, mut sum: SecureSum, round: u64) -> SecureSum {
        sum.sum.claimed_rate = self.policy.claimed_rate(sum.sum.participation, self.agents.len());
        sum.sum.excluded_from_claim = round + 1 > self.rounds;
        sum
    }

    /// The ledger entries for what the server and the agents see of the sums of a round.
    fn prices(
        &self,
        contract: &MaskingContract,
        (round, survivors): (u64, u64),
        ctx: &Context<'_, FederatedProtocol>,
    ) -> Result<[PrivacyEvent; 2], ReleaseError> {
        let mut ledger = Ledger::new();
        let nothing = Sensitive::new(SecureSumOutput { plan: contract.plan(round), sums: Vec::new() });
        let sums = [contract.seen_by_server(survivors), contract.seen_by_agents(survivors)];
        for (occasion, sum) in self.occasions(round, ctx).into_iter().zip(sums) {
            let mut stream = self.key.child("sum").index(round).stream();
            release(&mut ledger, occasion, &self.as_claimed(sum, round), &nothing, &mut stream)?;
        }
        let [server, agents] = ledger.events() else { unreachable!("two releases were booked") };
        Ok([server.clone(), agents.clone()])
    }

    /// Checks, before shares are requested, that the budget admits the sum of the vectors of `survivors` agents for the
    /// server, the agents and the relays. Rounds that were given up count too, since their shares may still arrive.
    /// Makes the ledger entries of the relays, and returns the ledger entry of the server without making it.
    pub(super) fn budget_admits_sum(
        &mut self,
        contract: &MaskingContract,
        survivors: u64,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<PrivacyEvent, ReleaseError> {
        let mut ledger = Ledger::new();
        let mut meter = self.meter.clone();
        let mut budgeted = Budgeted { meter: &mut meter, ledger: &mut ledger };
        self.unopened
            .iter()
            .filter_map(|earlier| earlier.event.clone())
            .for_each(|event| budgeted.enter(event));
        let [server, agents] = self.prices(contract, (self.round, survivors), ctx)?;
        let relays = Arc::clone(self.meter.reading_relays());
        let copies: Vec<PrivacyEvent> = relays.iter().map(|relay| seen_by(&agents, relay)).collect();
        for event in [&server, &agents].into_iter().chain(&copies) {
            budgeted.admit(event).map_err(ReleaseError::Refused)?;
        }
        for copy in copies {
            let mut ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&Arc::default());
            // If the copy exceeds the budget and the scenario lets the series continue nevertheless, `admit` records that
            // the budget is exceeded.
            ledger.admit(&copy).map_err(ReleaseError::Refused)?;
            ledger.enter(copy);
        }
        Ok(server)
    }

    /// Makes the ledger entry for sums that can already be computed, even if the entry exceeds the budget. Relays that
    /// read messages have an entry already.
    fn record_opened(
        &mut self,
        occasion: Occasion,
        sum: &SecureSum,
        opened: SecureSumOutput,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<Released<Vec<Vec<f64>>>, ReleaseError> {
        let mut stream = self.key.child("sum").index(occasion.round - 1).stream();
        let mut ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&Arc::default()).unpreventable();
        release(&mut ledger, occasion, sum, &Sensitive::new(opened), &mut stream)
    }

    /// Makes the server's ledger entry for the sum of a round, once the server can compute the sum.
    pub(super) fn record_for_server(
        &mut self,
        contract: &MaskingContract,
        (round, survivors): (u64, u64),
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), ReleaseError> {
        let [occasion, _] = self.occasions(round, ctx);
        let sum = self.as_claimed(contract.seen_by_server(survivors), round);
        let opened = SecureSumOutput { plan: contract.plan(round), sums: Vec::new() };
        self.record_opened(occasion, &sum, opened, ctx).map(drop)
    }

    /// Releases the sums of this round to the agents, with a ledger entry.
    pub(super) fn release_to_agents(
        &mut self,
        contract: &MaskingContract,
        sums: Vec<Vec<f64>>,
        survivors: u64,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<Released<Vec<Vec<f64>>>, ReleaseError> {
        let [_, occasion] = self.occasions(self.round, ctx);
        let sum = self.as_claimed(contract.seen_by_agents(survivors), self.round);
        let opened = SecureSumOutput { plan: contract.plan(self.round), sums };
        self.record_opened(occasion, &sum, opened, ctx)
    }

    /// Records that an agent's shares have arrived after their round was given up. With the shares of enough agents, the
    /// server can still compute the sum of that round, and the ledger gets an entry for it.
    pub(super) fn take_late_share(
        &mut self,
        contract: &MaskingContract,
        agent: usize,
        round: u64,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        let Some(place) = self.unopened.iter().position(|unopened| unopened.round == round) else { return };
        let unopened = &mut self.unopened[place];
        if unopened.holders.contains(&agent) {
            return;
        }
        unopened.holders.push(agent);
        let PendingUnmasking { holders, answered, members, .. } = &*unopened;
        if !contract.secrets.graph.covers(holders, answered, members, contract.shares_needed()) {
            return;
        }
        let PendingUnmasking { survivors, .. } = self.unopened.remove(place);
        ctx.record(OwnFact::OpenedLate { round, survivors }.into());
        if let Err(error) = self.record_for_server(contract, (round, survivors), ctx) {
            end_refused(ctx, &format!("late shares of round {}", round + 1), &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounting::{Accountant, Composition, Tight};
    use crate::privacy::mechanisms::Mechanism;
    use crate::protocols::federated::mask_graph::MaskGraph;
    use crate::protocols::federated::masking::MaskSecrets;
    use crate::protocols::federated::placement::Placement;
    use crate::rng::Key;
    use crate::vocab::{Basis, Delta, Neighbours};

    /// There are 100 agents, sampling rate 0.25, noise multiplier 1, and 20 rounds without dropouts. Towards a server
    /// that colludes with 49 agents, and so knows their shares of the noise, epsilon is almost twice as large as
    /// towards a server without colluders.
    #[test]
    fn colluders_know_their_own_shares_of_the_noise() {
        let epsilon = |colluding: u32| {
            let aggregate = format!(
                "(clip: Some(11.0), noise_multiplier: 1.0, participation: Poisson(0.25), weights: Uniform(), \
                 server: Masked(planned_dropout: 0.0, colluding: {colluding}))"
            );
            let contract = MaskingContract {
                aggregate: crate::scenario::part(&aggregate).unwrap(),
                placement: Placement::everywhere(vec![0; 100]),
                length: 1,
                secrets: MaskSecrets { keys: vec![Key::root(1); 100], graph: MaskGraph::Complete(100) },
            };
            let opened = SecureSumOutput { plan: contract.plan(0), sums: Vec::new() };
            let price = |sum: SecureSum| {
                let price = sum.price(&opened, &Neighbours::ZeroOut).unwrap();
                assert!(matches!(price.basis, Basis::Conditional { .. }));
                let mut composition = Composition::new();
                composition.add(&price.cost, 20);
                Tight.price(&composition, Delta::new(100f64.powf(-1.1)).unwrap()).epsilon
            };
            (price(contract.seen_by_server(100)), price(contract.seen_by_agents(100)))
        };
        let near =
            |found: f64, expected: f64| assert!((found - expected).abs() < 0.01, "{found} for {expected}");
        let ((server, agents), (pooled, coalition)) = (epsilon(0), epsilon(49));
        near(server, 4.20);
        assert!(agents > server, "an agent knows its own share");
        near(pooled, 7.95);
        near(coalition, 7.95);
        assert_eq!(epsilon(1).0, agents);
    }
}
