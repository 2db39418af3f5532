//! The paper's claim about a sum, and how the true loss differs from it.

use super::FederatedSum;
use crate::privacy::mechanisms::{Divisor, Participation, ReceivedVectors, SensitivityRule};
use crate::vocab::{Claim, Cost};

impl FederatedSum {
    /// The paper's claim: the planned cost, which ignores late and missing answers.
    pub(super) fn claim(&self, gathered: &ReceivedVectors) -> Option<Claim> {
        let rate = self.claimed_rate.unwrap_or_else(|| self.rate(gathered.population));
        let claimed = self.is_noisy() && !self.excluded_from_claim && self.rates.is_none();
        claimed.then(|| Claim {
            epsilon: 0.0,
            delta: 0.0,
            source: format!(
                "Dai, Low and Jaillet 2021, Proposition 1, by moments, as if every agent answered in time; {}",
                self.why()
            ),
            cost: Some(Cost::PoissonGaussian { rate, noise_multiplier: self.noise_multiplier }),
        })
    }

    /// The last phrase of the claim's source: it says whether the true loss differs from the
    /// planned one, how and why.
    fn why(&self) -> &'static str {
        if self.visible {
            "but here everybody sees who takes part, so there is no amplification by subsampling"
        } else if self.divisor == Divisor::ArrivedOrGone {
            "but here a missing agent, sampled or not, changes the divisor of the other agents' vectors: it changes the sum twice \
                 as much, and there is no amplification by subsampling"
        } else if self.multiplicity > 1 {
            "but here a late vector is added to the current one, so an agent changes the sum twice as much"
        } else if self.keeps_sampling_draw && matches!(self.participation, Participation::Poisson(_)) {
            "but here a late vector is in the sum if its agent is sampled in either round, that of the vector \
             or that of the sum: with probability 1 - (1 - q)^2"
        } else if self.divisor == Divisor::Arrived {
            "but here weights are renormalised over the agents that answered, so each of them has a larger weight, while the noise stays as planned"
        } else if self.claimed_rate.is_some() {
            "but here the vectors that are the first to arrive are kept, so a fast agent is in the sum whenever \
             it is sampled, with a higher probability than planned"
        } else if matches!(self.participation, Participation::FixedSize(_)) {
            "but here a fixed number of agents is drawn, for which the analysis of Poisson sampling does not \
             hold"
        } else if self.sensitivity == SensitivityRule::TighterLoss {
            "here the loss is computed from the weights that each agent really has in the sums, which gives a \
             smaller epsilon"
        } else {
            "absences that depend on no data neither raise nor lower the loss"
        }
    }
}
