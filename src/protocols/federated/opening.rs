//! Who can open a sum under masks, what that costs, and what the budget is asked before anybody can.
//!
//! Once agents are asked for shares, no budget can stop the sum from being opened: so the budget is asked before, for the
//! server and for the agents, and the price counts the shares of noise that the observer does not know. The server's is
//! booked when it holds enough shares, those of agents that pool with it included, even where the round was given up by
//! then; the agents' when the sum is sent.

use super::contribution::Contract;
use super::messages::{Fact, World};
use super::server::Server;
use crate::kernel::Context;
use crate::privacy::ledger::{Book, Budgeted, Ledger, Occasion, ReleaseError, release};
use crate::privacy::mechanisms::{OpenedSum, SecureSum};
use crate::privacy::{Released, Sensitive};
use crate::protocols::{Books, give_up};
use crate::vocab::{Observer, PrivacyEvent};

/// A round that was given up after its shares had been asked for: they may still come.
#[derive(Clone, Debug)]
pub(super) struct Unopened {
    pub(super) round: u64,
    /// Agents whose parts are in the sum.
    pub(super) survivors: u64,
    /// Whose shares have come.
    pub(super) holders: Vec<usize>,
    /// What it would be booked as; the budget counts it from the moment shares were asked for.
    pub(super) event: Option<PrivacyEvent>,
}

impl Contract {
    /// Shares that the server can lack, since the agents that pool with it hold theirs already.
    pub(super) fn enough_for_the_server(&self) -> usize {
        self.dealer.threshold().saturating_sub(self.aggregate.server.colluding())
    }

    /// The sums of so many parts, seen by somebody who knows so many shares of their noise.
    fn sum(&self, survivors: u64, known: u64) -> SecureSum {
        let rests_on = match self.aggregate.server.colluding() {
            0 => {
                "a server and agents that follow the protocol and pool what they know with nobody".to_owned()
            }
            most => format!(
                "a server that follows the protocol, at most {most} of the agents pooling what they know with it or with \
                 each other, and all others following the protocol"
            ),
        };
        SecureSum {
            sum: self.mechanism(),
            shares: survivors.saturating_sub(known),
            planned: self.planned_shares(),
            rests_on,
        }
    }

    /// As the server sees them, with the agents that pool with it.
    pub(super) fn seen_by_server(&self, survivors: u64) -> SecureSum {
        self.sum(survivors, self.aggregate.server.colluding() as u64)
    }

    /// As an agent sees them, which knows its own share, or as many agents that pool.
    pub(super) fn seen_by_agents(&self, survivors: u64) -> SecureSum {
        self.sum(survivors, self.aggregate.server.colluding().max(1) as u64)
    }
}

impl Server {
    fn occasions(&self, round: u64, ctx: &Context<'_, World>) -> [Occasion; 2] {
        let agents = Occasion { round: round + 1, ..self.occasion("sums of weights", ctx) };
        [Occasion { observer: Observer(self.name.clone()), ..agents.clone() }, agents]
    }

    fn forgets(&self, sum: SecureSum, round: u64) -> SecureSum {
        let mut sum = sum;
        sum.sum.is_forgotten = round + 1 > self.rounds;
        sum
    }

    /// What the server's and the agents' view of a round would be booked as.
    fn prices(
        &self,
        contract: &Contract,
        (round, survivors): (u64, u64),
        ctx: &Context<'_, World>,
    ) -> Result<Vec<PrivacyEvent>, ReleaseError> {
        let mut ledger = Ledger::new();
        let nothing = Sensitive::new(OpenedSum { plan: contract.plan(round), sums: Vec::new() });
        let sums = [contract.seen_by_server(survivors), contract.seen_by_agents(survivors)];
        for (occasion, sum) in self.occasions(round, ctx).into_iter().zip(sums) {
            let mut stream = self.key.child("sum").index(round).stream();
            release(&mut ledger, occasion, &self.forgets(sum, round), &nothing, &mut stream)?;
        }
        Ok(ledger.events().to_vec())
    }

    /// Whether the budget lets the server and the agents see the sum of so many parts, beside earlier rounds whose shares
    /// may still come. Asked before anybody is asked for shares; gives what the server's view will be booked as.
    pub(super) fn may_open(
        &self,
        contract: &Contract,
        survivors: u64,
        ctx: &Context<'_, World>,
    ) -> Result<Option<PrivacyEvent>, ReleaseError> {
        let mut ledger = Ledger::new();
        let mut meter = self.meter.clone();
        let mut book = Budgeted { meter: &mut meter, book: &mut ledger };
        self.unopened.iter().filter_map(|earlier| earlier.event.clone()).for_each(|event| book.enter(event));
        let events = self.prices(contract, (self.round, survivors), ctx)?;
        events.iter().try_for_each(|event| book.admit(event)).map_err(ReleaseError::Refused)?;
        Ok(events.into_iter().next())
    }

    /// Books that the server can open a round.
    pub(super) fn book_for_server(
        &mut self,
        contract: &Contract,
        (round, survivors): (u64, u64),
        ctx: &mut Context<'_, World>,
    ) -> Result<(), ReleaseError> {
        let [occasion, _] = self.occasions(round, ctx);
        let sum = self.forgets(contract.seen_by_server(survivors), round);
        let opened = Sensitive::new(OpenedSum { plan: contract.plan(round), sums: Vec::new() });
        let mut stream = self.key.child("sum").index(round).stream();
        release(&mut Books::new(&mut self.meter, ctx), occasion, &sum, &opened, &mut stream).map(|_| ())
    }

    /// The sums of this round for the agents, booked.
    pub(super) fn release_to_agents(
        &mut self,
        contract: &Contract,
        sums: Vec<Vec<f64>>,
        survivors: u64,
        ctx: &mut Context<'_, World>,
    ) -> Result<Released<Vec<Vec<f64>>>, ReleaseError> {
        let [_, occasion] = self.occasions(self.round, ctx);
        let sum = self.forgets(contract.seen_by_agents(survivors), self.round);
        let opened = Sensitive::new(OpenedSum { plan: contract.plan(self.round), sums });
        let mut stream = self.key.child("sum").index(self.round).stream();
        release(&mut Books::new(&mut self.meter, ctx), occasion, &sum, &opened, &mut stream)
    }

    /// A share of a round that was given up: with enough of them the server can open it all the same.
    pub(super) fn take_late_share(
        &mut self,
        contract: &Contract,
        agent: usize,
        round: u64,
        ctx: &mut Context<'_, World>,
    ) {
        let Some(place) = self.unopened.iter().position(|unopened| unopened.round == round) else { return };
        let unopened = &mut self.unopened[place];
        if unopened.holders.contains(&agent) {
            return;
        }
        unopened.holders.push(agent);
        if unopened.holders.len() < contract.enough_for_the_server() {
            return;
        }
        let Unopened { survivors, .. } = self.unopened.remove(place);
        ctx.record(Fact::OpenedLate { round, survivors });
        if let Err(error) = self.book_for_server(contract, (round, survivors), ctx) {
            give_up(ctx, &format!("late shares of round {}", round + 1), &error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::accountants::{Accountant, Composition, Tight};
    use crate::privacy::mechanisms::Mechanism;
    use crate::protocols::federated::masking::Dealer;
    use crate::rng::Key;
    use crate::vocab::{Basis, Delta, Neighbours};

    /// 100 agents, q = .25, z = 1, 20 rounds without dropouts: a server that pools with 49 of them knows their shares of
    /// the noise, and learns almost twice as much.
    #[test]
    fn colluders_know_their_own_shares_of_the_noise() {
        let epsilon = |colluding: u32| {
            let aggregate = format!(
                "(clip: Some(11.0), noise_multiplier: 1.0, participation: Poisson(0.25), weights: Uniform(()), \
                 server: Masked(planned_dropout: 0.0, colluding: {colluding}))"
            );
            let contract = Contract {
                aggregate: ron::from_str(&aggregate).unwrap(),
                explored: vec![0; 100],
                length: 1,
                dealer: Dealer { keys: vec![Key::root(1); 100] },
            };
            let opened = OpenedSum { plan: contract.plan(0), sums: Vec::new() };
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
