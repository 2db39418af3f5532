//! The server as a party: starts rounds, collects vectors, releases their sums.

use super::adaptive_clip::AdaptiveClip;
use super::key_exchange_state::Phase;
use super::messages::{Clipped, Close, FederatedProtocol, Message, OwnFact};
use super::personal::{AgentLevel, levels_of};
use super::public::PROTECTED;
use super::rounds::Late;
use super::series::{Aggregate, Alone, Sharing};
use super::server::{Dated, Server, Vector};
use crate::gp::dot;
use crate::kernel::{Context, Input, Party};
use crate::privacy::ledger::{Occasion, ReleaseError, enter, release};
use crate::privacy::mechanisms::{AgentRates, Disclosure, Divisor, FederatedSum, ReceivedVectors};
use crate::privacy::{Released, Sensitive};
use crate::protocols::stage::{JournalLedger, end_refused};
use crate::vocab::PartyId;
use std::any::Any;
use std::sync::Arc;

impl Party<FederatedProtocol> for Server {
    fn handle(&mut self, input: Input<FederatedProtocol>, ctx: &mut Context<'_, FederatedProtocol>) {
        match input {
            Input::Start if self.contract.is_some() => self.set_up(ctx),
            Input::Start => {
                self.select();
                self.send_round(&Message::Begin, &Message::Observe { round: 0, vectors: None }, ctx);
                self.open(ctx);
            }
            Input::Message { from, message: Message::Key } => self.take_set_up(from, &Phase::Keys, ctx),
            Input::Message { from, message: Message::Dealt { .. } } => {
                self.take_set_up(from, &Phase::Shares, ctx);
            }
            Input::Message { from, message: Message::Weights { round, omega } } => {
                self.take(from, round, Some(omega.into_inner()), ctx);
            }
            Input::Message { from, message: Message::Report { round, omega, loss } } => {
                if let Some(&agent) = self.places.get(&from) {
                    self.roster.reported(agent, round, loss.into_inner());
                }
                self.take(from, round, omega.map(Released::into_inner), ctx);
            }
            Input::Message { from, message: Message::Done { round } } => {
                // With masked sums, a member (an agent that has distributed shares of its secrets) may send `Done` because
                // it has not received its shares of other members' secrets. So the server sends these shares again to every
                // member that sends `Done`.
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
                    | Message::Observe { .. }
                    | Message::Unmask { .. }
                    | Message::UnmaskNear { .. }
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

    /// An open round keeps its timer, which still closes the round at the time set before the fork. The new policy decides
    /// whether enough answers have arrived to close the round earlier.
    fn adopt(&mut self, fresh: &dyn Any) {
        if let Some(fresh) = fresh.downcast_ref::<Self>() {
            let clip = |sharing: &Sharing| match sharing {
                Sharing::Aggregate(aggregate) => aggregate.clip,
                Sharing::Alone(_) | Sharing::RandomAgent(_) => None,
            };
            // A clipping norm that was adapted to the vectors keeps its value, unless the fork states another `clip`.
            if clip(&self.sharing) != clip(&fresh.sharing) {
                self.norm = fresh.norm;
            }
            self.sharing.clone_from(&fresh.sharing);
            self.neighbours.clone_from(&fresh.neighbours);
            self.policy.clone_from(&fresh.policy);
            // Conditions of costs follow from the settings. The conditions from before the fork stay: the costs of earlier
            // sums hold under them.
            let new = fresh.conditions.iter().filter(|condition| !self.conditions.contains(condition));
            let new: Vec<String> = new.cloned().collect();
            self.conditions.extend(new);
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
        // If an answer of this agent to `round` has arrived before, this one is a copy and is ignored.
        if !self.answered_rounds[agent].insert(round) {
            return;
        }
        self.file(agent, round, vector);
        if self.answered[agent] && round == self.round {
            self.roster.answered(agent, round, ctx.now());
        }
        if self.open && self.policy.is_enough(self.fresh_answers(), self.buffered, self.roster.asked()) {
            self.close(ctx);
        }
    }

    /// Number of agents that were asked in this round and have answered.
    fn fresh_answers(&self) -> u64 {
        let answered = self.answered.iter().enumerate();
        answered.filter(|(agent, answered)| **answered && self.roster.asks(*agent)).count() as u64
    }

    fn close(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        self.open = false;
        if let Some(timer) = self.timer.take() {
            ctx.cancel(timer);
        }
        let (fresh, asked) = (self.fresh_answers(), self.roster.asked());
        let clipped = self.clipped();
        let (round, late, heard) = (self.round, self.stale, self.respondents());
        ctx.record(OwnFact::Closed { round, fresh, late, asked, clipped, heard }.into());
        (self.buffered, self.stale) = (0, 0);
        self.replaced.fill(false);
        let is_local = self.round >= self.shared_rounds;
        if let Some(contract) = self.contract.clone().filter(|_| !is_local) {
            self.start_unmasking(&contract, ctx);
            return;
        }
        let sharing = if is_local { Sharing::Alone(Alone {}) } else { self.sharing.clone() };
        let shared = match sharing {
            Sharing::Alone(_) => {
                self.round += 1;
                self.select();
                let message = Message::Share { round: self.round, vectors: None };
                ctx.broadcast(self.agents.iter().copied(), &message);
                Ok(())
            }
            Sharing::RandomAgent(_) => self.relay(ctx),
            Sharing::Aggregate(aggregate) => self.learn_losses(&aggregate, ctx).and_then(|()| {
                let (mechanism, gathered) = self.gather(&aggregate);
                self.aggregate(&aggregate, &mechanism, gathered, ctx)
            }),
        };
        if let Err(error) = shared {
            end_refused(ctx, &format!("before round {}", self.round + 1), &error);
            return;
        }
        self.next(ctx);
    }

    /// The vectors in `fresh` that clipping will shorten: how many of them arrived in time, and the total weight of all of
    /// them, in time or not.
    ///
    /// `None` if the series has no sums or no clipping norm, in a dry run, and in rounds that share no vectors. Also `None`
    /// with masked sums, because the server cannot see the norms of masked vectors.
    fn clipped(&self) -> Option<Clipped> {
        let Sharing::Aggregate(aggregate) = &self.sharing else { return None };
        let clip = self.norm.or(aggregate.clip).filter(|_| !self.dry && self.contract.is_none())?;
        let bound = clip.get() / f64::from(aggregate.regions.get()).sqrt();
        let longer = |dated: &&Dated| dot(&dated.vector, &dated.vector).sqrt() > bound;
        let weights = self.weights(aggregate);
        let (mut vectors, mut weight) = (0, 0.0);
        for (agent, dated) in self.fresh.iter().enumerate() {
            let Some(dated) = dated.as_ref().filter(|dated| longer(dated)) else { continue };
            // With the policy `Buffered`, `fresh` also holds vectors of earlier rounds.
            vectors += u64::from(dated.round == self.round);
            weight += weights.iter().map(|region| region[agent]).sum::<f64>();
        }
        (self.round < self.shared_rounds).then_some(Clipped { vectors, weight })
    }

    /// The weights of this round, regions x agents.
    fn weights(&self, aggregate: &Aggregate) -> Vec<Vec<f64>> {
        let weights = self.placement.weights(aggregate, self.round);
        self.roster.weighted(weights, aggregate.importance.as_ref())
    }

    /// The vectors of this round's sum, and the mechanism that sums them. The vectors and the mechanism both depend on the
    /// setting `late`, which says how late answers are used.
    fn gather(&mut self, aggregate: &Aggregate) -> (FederatedSum, ReceivedVectors) {
        let weights = Arc::new(self.weights(aggregate));
        let mut mechanism = aggregate.mechanism(self.roster.asked());
        mechanism.clip = self.norm.or(aggregate.clip);
        // If the server keeps the first k answers of N agents, the claim of Dai, Low and Jaillet 2021 is computed with
        // the smaller of k / N and the sampling rate.
        mechanism.claimed_rate =
            self.policy.claimed_rate(mechanism.participation, self.roster.asked() as usize);
        mechanism.excluded_from_claim = self.round + 1 > self.rounds;
        let rates = self.personal.iter().map(|level| level.rate);
        mechanism.rates = (!self.personal.is_empty()).then(|| AgentRates::new(rates.collect()));
        let mut vectors: Vec<(usize, Dated)> = Vec::new();
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
        let late_by = |dated: &Dated| self.round.saturating_sub(dated.round);
        let discounts = aggregate.staleness.as_ref().map_or_else(Vec::new, |discount| {
            vectors.iter().map(|(_, dated)| discount.as_dyn().factor(late_by(dated))).collect()
        });
        let vectors = vectors.into_iter().map(|(agent, dated)| (agent, dated.vector)).collect();
        let (population, length) = (self.agents.len(), self.length);
        let gathered =
            ReceivedVectors { population, vectors, weights, late_sampling_draw, length, discounts };
        (mechanism, gathered)
    }

    fn aggregate(
        &mut self,
        aggregate: &Aggregate,
        mechanism: &FederatedSum,
        gathered: ReceivedVectors,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), ReleaseError> {
        let occasion = self.occasion("sums of weights", ctx);
        let mut stream = self.key.child("sum").index(self.round).stream();
        // For an adaptive clipping norm, the noisy count of the vectors that clipping does not shorten is divided by this
        // number: the size of a sample of fixed size or, with `Poisson`, the sampling rate times the number of vectors that
        // were received (with the divisor `Arrived`) or of agents that were asked (with another divisor).
        let sampled = match aggregate.divisor {
            Divisor::Arrived => aggregate.planned(gathered.vectors.len() as u64),
            Divisor::Planned | Divisor::ArrivedOrGone => aggregate.planned(self.roster.asked()),
        };
        let secret = Sensitive::new(gathered);
        let mut zeros = vec![vec![0.0; if self.dry { self.length } else { 0 }]; self.regions()];
        zeros.extend(mechanism.count.map(|_| vec![0.0]));
        let mut ledger = JournalLedger::new(&mut self.meter, ctx);
        let vectors = if self.dry {
            release(&mut ledger, occasion, &Disclosure::new(), &Sensitive::new(zeros), &mut stream)?
        } else {
            // Agents with the same epsilon have one ledger entry together, with the cost at the rate of these agents. The
            // entry with the largest cost comes first, so that it is the first to be checked against the budget. (If agents
            // have no epsilons of their own, there is one entry for all agents.)
            let levels = levels_of(&self.personal);
            let level = |level: &AgentLevel| {
                let rates = mechanism.rates.as_ref().map(|rates| rates.priced_at(level.rate));
                let protected = level.protected(PROTECTED);
                (Occasion { protected, ..occasion.clone() }, FederatedSum { rates, ..mechanism.clone() })
            };
            let (last, others) = levels.split_last().map_or((None, &[][..]), |(last, all)| (Some(last), all));
            for (occasion, sum) in others.iter().map(level) {
                enter(&mut ledger, occasion, &sum, &secret)?;
            }
            let (occasion, sum) = last.map_or_else(|| (occasion.clone(), mechanism.clone()), level);
            release(&mut ledger, occasion, &sum, &secret, &mut stream)?
        };
        if !self.dry {
            self.follow_norm(aggregate, vectors.get(), sampled, ctx);
        }
        self.round += 1;
        self.select();
        let (round, vectors) = (self.round, Some(Arc::new(vectors)));
        let others = Message::Observe { round, vectors: vectors.clone() };
        self.send_round(&Message::Share { round, vectors }, &others, ctx);
        Ok(())
    }

    /// With an adaptive clipping norm: computes the next norm from the noisy count that was released with the
    /// sums.
    fn follow_norm(
        &mut self,
        aggregate: &Aggregate,
        released: &[Vec<f64>],
        sampled: f64,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        let (Some(adaptive), Some(first), Some(norm)) = (aggregate.adaptive_clip, aggregate.clip, self.norm)
        else {
            return;
        };
        let Some([count]) = released.get(self.regions()).map(Vec::as_slice) else { return };
        let within = AdaptiveClip::share(*count, sampled);
        let norm = adaptive.next(norm, within, first);
        self.norm = Some(norm);
        ctx.record(OwnFact::ClipFollowed { round: self.round, within, norm: norm.get() }.into());
    }

    /// As in the original FTS: sends every agent the vector of one random agent among the other agents with a vector in
    /// `fresh`. An agent for which there is no such other agent gets no vector.
    fn relay(&mut self, ctx: &mut Context<'_, FederatedProtocol>) -> Result<(), ReleaseError> {
        let present: Vec<usize> =
            (0..self.agents.len()).filter(|&agent| self.fresh[agent].is_some()).collect();
        for (agent, &party) in self.agents.iter().enumerate() {
            let mut stream = self.key.child("relay").index(self.round).index(agent as u64).stream();
            let others: Vec<usize> = present.iter().copied().filter(|&other| other != agent).collect();
            let mut vectors = None;
            if !others.is_empty() {
                let other = others[stream.below(others.len() as u64) as usize];
                if let Some(Dated { vector, .. }) = &self.fresh[other] {
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
