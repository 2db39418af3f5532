//! An agent: measures its own objective, chooses points by its own model or by the shared sum, and sends its
//! weights.

use super::common::AgentCommon;
use super::contribution::MaskingContract;
use super::function::AgentFunction;
use super::messages::{Close, FederatedProtocol, Message, OwnFact};
use super::own_model::{FittedHyperparameters, OwnModel};
use super::public::PROTECTED;
use super::queries::Repeated;
use super::series::SharedQueries;
use super::shared_model::SharedModel;
use crate::gp::{GpError, largest};
use crate::kernel::{Context, Input, Party};
use crate::objectives::Noise;
use crate::privacy::Sensitive;
use crate::privacy::ledger::{BudgetMeter, Occasion, release};
use crate::privacy::mechanisms::Disclosure;
use crate::protocols::stage::{JitterWatch, JournalLedger, end, end_refused};
use crate::rng::Key;
use crate::vocab::{Neighbours, Observer, PartyId, ProtectedUnit};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// One agent of one series.
#[derive(Clone)]
pub(super) struct Agent {
    pub(super) index: u64,
    pub(super) server: PartyId,
    pub(super) server_name: String,
    pub(super) neighbours: Neighbours,
    pub(super) common: Arc<AgentCommon>,
    pub(super) function: Arc<AgentFunction>,
    /// For each point, whether this agent can measure it; `None` if it can measure all.
    pub(super) points: Option<Arc<Vec<bool>>>,
    pub(super) initial: Vec<usize>,
    pub(super) regions: Arc<Vec<usize>>,
    pub(super) own: OwnModel,
    /// `None` if nothing is shared.
    pub(super) weights: Option<SharedModel>,
    /// Placeholder for the weights in a dry run with sharing.
    pub(super) blank: Option<Arc<Vec<f64>>>,
    /// Whether this is a dry run: nothing is measured or learned.
    pub(super) dry: bool,
    pub(super) shared_queries: SharedQueries,
    pub(super) scale: f64,
    /// `beta_t` of rounds 1, 2, ..; empty where it is 1 throughout.
    pub(super) widths: Arc<Vec<f64>>,
    pub(super) repeated: Repeated,
    /// By point: whether it was measured. Empty if repeated points are allowed.
    pub(super) visited: Vec<bool>,
    /// This agent's noise.
    pub(super) noise: Noise,
    pub(super) rounds: u64,
    /// Number of the server's broadcasts: the agent answers rounds with a lower number.
    pub(super) broadcasts: u64,
    /// Answers to rounds with a lower number contain weights, later answers do not.
    pub(super) shared_rounds: u64,
    /// Node of the seed tree for all draws of this agent; the same in every series.
    pub(super) key: Key,
    /// If the server is not trusted: what all agents and the server agreed on for masked sums.
    pub(super) contract: Option<Arc<MaskingContract>>,
    /// By agent: whether it takes part in masked sums. Known once this agent has received the shares dealt to it.
    pub(super) members: Option<Arc<Vec<bool>>>,
    /// One more than the last round for which this agent sent shares; 0 if it has sent none.
    pub(super) shares_sent_before: u64,
    pub(super) begun: bool,
    pub(super) last_round: u64,
    pub(super) measured: u64,
    pub(super) jitter: JitterWatch,
    /// Conditions under which all losses hold.
    pub(super) conditions: Vec<String>,
    /// Counts releases to relays that can read messages against the budget. The budget does not cover what the server
    /// sees, because the server is trusted with the vectors.
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
        (arm, shared): (usize, bool),
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), GpError> {
        let mut stream = self.key.child("noise").index(self.measured).stream();
        self.measured += 1;
        let outcome = self.function.at(round)[arm] + self.noise.draw(arm, &mut stream);
        ctx.record(OwnFact::Measured { agent: self.index, round, arm: arm as u64, outcome, shared }.into());
        if let Some(visited) = self.visited.get_mut(arm) {
            *visited = true;
        }
        self.own.observe(arm, outcome)?;
        self.jitter.note(self.own.jitter(), ctx);
        if let Some(weights) = &mut self.weights {
            weights.observe(arm, outcome)?;
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

    /// The point with the largest score among those that this agent can measure.
    fn best_own(&self, mut scores: Vec<f64>) -> usize {
        if let Some(points) = &self.points {
            let others = scores.iter_mut().zip(points.iter()).filter(|(_, can)| !**can);
            others.for_each(|(score, _)| *score = f64::NEG_INFINITY);
        }
        largest(&scores)
    }

    /// Thompson sampling from N(mean, (scale beta_t)^2 covariance).
    fn own_choice(&self, round: u64) -> usize {
        let width = self.widths.get(round.saturating_sub(1) as usize).map_or(1.0, |width| *width);
        self.best_own(
            self.own.draw(self.scale * width, &mut self.key.child("thompson").index(round).stream()),
        )
    }

    /// The next point, and whether the shared vectors chose it.
    fn choice(&self, round: u64, vectors: Option<&[Vec<f64>]>) -> (usize, bool) {
        let coin = self.key.child("whose model").index(round).stream().uniform();
        let (arm, shared) = match vectors {
            Some(vectors) if coin < self.shared_queries.probability(round) => {
                (self.best_own(self.common.scores(&self.regions, vectors)), true)
            }
            Some(_) | None => (self.own_choice(round), false),
        };
        // A random point that replaces a repeated one was not chosen by the shared vectors.
        let taken = self.replace_repeated(arm, round);
        (taken, shared && taken == arm)
    }

    /// The point itself, or a random point if it was measured before and repeated points are not allowed.
    fn replace_repeated(&self, arm: usize, round: u64) -> usize {
        if self.repeated == Repeated::Allowed || !self.visited.get(arm).is_some_and(|visited| *visited) {
            return arm;
        }
        let mut stream = self.key.child("in place of a repeated point").index(round).stream();
        let Some(points) = &self.points else { return stream.below(self.visited.len() as u64) as usize };
        let own: Vec<usize> = (0..points.len()).filter(|&point| points[point]).collect();
        own[stream.below(own.len() as u64) as usize]
    }

    fn answer(&mut self, round: u64, ctx: &mut Context<'_, FederatedProtocol>) {
        let mut stream = self.key.child("weights").index(round).stream();
        let weights = self.weights.as_ref().filter(|_| round < self.shared_rounds);
        let drawn = match weights.map(|weights| weights.sample(&mut stream)).transpose() {
            Ok(drawn) => drawn.map(Arc::new),
            Err(error) => return end(ctx, format!("agent {}: {error}", self.index)),
        };
        let Some(omega) = drawn.or_else(|| self.blank.clone().filter(|_| round < self.shared_rounds)) else {
            ctx.send(self.server, Message::Done { round });
            return;
        };
        if let Some(contract) = &self.contract {
            let Some(members) = &self.members else {
                ctx.send(self.server, Message::Done { round });
                return;
            };
            // Masked words reveal nothing by themselves: the ledger has an entry for the sums once they can
            // be computed.
            let words = contract.masked(self.index as usize, round, omega.to_vec(), members, &self.key);
            ctx.send(self.server, Message::Masked { round, words: Arc::new(words) });
            return;
        }
        let secret = Sensitive::new(omega);
        let occasion = Occasion {
            released: "sampled weights omega".to_owned(),
            protected: PROTECTED.to_owned(),
            unit: ProtectedUnit::Agent,
            unit_index: None,
            neighbours: self.neighbours.clone(),
            observer: Observer(self.server_name.clone()),
            round,
            at: ctx.now(),
            conditions: self.conditions.clone(),
        };
        match release(
            &mut JournalLedger::new(&mut self.meter, ctx).for_trusted_observer(),
            occasion,
            &Disclosure::new(),
            &secret,
            &mut stream,
        ) {
            Ok(omega) => ctx.send(self.server, Message::Weights { round, omega }),
            Err(error) => end_refused(ctx, &format!("agent {}", self.index), &error),
        }
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

    /// Sends shares at most once per round, so that no party gets both secrets of an agent, and only for sums over a
    /// majority.
    fn send_shares(&mut self, round: u64, answered: &[bool], ctx: &mut Context<'_, FederatedProtocol>) {
        if let Some(contract) = &self.contract
            && round >= self.shares_sent_before
            && contract.allows_unmasking(answered)
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
        if let Input::Message { message: Message::Unmask { round, answered }, .. } = &input {
            self.send_shares(*round, answered, ctx);
            return;
        }
        if let Input::Message { message, .. } = &input
            && self.set_up(message, ctx)
        {
            return;
        }
        let round = match &input {
            Input::Message { message: Message::Begin | Message::Entrusted { .. }, .. } if !self.begun => 0,
            Input::Message { message: Message::Share { round, .. }, .. }
                if *round > self.last_round && *round <= self.rounds =>
            {
                *round
            }
            Input::Message { .. }
            | Input::Start
            | Input::Timer(Close { .. })
            | Input::WentOffline
            | Input::CameBack => return,
        };
        // An agent that missed the start measures the initial points now.
        let mut done = Ok(());
        if !self.begun {
            self.begun = true;
            for arm in std::mem::take(&mut self.initial) {
                done = done.and_then(|()| self.measure(0, (arm, false), ctx));
            }
        }
        if let Input::Message { message: Message::Share { vectors, .. }, .. } = &input {
            if !self.dry {
                done = done.and_then(|()| self.refit(ctx));
                let choice = self.choice(round, vectors.as_ref().map(|vectors| vectors.get().as_slice()));
                done = done.and_then(|()| self.measure(round, choice, ctx));
            }
            self.last_round = round;
        }
        match done {
            Ok(()) if round < self.broadcasts => self.answer(round, ctx),
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
