//! The state of a server in a round, and how it stores answers.

use super::answers::Answers;
use super::contribution::MaskingContract;
use super::key_exchange_state::Setup;
use super::messages::{Close, FederatedProtocol};
use super::participation::Respondents;
use super::personal::AgentLevel;
use super::placement::Placement;
use super::public::{EVERY_AGENT, PROTECTED};
use super::roster::Roster;
use super::rounds::{Late, RoundPolicy};
use super::series::Sharing;
use super::unmasking::{PendingUnmasking, Unmasking};
use crate::kernel::{Context, TimerTicket};
use crate::privacy::ledger::{BudgetMeter, Occasion};
use crate::privacy::mechanisms::Informative;
use crate::protocols::stage::end_refused;
use crate::rng::Key;
use crate::vocab::{Neighbours, Observer, PartyId, Positive, ProtectedUnit};
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) type Vector = Arc<Vec<f64>>;

/// A vector, and the round that it answers.
#[derive(Clone, Debug)]
pub(super) struct Dated {
    pub(super) round: u64,
    pub(super) vector: Vector,
}

/// The server of one series.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) agents: Vec<PartyId>,
    pub(super) places: BTreeMap<PartyId, usize>,
    pub(super) sharing: Sharing,
    pub(super) policy: RoundPolicy,
    pub(super) neighbours: Neighbours,
    /// Who explores which region, and whose vectors are in which sum.
    pub(super) placement: Placement,
    /// Number of rounds in which agents measure.
    pub(super) rounds: u64,
    /// Number of broadcasts: as many as rounds; one more if there is a closing broadcast.
    pub(super) broadcasts: u64,
    /// Vectors are shared in round r, counted from 0, if r is below this number; in later rounds no vectors are shared.
    pub(super) shared_rounds: u64,
    pub(super) length: usize,
    /// By agent: its own epsilon and its sampling rate; empty if agents have no epsilons of their
    /// own.
    pub(super) personal: Vec<AgentLevel>,
    pub(super) key: Key,
    pub(super) meter: BudgetMeter,
    pub(super) round: u64,
    pub(super) open: bool,
    pub(super) timer: Option<TimerTicket>,
    pub(super) answered: Vec<bool>,
    /// By agent: all rounds that it has answered, in time or late.
    pub(super) answered_rounds: Vec<Answers>,
    /// By agent: its vector for the sum of this round. With a policy that buffers, this may be the vector of a late answer.
    pub(super) fresh: Vec<Option<Dated>>,
    /// By agent: a late vector that enters the next sum.
    pub(super) late: Vec<Option<Dated>>,
    /// By agent: the vector of its latest answer. Only used under `KeepLast`; otherwise late answers do not change it.
    pub(super) last: Vec<Option<Dated>>,
    /// By agent: whether its vector in `last` has been replaced by that of a late answer since the last sum, under
    /// `KeepLast`.
    pub(super) replaced: Vec<bool>,
    /// The progress of the agreement on masks, for a server that is not trusted.
    pub(super) setup: Setup,
    /// What all agents and the server agreed on for masked sums; `None` if the series has no masked sums.
    pub(super) contract: Option<Arc<MaskingContract>>,
    /// By agent: its masked vector of this round, as 64-bit words.
    pub(super) masked: Vec<Option<Arc<Vec<u64>>>>,
    /// The unmasking of this round's sum, while the server waits for shares.
    pub(super) unmasking: Option<Unmasking>,
    /// Rounds that were given up after shares had been requested, as long as the server cannot compute their sums.
    pub(super) unopened: Vec<PendingUnmasking>,
    pub(super) name: String,
    /// Of the groups' `silence` settings that depend on what agents measured, the one with the largest epsilon; `None` if
    /// there is none.
    pub(super) silence: Option<Informative>,
    /// If silence depends on what agents measured: the relays between the server and agents. They see who answers, even if
    /// they cannot read the answers.
    pub(super) silence_relays: Arc<[Observer]>,
    /// Conditions under which all privacy losses hold.
    pub(super) conditions: Vec<String>,
    /// Number of answers, to any round, since a round was last closed.
    pub(super) buffered: u64,
    /// How many of these answers arrived after their own round had been closed.
    pub(super) stale: u64,
    /// If agents are selected by loss: the relays between server and agents. The size of an answer shows them whether its
    /// agent is selected.
    pub(super) relays: Arc<[Observer]>,
    /// Which agents the server asks, and what it knows about its agents.
    pub(super) roster: Roster,
    /// With adaptive clipping: the present clipping norm of an agent's vector, over all of its regions together.
    pub(super) norm: Option<Positive>,
    /// Whether this is a dry run. A trusted server then sums no vectors; it sends zeros in place of the sums, as many as the
    /// sums have numbers.
    pub(super) dry: bool,
}

impl Server {
    /// Opens the round: clears the previous answers, sets the timer that ends the round after its longest duration, and
    /// makes the ledger entries for silence that depends on what agents measured.
    pub(super) fn open(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        self.open = true;
        self.answered.iter_mut().for_each(|answered| *answered = false);
        self.fresh.iter_mut().for_each(|vector| *vector = None);
        self.timer = Some(ctx.after(self.policy.patience(), Close { round: self.round }));
        if let Err(error) = self.enter_silence(ctx) {
            end_refused(ctx, &format!("in round {}", self.round), &error);
        }
    }

    pub(super) fn regions(&self) -> usize {
        match &self.sharing {
            Sharing::Aggregate(aggregate) => aggregate.regions.get() as usize,
            Sharing::Alone(_) | Sharing::RandomAgent(_) => 1,
        }
    }

    fn late_policy(&self) -> Late {
        match &self.sharing {
            Sharing::Aggregate(aggregate) => aggregate.late,
            Sharing::Alone(_) | Sharing::RandomAgent(_) => Late::Discard,
        }
    }

    /// Stores an answer. `vector` is `None` if nothing is shared, if the agent was not asked for a vector, or with masked
    /// sums (the field `masked` then has the masked vector).
    pub(super) fn file(&mut self, agent: usize, round: u64, vector: Option<Vector>) {
        let vector = vector.map(|vector| Dated { round, vector });
        self.buffered += 1;
        if round == self.round && self.open {
            self.answered[agent] = true;
            self.last[agent].clone_from(&vector);
            self.fresh[agent] = vector;
            return;
        }
        self.stale += 1;
        let buffers = self.policy.as_dyn().buffers();
        match self.late_policy() {
            Late::Discard if !buffers => {}
            // A buffered policy counts every late answer. The vector of the answer is kept only if `fresh` has no
            // vector of the agent yet.
            Late::Discard => {
                if self.fresh[agent].is_none() {
                    self.fresh[agent] = vector;
                }
            }
            Late::AddToNext | Late::ReplaceNext => self.late[agent] = vector,
            Late::KeepLast => {
                // If the server has already received the agent's answer to a later round, the vector does not replace the
                // vector of that answer.
                if self.answered_rounds[agent].latest() == Some(round) {
                    self.replaced[agent] = vector.is_some();
                    self.last[agent] = vector;
                }
            }
        }
    }

    /// The agents that are heard in this round: those from which the server has an answer to this round, and those of which
    /// a late vector enters the sum of this round.
    pub(super) fn respondents(&self) -> Respondents {
        let in_time = |agent: usize| self.answered[agent] || self.fresh[agent].is_some();
        let late = |agent: usize| self.late[agent].is_some() || self.replaced[agent];
        Respondents((0..self.agents.len()).map(|agent| in_time(agent) || late(agent)).collect())
    }

    /// Opens the next round, if there is one.
    pub(super) fn next(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        if self.round < self.broadcasts {
            self.open(ctx);
        }
    }

    pub(super) fn occasion(&self, released: &str, ctx: &Context<'_, FederatedProtocol>) -> Occasion {
        Occasion {
            released: released.to_owned(),
            protected: PROTECTED.to_owned(),
            unit: ProtectedUnit::Agent,
            unit_index: None,
            neighbours: self.neighbours.clone(),
            observer: Observer(EVERY_AGENT.to_owned()),
            round: self.round + 1,
            at: ctx.now(),
            conditions: self.conditions.clone(),
        }
    }
}
