//! The ledger entries about who answers a round, for scenarios in which silence depends on what agents measured.
//!
//! Each agent's silence in a round is one bit about that agent alone, given what was sent to it before. So the bits of all
//! agents in a round together cost an agent no more than its own bit does. Therefore a round has one entry for each
//! observer, and the epsilon of this entry holds for every agent. The server and relays see the bits. The other agents see
//! when rounds end, what the sums contain and, with masked sums, who has answered. All of this follows from the bits, from
//! delays, and from sums that have ledger entries of their own.

use super::messages::FederatedProtocol;
use super::server::Server;
use crate::kernel::Context;
use crate::privacy::Sensitive;
use crate::privacy::ledger::{Occasion, ReleaseError, enter};
use crate::protocols::stage::JournalLedger;
use crate::vocab::{Neighbours, Observer};
use std::sync::Arc;

/// The condition of a loss under the neighbouring relation that sets one agent's contribution to zero.
const NULL_AGENT: &str = "agents that contribute nothing being silent with a probability from `least` to `most`, like all other agents";

impl Server {
    /// Makes the ledger entries about who answers the present round: one for the agents, one for each relay and one for the
    /// server. The entries are made when the round begins, because silence is seen even if the round never ends. They are
    /// also made if a budget is exceeded, because nothing can prevent silence from being seen.
    pub(super) fn enter_silence(
        &mut self,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), ReleaseError> {
        let Some(silence) = self.silence else { return Ok(()) };
        let mut occasion = Occasion { round: self.round, ..self.occasion("whether an agent answers", ctx) };
        if occasion.neighbours == Neighbours::ZeroOut {
            occasion.conditions.push(NULL_AGENT.to_owned());
        }
        let own = Occasion { observer: Observer(self.name.clone()), ..occasion.clone() };
        let nothing = Sensitive::new(0.0);
        let silence_relays = Arc::clone(&self.silence_relays);
        let mut ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&silence_relays).unpreventable();
        enter(&mut ledger, occasion, &silence, &nothing)?;
        let mut ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&Arc::default());
        // A server that is trusted with the vectors is trusted with who sends them.
        ledger = if self.contract.is_some() { ledger.unpreventable() } else { ledger.for_trusted_observer() };
        enter(&mut ledger, own, &silence, &nothing)
    }
}
