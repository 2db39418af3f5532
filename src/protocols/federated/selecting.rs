//! How the server selects agents for a round, and learns their losses.

use super::loss_reports::LossReports;
use super::messages::{FederatedProtocol, Message};
use super::selection::LossReporters;
use super::series::{Aggregate, Sharing};
use super::server::Server;
use crate::kernel::Context;
use crate::privacy::Sensitive;
use crate::privacy::ledger::{ReleaseError, release};
use crate::privacy::mechanisms::{Disclosure, MechanismError, NoiseArithmetic};
use crate::protocols::stage::JournalLedger;
use crate::vocab::PartyId;
use std::sync::Arc;

impl Server {
    /// Selects the agents of the present round.
    pub(super) fn select(&mut self) {
        let by = match &self.sharing {
            Sharing::Aggregate(aggregate) if self.round < self.shared_rounds => Some(&aggregate.selection),
            _ => None,
        };
        let mut stream = self.key.child("selection").index(self.round).stream();
        self.roster.select(self.round, by, &mut stream);
    }

    /// Sends one message to the agents that are asked for their vectors in a round, and another to all other agents.
    pub(super) fn send_round(
        &mut self,
        asked: &Message,
        others: &Message,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) {
        self.roster.asked_at(ctx.now());
        if !self.roster.is_selective() {
            ctx.broadcast(self.agents.iter().copied(), asked);
            return;
        }
        for (message, is_asked) in [(asked, true), (others, false)] {
            let to = self.agents.iter().enumerate().filter(|(agent, _)| self.roster.asks(*agent) == is_asked);
            let to: Vec<PartyId> = to.map(|(_, party)| *party).collect();
            ctx.broadcast(to, message);
        }
    }

    /// Releases the losses that agents have reported since the last sum, if the selection depends on losses. Then ends the
    /// round in the roster, from which selections are computed. The losses are released with the noise of `loss_reports`.
    /// If `loss_reports` is not set, the losses are disclosed. The server's selections depend only on the losses as
    /// released and on public values.
    pub(super) fn learn_losses(
        &mut self,
        aggregate: &Aggregate,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<(), ReleaseError> {
        if aggregate.selection.as_dyn().reporters() != LossReporters::Nobody && !self.dry {
            let (agents, losses) = self.roster.take_reports();
            if !agents.is_empty() {
                let released = self.release_losses(aggregate, losses, ctx)?;
                self.roster.released(&agents, &released);
            }
        }
        self.roster.close(&self.answered);
        Ok(())
    }

    fn release_losses(
        &mut self,
        aggregate: &Aggregate,
        losses: Vec<f64>,
        ctx: &mut Context<'_, FederatedProtocol>,
    ) -> Result<Vec<f64>, ReleaseError> {
        let occasion = self.occasion("losses, from which agents are selected", ctx);
        let mut stream = self.key.child("losses").index(self.round).stream();
        let relays = Arc::clone(&self.relays);
        let mut ledger = JournalLedger::new(&mut self.meter, ctx).read_by(&relays);
        let released = match aggregate.loss_reports {
            None => release(&mut ledger, occasion, &Disclosure::new(), &Sensitive::new(losses), &mut stream)?,
            Some(reports) => {
                let clipped = losses.iter().map(|loss| reports.clipped(*loss)).collect();
                let mechanism = mechanism(reports, aggregate)?;
                release(&mut ledger, occasion, &mechanism, &Sensitive::new(clipped), &mut stream)?
            }
        };
        Ok(released.into_inner())
    }
}

fn mechanism(
    reports: LossReports,
    aggregate: &Aggregate,
) -> Result<crate::privacy::mechanisms::Gaussian, MechanismError> {
    let arithmetic = aggregate.arithmetic.unwrap_or(NoiseArithmetic::Exact);
    reports.mechanism(arithmetic).ok_or_else(|| MechanismError::Shape {
        expected: "a bound and noise whose product is a finite number above 0".to_owned(),
        found: format!("{} and {}", reports.bound, reports.noise_multiplier),
    })
}
