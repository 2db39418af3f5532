//! The last step of a masked round: unmasking. A server that is not trusted collects secret shares from a majority of the
//! agents, and removes the masks that do not cancel in the sums. If agents share masks with a few neighbours only, the
//! server collects shares from a majority of the neighbours of each agent whose masks are in the sums.

use super::contribution::MaskingContract;
use super::messages::{Close, FederatedProtocol, Message, OwnFact};
use super::server::Server;
use super::unmasking::{PendingUnmasking, Unmasking};
use crate::kernel::Context;
use crate::privacy::ledger::ReleaseError;
use crate::protocols::stage::end_refused;
use std::sync::Arc;

impl Server {
    /// Gives the round up if too few agents answered to remove the masks. Otherwise checks the budget: if the budget admits
    /// the sum, requests shares from the agents that answered; if not, ends the series.
    ///
    /// If all agents share masks with each other, more than half of all agents must answer. If each agent shares masks with
    /// a few neighbours only, more than half of the neighbours of every member whose masks are in the sum must answer; a
    /// member is an agent that has distributed shares of its secrets.
    pub(super) fn start_unmasking(
        &mut self,
        contract: &MaskingContract,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        let answered = Arc::new(self.masked.iter().map(Option::is_some).collect::<Vec<bool>>());
        let survivors = answered.iter().filter(|answered| **answered).count();
        if !contract.can_be_unmasked(&answered, &self.setup.members) {
            self.abandon_round(ctx);
            return;
        }
        let event = match self.budget_admits_sum(contract, survivors as u64, ctx) {
            Ok(event) => Some(event),
            Err(error) => {
                end_refused(ctx, &format!("before round {}", self.round + 1), &error);
                return;
            }
        };
        let mut words = vec![0u64; contract.aggregate.regions.get() as usize * contract.length];
        for masked in self.masked.iter_mut().filter_map(Option::take) {
            words.iter_mut().zip(masked.iter()).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
        }
        let asked = self.agents.iter().zip(answered.iter()).filter(|(_, answered)| **answered);
        let graph = &contract.secrets.graph;
        if graph.is_regular() {
            for (agent, party) in self.agents.iter().enumerate().filter(|(agent, _)| answered[*agent]) {
                let near = graph.pairs(agent).into_iter().map(|other| answered[other]).collect();
                ctx.send(*party, Message::UnmaskNear { round: self.round, answered: Arc::new(near) });
            }
        } else {
            let message = Message::Unmask { round: self.round, answered: Arc::clone(&answered) };
            ctx.broadcast(asked.map(|(party, _)| *party), &message);
        }
        let members = Arc::clone(&self.setup.members);
        let mut unmasking = Unmasking { words, answered, members, event, ..Unmasking::default() };
        // If as many agents may collude as are needed to recover a secret, the colluding agents may hold enough shares of
        // every secret. The server can then compute the sum before any share has arrived.
        unmasking.booked = unmasking.has_shares(contract, contract.shares_needed());
        let (booked, survivors) = (unmasking.booked, unmasking.survivors());
        self.unmasking = Some(unmasking);
        self.timer = Some(ctx.after(self.policy.patience(), Close { round: self.round }));
        if booked && let Err(error) = self.record_for_server(contract, (self.round, survivors), ctx) {
            end_refused(ctx, &format!("before round {}", self.round + 1), &error);
        }
    }

    /// Stores the shares that one agent has sent for the present round. As soon as the server and the agents that collude
    /// with it could compute the sums, makes the server's ledger entry. Once enough agents have sent shares to remove all
    /// masks, computes the sums. Shares for an earlier round are late (`take_late_share`).
    pub(super) fn take_shares(
        &mut self,
        agent: usize,
        round: u64,
        shares: Arc<Vec<u64>>,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        let Some(contract) = self.contract.clone() else { return };
        let current = self.round;
        let Some(unmasking) = self.unmasking.as_mut().filter(|_| round == current) else {
            self.take_late_share(&contract, agent, round, ctx);
            return;
        };
        if unmasking.shares.iter().any(|(holder, _)| *holder == agent) {
            return;
        }
        unmasking.shares.push((agent, shares));
        let survivors = unmasking.survivors();
        let opens = unmasking.has_shares(&contract, contract.secrets.threshold());
        let known = unmasking.has_shares(&contract, contract.shares_needed());
        if opens {
            ctx.record(OwnFact::Unmasked { round, survivors }.into());
        }
        let mut booked = Ok(());
        if known && !std::mem::replace(&mut unmasking.booked, true) {
            booked = self.record_for_server(&contract, (round, survivors), ctx);
        }
        if opens && booked.is_ok() {
            booked = self.unmask_sums(&contract, ctx);
        }
        if let Err(error) = booked {
            end_refused(ctx, &format!("before round {}", self.round + 1), &error);
        }
    }

    /// Removes the masks, enters the release to the agents in the ledger, and sends the sums to all agents.
    fn unmask_sums(
        &mut self,
        contract: &MaskingContract,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), ReleaseError> {
        if let Some(timer) = self.timer.take() {
            ctx.cancel(timer);
        }
        let unmasking = self.unmasking.take().unwrap_or_default();
        let survivors = unmasking.survivors();
        let flat = unmasking.open(contract, self.round);
        let sums = flat.chunks(contract.length).map(<[f64]>::to_vec).collect();
        let vectors = self.release_to_agents(contract, sums, survivors, ctx)?;
        self.round += 1;
        let message = Message::Share { round: self.round, vectors: Some(Arc::new(vectors)) };
        ctx.broadcast(self.agents.iter().copied(), &message);
        self.next(ctx);
        Ok(())
    }

    /// Ends a round for which too few answers or shares arrived: no sum is computed, and agents continue with their own
    /// models.
    pub(super) fn abandon_round(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        if let Some(unmasking) = self.unmasking.take() {
            let (round, survivors) = (self.round, unmasking.survivors());
            if unmasking.booked {
                ctx.record(OwnFact::OpenedLate { round, survivors }.into());
            } else {
                let holders = unmasking.shares.iter().map(|(holder, _)| *holder).collect();
                let Unmasking { answered, members, event, .. } = unmasking;
                self.unopened.push(PendingUnmasking { round, survivors, answered, members, holders, event });
            }
        }
        self.masked.iter_mut().for_each(|words| *words = None);
        ctx.record(OwnFact::GivenUp { round: self.round }.into());
        self.round += 1;
        let message = Message::Share { round: self.round, vectors: None };
        ctx.broadcast(self.agents.iter().copied(), &message);
        self.next(ctx);
    }
}
