//! A federated sum that nobody adds noise to as a whole: the agents' shares of the noise are in it already.

use super::{FederatedSum, Gathered, Mechanism, MechanismError, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Neighbours};

/// Sums as they come out of secure aggregation.
#[derive(Clone, Debug)]
pub struct OpenedSum {
    /// The sums as planned: population and weights; its vectors are not looked at.
    pub plan: Gathered,
    /// The sums with noise, one per region.
    pub sums: Vec<Vec<f64>>,
}

/// The sums of [`FederatedSum`], each agent's part with noise of variance sd^2 / planned added by the agent itself.
///
/// * Precondition: the sums hold the parts of agents who kept to the protocol, with at least `shares` shares of noise that
///   neither the observer nor whoever pools its knowledge with it brought; each agent tossed its own coin, and those who
///   do not pool told nobody. `rests_on` says so in the protocol's words.
/// * Postcondition: the price of [`FederatedSum`] with sqrt(shares / planned) times its noise: fewer survivors than
///   planned protect less, more protect more.
///
/// Source: Bonawitz et al. 2017; distributed noise as in Dwork, Kenthapadi, McSherry, Mironov and Naor 2006.
#[derive(Clone, Debug, PartialEq)]
pub struct SecureSum {
    /// The sum as it would be with a trusted server.
    pub sum: FederatedSum,
    /// Shares of noise in the sums that the observer does not know.
    pub shares: u64,
    /// Shares that make up the noise as planned.
    pub planned: u64,
    /// On what the number of unknown shares rests, for the ledger.
    pub rests_on: String,
}

impl Mechanism for SecureSum {
    type Input = OpenedSum;
    type Output = Vec<Vec<f64>>;

    fn price(&self, opened: &OpenedSum, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let mut price = self.sum.price(&opened.plan, neighbours)?;
        let share = (self.shares as f64 / self.planned.max(1) as f64).sqrt();
        if let Cost::PoissonGaussian { noise_multiplier, .. }
        | Cost::FixedSizeGaussian { noise_multiplier, .. }
        | Cost::Gaussian { noise_multiplier } = &mut price.cost
        {
            *noise_multiplier *= share;
        }
        if self.shares == 0 {
            price.cost = Cost::Unprotected;
        }
        price.mechanism = "sums under masks with noise by agents";
        if let Some(claim) = &mut price.claim {
            claim.source =
                "Dai, Low and Jaillet 2021, Proposition 1, by moments, with the noise as planned; but here each \
                            survivor brings a share of it, and an agent knows its own"
                    .to_owned();
        }
        price.basis = if price.cost == Cost::Unprotected {
            Basis::Unprotected
        } else {
            Basis::Conditional { on: self.rests_on.clone() }
        };
        Ok(price)
    }

    fn privatise(&self, opened: &OpenedSum, _: &mut Stream) -> Result<Vec<Vec<f64>>, MechanismError> {
        opened.sums.iter().try_for_each(|sum| all_finite(sum))?;
        Ok(opened.sums.clone())
    }
}
