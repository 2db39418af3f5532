//! An agent measures its own objective, chooses points by its own model or by the shared vectors, and sends vectors of
//! weights. These are the weights of features that all agents share; the agent draws them from its posterior.

use super::common::AgentCommon;
use super::contribution::MaskingContract;
use super::messages::{Close, FederatedProtocol, Message, OwnFact};
use super::own_model::{Drawn, FittedHyperparameters, OwnModel};
use super::public::PROTECTED;
use super::queries::Repeated;
use super::query::Query;
use super::regions::Regions;
use super::selection::SelectionModel;
use super::series::SharedQueries;
use super::shared_model::SharedModel;
use super::silence::AgentSilence;
use crate::gp::{GpError, largest};
use crate::kernel::{Context, Input, Party};
use crate::objectives::Noise;
use crate::privacy::ledger::{BudgetMeter, Occasion, ReleaseError, release};
use crate::privacy::mechanisms::Disclosure;
use crate::privacy::{Released, Sensitive};
use crate::protocols::stage::differences::OwnFunction;
use crate::protocols::stage::{JitterWatch, JournalLedger, end, end_refused};
use crate::rng::{Key, Stream};
use crate::vocab::{Neighbours, Observer, PartyId, ProtectedUnit};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// The name in the ledger for the vector that an agent sends.
const OMEGA: &str = "sampled weights omega";

/// One agent of one series.
#[derive(Clone)]
pub(super) struct Agent {
    pub(super) index: u64,
    pub(super) server: PartyId,
    pub(super) server_name: String,
    pub(super) neighbours: Neighbours,
    pub(super) common: Arc<AgentCommon>,
    pub(super) function: Arc<OwnFunction>,
    /// For each point, whether this agent can measure it; `None` if it can measure all.
    pub(super) points: Option<Arc<Vec<bool>>>,
    /// For each point, whether the shared vectors may choose it as the agent's query; `None` if they may choose every point
    /// that the agent can measure. (The shared vectors describe a function, and choose a point at which this function is
    /// largest.)
    pub(super) followed: Option<Arc<Vec<bool>>>,
    pub(super) initial: Vec<Query>,
    pub(super) regions: Arc<Regions>,
    pub(super) own: OwnModel,
    /// `None` if nothing is shared.
    pub(super) weights: Option<SharedModel>,
    /// The numbers that stand in for the weights in a dry run with sharing.
    pub(super) blank: Option<Arc<Vec<f64>>>,
    /// Whether this is a dry run: nothing is measured or learned.
    pub(super) dry: bool,
    pub(super) shared_queries: SharedQueries,
    pub(super) scale: f64,
    /// `beta_t`, the factor on the standard deviation in the agent's own Thompson sampling, for rounds 1, 2, ..; empty if it
    /// is 1 in every round.
    pub(super) widths: Arc<Vec<f64>>,
    pub(super) repeated: Repeated,
    /// The queries that this agent has measured; empty if repeated points are allowed.
    pub(super) visited: Vec<Query>,
    /// Decides whether the agent answers; `None` if this does not depend on what it measured.
    pub(super) silence: Option<AgentSilence>,
    /// The noise of this agent's measurements.
    pub(super) noise: Noise,
    pub(super) rounds: u64,
    /// The number of broadcasts of the server. The agent answers round t only if t is below this number.
    pub(super) broadcasts: u64,
    /// Only answers to rounds below this number may contain weights or a loss.
    pub(super) shared_rounds: u64,
    /// Node of the seed tree for all draws of this agent; the same in every series.
    pub(super) key: Key,
    /// If the server selects agents by loss: the selection, which determines which agents report and what they report.
    pub(super) reporting: Option<SelectionModel>,
    /// The measurements, kept only if losses are reported.
    pub(super) seen: Vec<(Query, f64)>,
    /// If the server is not trusted: what all agents and the server agreed on for masked sums.
    pub(super) contract: Option<Arc<MaskingContract>>,
    /// By agent: whether it is a member, that is, takes part in masked sums. Where agents share masks with few
    /// neighbours, false for every agent that is not a neighbour of this one. `None` until this agent has received the
    /// shares of members' secrets that it is to hold.
    pub(super) members: Option<Arc<Vec<bool>>>,
    /// One more than the last round for which this agent sent shares; 0 if it has sent none.
    pub(super) shares_sent_before: u64,
    pub(super) begun: bool,
    pub(super) last_round: u64,
    pub(super) measured: u64,
    pub(super) jitter: JitterWatch,
    /// The conditions under which the privacy losses of all releases hold.
    pub(super) conditions: Vec<String>,
    /// The releases to relays that can read the agent's messages, counted against the budget. The budget does not cover
    /// what the server sees, because the server is trusted with the vectors.
    pub(super) meter: BudgetMeter,
}

impl fmt::Debug for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agent").field("index", &self.index).finish_non_exhaustive()
    }
}

impl Agent {
    fn measure(
        &mut self,
        round: u64,
        (query, shared): (Query, bool),
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), GpError> {
        let mut stream = self.key.child("noise").index(self.measured).stream();
        self.measured += 1;
        let (value, outcome, fact) = match (&query, &self.common.space) {
            (Query::Point(unit), Some(space)) => {
                let point = space.domain.from_unit(unit);
                let value = self.function.at_point(&point);
                let outcome = value + self.noise.draw(0, &mut stream);
                (value, outcome, OwnFact::MeasuredAt { agent: self.index, round, point, outcome, shared })
            }
            (Query::Point(_), None) => return Ok(()),
            (Query::Arm(arm), _) => {
                let value = self.function.at(round)[*arm];
                let outcome = value + self.noise.draw(*arm, &mut stream);
                let arm = *arm as u64;
                (value, outcome, OwnFact::Measured { agent: self.index, round, arm, outcome, shared })
            }
        };
        if let Some(silence) = &mut self.silence {
            silence.measured(value - self.function.best(round), outcome);
        }
        ctx.record(fact.into());
        if self.repeated != Repeated::Allowed {
            self.visited.push(query.clone());
        }
        self.own.observe(&query, outcome)?;
        self.jitter.note(self.own.jitter(), ctx);
        if let Some(weights) = &mut self.weights {
            weights.observe(&query, outcome)?;
        }
        if self.reporting.is_some() {
            self.seen.push((query, outcome));
        }
        Ok(())
    }

    /// Fits the hyperparameters of the agent's own model, if the scenario asks for it and a fit is due.
    fn refit(&mut self, ctx: &mut Context<'_, FederatedProtocol>) -> Result<(), GpError> {
        let starts = self.key.child("hyperparameter starts");
        if let Some(found) = self.own.refit(|points| starts.index(points).stream())? {
            let FittedHyperparameters { length_scale, variance, noise_variance } = found;
            ctx.record(OwnFact::Fitted { agent: self.index, length_scale, variance, noise_variance }.into());
            self.jitter.note(self.own.jitter(), ctx);
        }
        Ok(())
    }

    /// The arm with the largest score among those that `points` allows; among all arms if `points` is `None`.
    fn best_among(points: Option<&Arc<Vec<bool>>>, mut scores: Vec<f64>) -> Query {
        if let Some(points) = points {
            let others = scores.iter_mut().zip(points.iter()).filter(|(_, can)| !**can);
            others.for_each(|(score, _)| *score = f64::NEG_INFINITY);
        }
        Query::Arm(largest(&scores))
    }

    /// The query by Thompson sampling: the point at which a draw from N(mean, (scale beta_t)^2 covariance) of the agent's
    /// own model is largest.
    fn own_choice(&self, round: u64) -> Result<Query, GpError> {
        let width = self.widths.get(round.saturating_sub(1) as usize).map_or(1.0, |width| *width);
        let mut stream = self.key.child("thompson").index(round).stream();
        Ok(match self.own.draw(self.scale * width, &mut stream)? {
            Drawn::Arms(values) => Self::best_among(self.points.as_ref(), values),
            Drawn::Best(point) => Query::point(point),
        })
    }

    /// Whether there is a point that the shared vectors may choose as this agent's query.
    fn follows(&self) -> bool {
        self.followed.as_ref().is_none_or(|points| points.contains(&true))
    }

    /// The query at which the function that the shared vectors describe is largest, among those that they may choose.
    fn shared_choice(&self, vectors: &[Vec<f64>]) -> Query {
        let scores = self.common.scores(&self.regions, vectors);
        match &self.common.space {
            Some(space) => Query::point(space.best_by_vectors(&self.regions, vectors, &scores)),
            None => Self::best_among(self.followed.as_ref().or(self.points.as_ref()), scores),
        }
    }

    /// The next query, and whether the shared vectors chose it.
    fn choice(&self, round: u64, vectors: Option<&[Vec<f64>]>) -> Result<(Query, bool), GpError> {
        let coin = self.key.child("whose model").index(round).stream().uniform();
        let (query, shared) = match vectors {
            Some(vectors) if coin < self.shared_queries.probability(round) && self.follows() => {
                (self.shared_choice(vectors), true)
            }
            Some(_) | None => (self.own_choice(round)?, false),
        };
        // A random point that replaces a repeated one was not chosen by the shared vectors.
        Ok(match self.in_place_of_repeated(&query, round) {
            Some(other) => (other, false),
            None => (query, shared),
        })
    }

    /// A random query, if `query` was measured before and repeated points are not allowed; `None` otherwise, or if the
    /// random query equals `query`.
    fn in_place_of_repeated(&self, query: &Query, round: u64) -> Option<Query> {
        if self.repeated == Repeated::Allowed || !self.visited.contains(query) {
            return None;
        }
        let mut stream = self.key.child("in place of a repeated point").index(round).stream();
        let other = match (&self.common.space, &self.points) {
            (Some(space), _) => space.random_point(&mut stream),
            (None, None) => Query::Arm(stream.below(self.common.points().n() as u64) as usize),
            (None, Some(points)) => {
                let own: Vec<usize> = (0..points.len()).filter(|&point| points[point]).collect();
                Query::Arm(own[stream.below(own.len() as u64) as usize])
            }
        };
        (other != *query).then_some(other)
    }

    /// What this agent reports of the loss that `vectors` have on its measurements; `None` if it reports nothing.
    fn report(&self, selected: bool, vectors: Option<&[Vec<f64>]>) -> Option<f64> {
        let selection = self.reporting.as_ref()?.as_dyn();
        let vectors = vectors.filter(|_| selection.reporters().include(selected) && !self.seen.is_empty())?;
        let centre = self.weights.as_ref()?.centre(&self.seen);
        let loss = |(query, outcome): &(Query, f64)| {
            let difference = outcome - centre - self.common.score(query, &self.regions, vectors);
            difference * difference
        };
        Some(selection.report(&self.seen.iter().map(loss).collect::<Vec<f64>>()))
    }

    /// Answers a round. The answer has a draw of the weights if the server has asked this agent for one and weights are
    /// still shared in this round. It has the loss if there is a loss to report. An answer without weights and without a
    /// loss says only that the agent has measured. An agent that is silent because of what it measured sends nothing.
    /// For masked sums, the draw is masked; an agent that has not received the shares that it is to hold sends no draw.
    fn answer(
        &mut self,
        round: u64,
        (selected, loss): (bool, Option<f64>),
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        if self.silence.as_mut().is_some_and(|silence| silence.is_silent(round, &self.key)) {
            return;
        }
        let mut stream = self.key.child("weights").index(round).stream();
        let shared = selected && round < self.shared_rounds;
        let weights = self.weights.as_ref().filter(|_| shared);
        let drawn = match weights.map(|weights| weights.sample(&mut stream)).transpose() {
            Ok(drawn) => drawn.map(Arc::new),
            Err(error) => return end(ctx, format!("agent {}: {error}", self.index)),
        };
        let omega = drawn.or_else(|| self.blank.clone().filter(|_| shared));
        if let Some(loss) = loss {
            let sent = self.disclose("local loss", round, loss, &mut stream, ctx).and_then(|loss| {
                let omega = omega.map(|omega| self.disclose(OMEGA, round, omega, &mut stream, ctx));
                Ok(Message::Report { round, omega: omega.transpose()?, loss })
            });
            match sent {
                Ok(message) => ctx.send(self.server, message),
                Err(error) => end_refused(ctx, &format!("agent {}", self.index), &error),
            }
            return;
        }
        let Some(omega) = omega else {
            ctx.send(self.server, Message::Done { round });
            return;
        };
        if let Some(contract) = &self.contract {
            let Some(members) = &self.members else {
                ctx.send(self.server, Message::Done { round });
                return;
            };
            // Masked words have no ledger entry: without the secrets behind the masks they look random, as long as no more
            // agents collude than stated. The ledger has an entry for the sums once they can be computed.
            let words = contract.masked(self.index as usize, round, omega.to_vec(), members, &self.key);
            ctx.send(self.server, Message::Masked { round, words: Arc::new(words) });
            return;
        }
        match self.disclose(OMEGA, round, omega, &mut stream, ctx) {
            Ok(omega) => ctx.send(self.server, Message::Weights { round, omega }),
            Err(error) => end_refused(ctx, &format!("agent {}", self.index), &error),
        }
    }

    /// Releases a value without protection to the server, which is trusted with it, and makes a ledger entry.
    fn disclose<T: Clone + fmt::Debug + PartialEq + Send + Sync + 'static>(
        &mut self,
        what: &str,
        round: u64,
        value: T,
        stream: &mut Stream,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<Released<T>, ReleaseError> {
        let secret = Sensitive::new(value);
        let occasion = Occasion {
            released: what.to_owned(),
            protected: PROTECTED.to_owned(),
            unit: ProtectedUnit::Agent,
            unit_index: None,
            neighbours: self.neighbours.clone(),
            observer: Observer(self.server_name.clone()),
            round,
            at: ctx.now(),
            conditions: self.conditions.clone(),
        };
        let mut ledger = JournalLedger::new(&mut self.meter, ctx).for_trusted_observer();
        release(&mut ledger, occasion, &Disclosure::new(), &secret, stream)
    }
}

impl Agent {
    /// Takes part in the key exchange for masks; returns true if the message needs no further handling.
    fn set_up(&mut self, message: &Message, ctx: &mut Context<'_, FederatedProtocol>) -> bool {
        match message {
            Message::Invite => ctx.send(self.server, Message::Key),
            Message::Keys { known } => {
                let holders = known.iter().filter(|known| **known).count() as u64;
                ctx.send(self.server, Message::Dealt { holders, rounds: self.shared_rounds });
            }
            Message::Entrusted { members, begins, .. } => {
                self.members = Some(Arc::clone(members));
                return !begins;
            }
            _ => return false,
        }
        true
    }

    /// Sends shares at most once per round. So, for one round, nobody gets from this agent shares of both secrets of an
    /// agent: the seed of that agent's own mask, and the secret of its pair masks. Shares are sent only if a majority of
    /// all agents answered or, where agents share masks with few neighbours, a majority of this agent's neighbours.
    fn send_shares(&mut self, round: u64, answered: &[bool], ctx: &mut Context<'_, FederatedProtocol>) {
        if let Some(contract) = &self.contract
            && round >= self.shares_sent_before
            && contract.allows_unmasking(self.index as usize, answered)
        {
            self.shares_sent_before = round + 1;
            let members = self.members.as_deref().map_or(&[][..], Vec::as_slice);
            let shares = Arc::new(contract.shares(self.index as usize, round, answered, members));
            ctx.send(self.server, Message::Shares { round, shares });
        }
    }
}

impl Party<FederatedProtocol> for Agent {
    fn handle(&mut self, input: Input<FederatedProtocol>, ctx: &mut Context<'_, FederatedProtocol>) {
        if self.silence.as_ref().is_some_and(AgentSilence::has_left) {
            return;
        }
        if let Input::Message { message: Message::Unmask { round, answered }, .. } = &input {
            self.send_shares(*round, answered, ctx);
            return;
        }
        if let Input::Message { message: Message::UnmaskNear { round, answered }, .. } = &input
            && let Some(contract) = &self.contract
        {
            let near = contract.secrets.graph.pairs(self.index as usize).into_iter().zip(answered.iter());
            let mut all = vec![false; contract.placement.agents()];
            near.for_each(|(other, answered)| all[other] = *answered);
            self.send_shares(*round, &all, ctx);
            return;
        }
        if let Input::Message { message, .. } = &input
            && self.set_up(message, ctx)
        {
            return;
        }
        let round = match &input {
            Input::Message {
                message: Message::Begin | Message::Entrusted { .. } | Message::Observe { round: 0, .. },
                ..
            } if !self.begun => 0,
            Input::Message {
                message: Message::Share { round, .. } | Message::Observe { round, .. }, ..
            } if *round > self.last_round && *round <= self.rounds => *round,
            Input::Message { .. }
            | Input::Start
            | Input::Timer(Close { .. })
            | Input::WentOffline
            | Input::CameBack => return,
        };
        // The initial points are measured at the first message that begins a round, at the start or later.
        let mut done = Ok(());
        if !self.begun {
            self.begun = true;
            for query in std::mem::take(&mut self.initial) {
                done = done.and_then(|()| self.measure(0, (query, false), ctx));
            }
        }
        let (selected, vectors) = match &input {
            Input::Message { message: Message::Share { vectors, .. }, .. } => (true, vectors.as_ref()),
            Input::Message { message: Message::Observe { vectors, .. }, .. } => (false, vectors.as_ref()),
            _ => (true, None),
        };
        let vectors = vectors.map(|vectors| vectors.get().as_slice());
        if round > 0 {
            if !self.dry {
                done = done.and_then(|()| self.refit(ctx));
                done = done.and_then(|()| {
                    let choice = self.choice(round, vectors)?;
                    self.measure(round, choice, ctx)
                });
            }
            self.last_round = round;
        }
        match done {
            Ok(()) if round < self.broadcasts => {
                let loss = self.report(selected, vectors).filter(|_| round < self.shared_rounds);
                self.answer(round, (selected, loss), ctx);
            }
            Ok(()) => {}
            Err(error) => end(ctx, format!("agent {}: {error}", self.index)),
        }
    }
    fn adopt(&mut self, fresh: &dyn Any) {
        if let Some(fresh) = fresh.downcast_ref::<Self>() {
            self.neighbours.clone_from(&fresh.neighbours);
            self.shared_queries = fresh.shared_queries;
            self.scale = fresh.scale;
        }
    }
}
