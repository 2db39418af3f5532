//! The agreement on masks before the first round: agents exchange keys, then shares of their secrets, through the
//! server.
//!
//! ```text
//! server --Invite--------> agents      sent again while an answer is missing, 10 times in all
//! server <--Key----------- agents
//! server --Keys----------> agents      all agents' keys, or those of an agent's neighbours; sent again in the same way
//! server <--Dealt--------- agents      shares of the secrets of all rounds, each encrypted for its holder
//! server --Entrusted-----> members     the shares that each is to hold, and the request to begin; sent again to a
//!                                      member whose answer shows that it has no shares
//! server --Begin---------> others      the request to begin, for agents that are not members
//! ```
//!
//! If the mask graph is regular (SecAgg+), each agent shares masks with few agents only, its neighbours. Otherwise all
//! agents share masks with each other.
//!
//! An agent whose shares reach the server before the agreement ends is a member for the whole run. Members agree on
//! masks with each other, and only members take part in sums. Messages have the sizes that they would have with keys and
//! shares of 8 bytes, but they contain neither keys nor shares. The `MaskSecrets` that all agents have in common computes
//! keys and shares. An agent uses a key or a share only after it has received the message that would contain it. Source:
//! Bonawitz et al. 2017, rounds 0 and 1 of figure 4; here these two rounds take place once, for all rounds of the run.

use super::key_exchange_state::Phase;
use super::messages::{Close, FederatedProtocol, Message, OwnFact};
use super::server::Server;
use crate::kernel::Context;
use crate::vocab::PartyId;
use std::sync::Arc;

/// Number of requests in each phase, after which the server continues without the agents that have not answered.
const TRIES: u32 = 10;

impl Server {
    /// Begins the agreement on masks.
    pub(super) fn set_up(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        self.setup.phase = Phase::Keys;
        self.ask(ctx);
    }

    /// Sends the request of the present phase to every agent that is to answer it and has not answered yet
    /// (`Setup::answers`). Sets a timer that runs for the longest duration of a round.
    fn ask(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        self.setup.asked += 1;
        let message = match self.setup.phase {
            Phase::Done => return,
            Phase::Keys => Message::Invite,
            Phase::Shares => Message::Keys { known: Arc::clone(&self.setup.keys) },
        };
        let silent: Vec<usize> =
            self.setup.answers().iter().filter(|(_, done)| !done).map(|&(agent, _)| agent).collect();
        let graph = self.contract.as_ref().map(|contract| &contract.secrets.graph);
        match (&message, graph.filter(|graph| graph.is_regular())) {
            // In a regular mask graph, an agent needs only the keys of its neighbours, with which it shares masks.
            (Message::Keys { known }, Some(graph)) => {
                for agent in silent {
                    let known = Arc::new(graph.seen_by(agent, known));
                    ctx.send(self.agents[agent], Message::Keys { known });
                }
            }
            _ => {
                let silent: Vec<PartyId> = silent.into_iter().map(|agent| self.agents[agent]).collect();
                ctx.broadcast(silent, &message);
            }
        }
        self.timer = Some(ctx.after(self.policy.patience(), Close { round: 0 }));
    }

    /// Records that an agent has sent its key or its shares, and ends the phase once all agents that are to answer in this
    /// phase have answered. An answer to a phase that is over is ignored.
    pub(super) fn take_set_up(
        &mut self,
        from: PartyId,
        phase: &Phase,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        let Some(&agent) = self.places.get(&from) else { return };
        if self.setup.phase != *phase {
            return;
        }
        match phase {
            Phase::Done => return,
            Phase::Keys => Arc::make_mut(&mut self.setup.keys)[agent] = true,
            Phase::Shares => Arc::make_mut(&mut self.setup.members)[agent] = true,
        }
        if self.setup.answers().iter().all(|(_, done)| *done) {
            self.advance(ctx);
        }
    }

    /// Handles a timeout: asks again, or continues without the agents that have not answered.
    pub(super) fn on_timeout(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        self.timer = None;
        if self.setup.asked < TRIES { self.ask(ctx) } else { self.advance(ctx) }
    }

    fn advance(&mut self, ctx: &mut Context<'_, FederatedProtocol>) {
        if let Some(timer) = self.timer.take() {
            ctx.cancel(timer);
        }
        self.setup.asked = 0;
        if self.setup.phase == Phase::Keys && self.setup.keys.contains(&true) {
            self.setup.phase = Phase::Shares;
            self.ask(ctx);
            return;
        }
        self.setup.phase = Phase::Done;
        let members = self.setup.members.iter().filter(|member| **member).count() as u64;
        ctx.record(OwnFact::SetUp { members }.into());
        for agent in 0..self.agents.len() {
            if !self.send_shares_to(agent, true, ctx) {
                ctx.send(self.agents[agent], Message::Begin);
            }
        }
        self.open(ctx);
    }

    /// If the agent is a member: sends it the shares of members' secrets that it is to hold and, if `begins` is true, the
    /// request to begin. Returns whether the agent is a member.
    pub(super) fn send_shares_to(
        &mut self,
        agent: usize,
        begins: bool,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> bool {
        let is_member = self.setup.members[agent];
        if is_member {
            let graph = self.contract.as_ref().map(|contract| &contract.secrets.graph);
            let members = match graph.filter(|graph| graph.is_regular()) {
                Some(graph) => Arc::new(graph.seen_by(agent, &self.setup.members)),
                None => Arc::clone(&self.setup.members),
            };
            ctx.send(self.agents[agent], Message::Entrusted { members, begins, rounds: self.shared_rounds });
        }
        is_member
    }
}
