//! The claim of Dai, Low and Jaillet 2021 about a sum, and how the true loss differs from it.

use super::FederatedSum;
use crate::privacy::mechanisms::{Divisor, Participation, ReceivedVectors, SensitivityRule};
use crate::vocab::{Claim, Cost};

impl FederatedSum {
    /// The paper's claim: the planned cost, which ignores late and missing answers. `None` for a sum without noise, and
    /// for a sum that the paper does not cover (`excluded_from_claim`, `rates`).
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

    /// The last phrase of the claim's source: it says whether, how and why the true loss differs from the planned loss.
    fn why(&self) -> &'static str {
        if self.visible {
            "but here everybody sees who takes part, so there is no amplification by subsampling"
        } else if self.divisor == Divisor::ArrivedOrGone {
            "but here a missing agent, sampled or not, changes the divisor of the other agents' vectors: such an agent changes \
                 the sum by up to twice as much, and there is no amplification by subsampling"
        } else if self.multiplicity > 1 {
            "but here a late vector is added to the current one, so an agent changes the sum up to twice as much"
        } else if self.keeps_sampling_draw && matches!(self.participation, Participation::Poisson(_)) {
            "but here a late vector is in the sum if its agent is sampled in the round of the vector or in the round of the \
             sum: with probability 1 - (1 - q)^2"
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::AgentRates;
    use crate::vocab::{Positive, Probability};
    use std::sync::Arc;

    fn gathered() -> ReceivedVectors {
        ReceivedVectors {
            population: 4,
            vectors: (0..4).map(|agent| (agent, Arc::new(vec![1.0]))).collect(),
            weights: Arc::new(vec![vec![0.25; 4]]),
            late_sampling_draw: Vec::new(),
            length: 1,
            discounts: Vec::new(),
        }
    }

    fn poisson(noise_multiplier: f64) -> FederatedSum {
        let rate = Participation::Poisson(Probability::new(0.5).unwrap());
        FederatedSum::planned(rate, Some(Positive::new(1.0).unwrap()), noise_multiplier)
    }

    /// The claim is the planned cost, at the rate of `participation`, or at `claimed_rate` if it is stated. Sums without
    /// noise, and sums that the paper does not cover, have no claim.
    #[test]
    fn the_claim_is_the_planned_cost() {
        let cost = |sum: &FederatedSum| sum.claim(&gathered()).map(|claim| claim.cost.unwrap());
        let planned = |rate| Some(Cost::PoissonGaussian { rate, noise_multiplier: 2.0 });
        assert_eq!(cost(&poisson(2.0)), planned(0.5));
        assert_eq!(cost(&FederatedSum { claimed_rate: Some(0.125), ..poisson(2.0) }), planned(0.125));
        let fixed = FederatedSum { participation: Participation::FixedSize(3), ..poisson(2.0) };
        assert_eq!(cost(&fixed), planned(0.75));
        for sum in [
            poisson(0.0),
            FederatedSum { clip: None, ..poisson(2.0) },
            FederatedSum { excluded_from_claim: true, ..poisson(2.0) },
            FederatedSum { rates: Some(AgentRates::new(vec![0.5; 4])), ..poisson(2.0) },
        ] {
            assert_eq!(cost(&sum), None, "{sum:?}");
        }
    }

    /// Each departure from the plan has its own words. If several departures apply, the claim's source names only the one
    /// that `why` checks first.
    #[test]
    fn the_source_says_how_the_true_loss_differs() {
        let fixed = Participation::FixedSize(2);
        let tighter = SensitivityRule::TighterLoss;
        for (sum, words) in [
            (poisson(2.0), "absences that depend on no data"),
            (
                FederatedSum { visible: true, multiplicity: 2, ..poisson(2.0) },
                "everybody sees who takes part",
            ),
            (
                FederatedSum { divisor: Divisor::ArrivedOrGone, ..poisson(2.0) },
                "a missing agent, sampled or not",
            ),
            (FederatedSum { multiplicity: 2, ..poisson(2.0) }, "a late vector is added to the current one"),
            (
                FederatedSum { keeps_sampling_draw: true, ..poisson(2.0) },
                "is sampled in the round of the vector or",
            ),
            (
                FederatedSum { keeps_sampling_draw: true, participation: fixed, ..poisson(2.0) },
                "a fixed number of agents is drawn",
            ),
            (FederatedSum { divisor: Divisor::Arrived, ..poisson(2.0) }, "weights are renormalised"),
            (FederatedSum { claimed_rate: Some(0.9), ..poisson(2.0) }, "the first to arrive are kept"),
            (FederatedSum { participation: fixed, ..poisson(2.0) }, "a fixed number of agents is drawn"),
            (FederatedSum { sensitivity: tighter, ..poisson(2.0) }, "gives a smaller epsilon"),
        ] {
            let source = sum.claim(&gathered()).unwrap().source;
            assert!(source.contains(words), "{source}: {words}");
        }
    }
}
