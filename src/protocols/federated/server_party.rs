//! The server as a party: starts rounds, collects vectors, releases their sums.

use super::key_exchange_state::Phase;
use super::messages::{Clipped, Close, FederatedProtocol, Message, OwnFact};
use super::rounds::Late;
use super::series::{Aggregate, Alone, Sharing};
use super::server::{Server, Vector};
use crate::gp::dot;
use crate::kernel::{Context, Input, Party};
use crate::privacy::Sensitive;
use crate::privacy::ledger::{ReleaseError, release};
use crate::privacy::mechanisms::{Disclosure, FederatedSum, ReceivedVectors};
use crate::protocols::stage::{JournalLedger, end_refused};
use crate::vocab::PartyId;
use std::any::Any;
use std::sync::Arc;

impl Party<FederatedProtocol> for Server {
    fn handle(&mut self, input: Input<FederatedProtocol>, ctx: &mut Context<'_, FederatedProtocol>) {
        match input {
            Input::Start if self.contract.is_some() => self.set_up(ctx),
            Input::Start => {
                ctx.broadcast(self.agents.iter().copied(), &Message::Begin);
                self.open(ctx);
            }
            Input::Message { from, message: Message::Key } => self.take_set_up(from, &Phase::Keys, ctx),
            Input::Message { from, message: Message::Dealt { .. } } => {
                self.take_set_up(from, &Phase::Shares, ctx);
            }
            Input::Message { from, message: Message::Weights { round, omega } } => {
                self.take(from, round, Some(omega.into_inner()), ctx);
            }
            Input::Message { from, message: Message::Done { round } } => {
                // A member that sends no vector has not received the shares that other agents dealt to it.
                if self.contract.is_some()
                    && self.round < self.shared_rounds
                    && let Some(&agent) = self.places.get(&from)
                {
                    self.send_shares_to(agent, false, ctx);
                }
                self.take(from, round, None, ctx);
            }
            Input::Message { from, message: Message::Masked { round, words } } => {
                let Some(&agent) = self.places.get(&from) else { return };
                if self.open && round == self.round && !self.answered[agent] {
                    self.masked[agent] = Some(words);
                }
                self.take(from, round, None, ctx);
            }
            Input::Message { from, message: Message::Shares { round, shares } } => {
                let Some(&agent) = self.places.get(&from) else { return };
                self.take_shares(agent, round, shares, ctx);
            }
            Input::Timer(Close { .. }) if self.setup.phase != Phase::Done => self.on_timeout(ctx),
            Input::Timer(Close { round }) if self.open && round == self.round => self.close(ctx),
            Input::Timer(Close { round }) if self.unmasking.is_some() && round == self.round => {
                self.timer = None;
                self.abandon_round(ctx);
            }
            Input::Message {
                message:
                    Message::Begin
                    | Message::Share { .. }
                    | Message::Unmask { .. }
                    | Message::Invite
                    | Message::Keys { .. }
                    | Message::Entrusted { .. },
                ..
            }
            | Input::Timer(Close { .. })
            | Input::WentOffline
            | Input::CameBack => {}
        }
    }

    /// An open round keeps its timer, and is closed by the new policy.
    fn adopt(&mut self, fresh: &dyn Any) {
        if let Some(fresh) = fresh.downcast_ref::<Self>() {
            self.sharing.clone_from(&fresh.sharing);
            self.neighbours.clone_from(&fresh.neighbours);
            self.policy.clone_from(&fresh.policy);
        }
    }
}

impl Server {
    fn take(
        &mut self,
        from: PartyId,
        round: u64,
        vector: Option<Vector>,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        let Some(&agent) = self.places.get(&from) else { return };
        // A copy of an answer that has arrived before, in this round or an earlier one, is ignored.
        if !self.heard[agent].insert(round) {
            return;
        }
        self.file(agent, round, vector);
        let fresh = self.answered.iter().filter(|answered| **answered).count() as u64;
        if self.open && self.policy.is_enough(fresh, self.buffered, self.agents.len() as u64) {
            self.close(ctx);
        }
    }

    fn close(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        self.open = false;
        if let Some(timer) = self.timer.take() {
            ctx.cancel(timer);
        }
        let fresh = self.answered.iter().filter(|answered| **answered).count() as u64;
        let clipped = self.clipped();
        ctx.record(OwnFact::Closed { round: self.round, fresh, late: self.stale, clipped }.into());
        (self.buffered, self.stale) = (0, 0);
        let is_local = self.round >= self.shared_rounds;
        if let Some(contract) = self.contract.clone().filter(|_| !is_local) {
            self.start_unmasking(&contract, ctx);
            return;
        }
        let sharing = if is_local { Sharing::Alone(Alone {}) } else { self.sharing.clone() };
        let shared = match sharing {
            Sharing::Alone(_) => {
                self.round += 1;
                let message = Message::Share { round: self.round, vectors: None };
                ctx.broadcast(self.agents.iter().copied(), &message);
                Ok(())
            }
            Sharing::RandomAgent(_) => self.relay(ctx),
            Sharing::Aggregate(aggregate) => {
                let (mechanism, gathered) = self.gather(&aggregate.mechanism(), &aggregate);
                self.aggregate(&mechanism, gathered, ctx)
            }
        };
        if let Err(error) = shared {
            end_refused(ctx, &format!("before round {}", self.round + 1), &error);
            return;
        }
        self.next(ctx);
    }

    /// Number and weight of the vectors of this round that clipping will shorten. `None` if nothing is
    /// clipped, and under masks, where the server cannot see their norms.
    fn clipped(&self) -> Option<Clipped> {
        let Sharing::Aggregate(aggregate) = &self.sharing else { return None };
        let clip = aggregate.clip.filter(|_| !self.dry && self.contract.is_none())?;
        let bound = clip.get() / f64::from(aggregate.regions.get()).sqrt();
        let longer = |vector: &Vector| dot(vector, vector).sqrt() > bound;
        let weights = aggregate.weights.at(self.round, &self.explored, self.regions());
        let (mut vectors, mut weight) = (0, 0.0);
        for (agent, _) in
            self.fresh.iter().enumerate().filter(|(_, vector)| vector.as_ref().is_some_and(longer))
        {
            vectors += 1;
            weight += weights.iter().map(|region| region[agent]).sum::<f64>();
        }
        (self.round < self.shared_rounds).then_some(Clipped { vectors, weight })
    }

    /// The vectors of this round's sum according to the policy for late answers, and the mechanism with the
    /// effects of this policy.
    fn gather(&mut self, mechanism: &FederatedSum, aggregate: &Aggregate) -> (FederatedSum, ReceivedVectors) {
        let mut mechanism = mechanism.clone();
        // If the server keeps the first k answers of N agents, the paper's claim is computed with the smaller of k / N
        // and the sampling rate.
        mechanism.claimed_rate = self.policy.claimed_rate(mechanism.participation, self.agents.len());
        mechanism.excluded_from_claim = self.round + 1 > self.rounds;
        let mut vectors: Vec<(usize, Vector)> = Vec::new();
        let mut late_sampling_draw = Vec::new();
        for agent in 0..self.agents.len() {
            let late = self.late[agent].take();
            match aggregate.late {
                Late::Discard => vectors.extend(self.fresh[agent].clone().map(|v| (agent, v))),
                Late::AddToNext => {
                    mechanism.multiplicity = 2;
                    vectors.extend(self.fresh[agent].clone().into_iter().chain(late).map(|v| (agent, v)));
                }
                Late::ReplaceNext => {
                    mechanism.keeps_sampling_draw = true;
                    if late.is_some() {
                        late_sampling_draw.push(agent);
                    }
                    vectors.extend(late.or_else(|| self.fresh[agent].clone()).map(|v| (agent, v)));
                }
                Late::KeepLast => vectors.extend(self.last[agent].clone().map(|v| (agent, v))),
            }
        }
        let weights =
            Arc::new(aggregate.weights.at(self.round, &self.explored, aggregate.regions.get() as usize));
        let population = self.agents.len();
        (mechanism, ReceivedVectors { population, vectors, weights, late_sampling_draw, length: self.length })
    }

    fn aggregate(
        &mut self,
        mechanism: &FederatedSum,
        gathered: ReceivedVectors,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), ReleaseError> {
        let occasion = self.occasion("sums of weights", ctx);
        let mut stream = self.key.child("sum").index(self.round).stream();
        let secret = Sensitive::new(gathered);
        let zeros = vec![vec![0.0; if self.dry { self.length } else { 0 }]; self.regions()];
        let mut ledger = JournalLedger::new(&mut self.meter, ctx);
        let vectors = if self.dry {
            release(&mut ledger, occasion, &Disclosure::new(), &Sensitive::new(zeros), &mut stream)?
        } else {
            release(&mut ledger, occasion, mechanism, &secret, &mut stream)?
        };
        self.round += 1;
        let message = Message::Share { round: self.round, vectors: Some(Arc::new(vectors)) };
        ctx.broadcast(self.agents.iter().copied(), &message);
        Ok(())
    }

    /// Sends every agent the vector of a random other agent, as in the original FTS.
    fn relay(&mut self, ctx: &mut Context<'_, FederatedProtocol>) -> Result<(), ReleaseError> {
        let present: Vec<usize> =
            (0..self.agents.len()).filter(|&agent| self.fresh[agent].is_some()).collect();
        for (agent, &party) in self.agents.iter().enumerate() {
            let mut stream = self.key.child("relay").index(self.round).index(agent as u64).stream();
            let others: Vec<usize> = present.iter().copied().filter(|&other| other != agent).collect();
            let mut vectors = None;
            if !others.is_empty() {
                let other = others[stream.below(others.len() as u64) as usize];
                if let Some(vector) = &self.fresh[other] {
                    let secret = Sensitive::new(vec![vector.to_vec()]);
                    let occasion = self.occasion("sampled weights omega", ctx);
                    let mut ledger = JournalLedger::new(&mut self.meter, ctx);
                    let released = release(&mut ledger, occasion, &Disclosure::new(), &secret, &mut stream)?;
                    vectors = Some(Arc::new(released));
                }
            }
            ctx.send(party, Message::Share { round: self.round + 1, vectors });
        }
        self.round += 1;
        Ok(())
    }
}
