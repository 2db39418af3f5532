//! A federated sum whose noise is the sum of shares that the agents added.

use super::mean_shift::SubsampledShift;
use super::{
    FederatedSum, Mechanism, MechanismError, NoiseArithmetic, Participation, Price, ReceivedVectors,
    all_finite,
};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Neighbours};

/// Sums computed by secure aggregation.
#[derive(Clone, Debug)]
pub struct SecureSumOutput {
    /// The plan of the sums: its population and its weights are used, its vectors are not.
    pub plan: ReceivedVectors,
    /// The sums, one for each region, with the noise.
    pub sums: Vec<Vec<f64>>,
}

/// The sums of [`FederatedSum`] with noise that the agents add: each agent adds a share of the noise, of variance
/// sd^2 / planned, to its own part of each sum. Here sd is the standard deviation of the noise of [`FederatedSum`].
///
/// * Precondition: the sums hold the parts of agents that followed the protocol, with at least `shares` shares of noise
///   unknown to the observer and to those that collude with it. Each agent decided by a random draw of its own whether
///   it is sampled, and an agent that does not collude reveals this decision to nobody. `condition` states this
///   precondition in the protocol's words.
/// * Postcondition: the price of [`FederatedSum`] with sqrt(shares / planned) times its noise: fewer shares than
///   planned give less protection, and more shares give more.
///
/// Source: Bonawitz et al. 2017; distributed noise as in Dwork, Kenthapadi, McSherry, Mironov and Naor 2006.
#[derive(Clone, Debug, PartialEq)]
pub struct SecureSum {
    /// The sum as it would be with a trusted server.
    pub sum: FederatedSum,
    /// Number of those shares of noise in the sums that are unknown to the observer.
    pub shares: u64,
    /// How many shares add up to the planned noise.
    pub planned: u64,
    /// The assumption under which the observer does not know `shares` shares of the noise, for the ledger.
    pub condition: String,
}

impl SecureSum {
    /// The distributions of masked sums on the worst known pair of inputs, for an observer who subtracts the parts that
    /// it knows. On D, only the first number of the agent's vector is not zero, and the vector has the largest norm
    /// after clipping: S / sqrt(P), with clipping norm S and P regions. On D', the agent's vector is zero. The vectors
    /// of all other agents are zero on D and on D'. The result has one number for each region: the first number of the
    /// region's sum.
    #[must_use]
    pub fn moved(&self, plan: &ReceivedVectors, agent: usize) -> SubsampledShift {
        let rate = match self.sum.participation {
            Participation::Poisson(rate) => rate.get(),
            Participation::FixedSize(size) => size as f64 / plan.population as f64,
        };
        let clip = self.sum.clip.map_or(0.0, |clip| clip.get());
        let unit = clip / (plan.weights.len() as f64).sqrt() / rate;
        let given: Vec<f64> = plan.weights.iter().map(|region| region[agent] * unit).collect();
        let zero = vec![0.0; given.len()];
        SubsampledShift {
            rate,
            sd: self.sum.noise_sd(plan) * self.share(),
            base: zero.clone(),
            moved: [given, zero],
        }
    }

    /// Standard deviation of the noise that the observer does not know, divided by the standard deviation of the
    /// planned noise.
    fn share(&self) -> f64 {
        (self.shares as f64 / self.planned.max(1) as f64).sqrt()
    }
}

impl Mechanism for SecureSum {
    type Input = SecureSumOutput;
    type Output = Vec<Vec<f64>>;

    fn price(&self, opened: &SecureSumOutput, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        // Rounded shares of noise do not add up to rounded noise, so shares are analysed as real numbers.
        let sum = FederatedSum { arithmetic: NoiseArithmetic::Ideal, ..self.sum.clone() };
        let mut price = sum.price(&opened.plan, neighbours)?;
        let share = self.share();
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
                "Dai, Low and Jaillet 2021, Proposition 1, by moments, which assumes the planned noise; but \
                            here each agent that answers adds a share of the noise, and knows its own share"
                    .to_owned();
        }
        price.basis = if price.cost == Cost::Unprotected {
            Basis::Unprotected
        } else {
            Basis::Conditional { on: self.condition.clone() }
        };
        Ok(price)
    }

    fn privatise(&self, opened: &SecureSumOutput, _: &mut Stream) -> Result<Vec<Vec<f64>>, MechanismError> {
        opened.sums.iter().try_for_each(|sum| all_finite(sum))?;
        Ok(opened.sums.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::Participation;
    use crate::vocab::{Arithmetic, Positive};
    use std::sync::Arc;

    /// A round of four agents with equal weights, before any vector has arrived.
    fn plan() -> ReceivedVectors {
        ReceivedVectors {
            population: 4,
            vectors: Vec::new(),
            weights: Arc::new(vec![vec![0.25; 4]]),
            late_sampling_draw: Vec::new(),
            length: 2,
            discounts: Vec::new(),
        }
    }

    fn price(clip: Option<f64>, participation: Participation, shares: u64) -> Price {
        let neighbours = match participation {
            Participation::Poisson(_) => Neighbours::ZeroOut,
            Participation::FixedSize(_) => Neighbours::ReplaceOne,
        };
        let clip = clip.map(|clip| Positive::new(clip).unwrap());
        let sum = FederatedSum::planned(participation, clip, 1.0);
        let plan = plan();
        let opened = SecureSumOutput { plan, sums: Vec::new() };
        SecureSum { sum, shares, planned: 4, condition: "a server that follows the protocol".to_owned() }
            .price(&opened, &neighbours)
            .unwrap()
    }

    /// Fewer shares of noise protect less, also with a sample of fixed size, for which an earlier version ignored missing
    /// shares.
    #[test]
    fn missing_shares_raise_the_loss_for_every_sampler() {
        let found = price(Some(1.0), Participation::FixedSize(2), 1);
        assert_eq!(found.cost, Cost::FixedSizeGaussian { population: 4, size: 2, noise_multiplier: 0.5 });
        assert_eq!(found.arithmetic, Arithmetic::Ideal, "rounded shares are no rounded sum");
        assert!(matches!(found.basis, Basis::Conditional { on } if on.contains("follows the protocol")));
    }

    /// Without a clipping norm there is no noise, and the release is recorded as unprotected. An earlier version recorded it
    /// as conditional.
    #[test]
    fn without_noise_the_basis_is_unprotected() {
        let one = Participation::Poisson(crate::vocab::Probability::new(1.0).unwrap());
        let found = price(None, one, 4);
        assert_eq!(
            (found.cost, found.basis, found.arithmetic),
            (Cost::Unprotected, Basis::Unprotected, Arithmetic::Noiseless)
        );
    }

    /// A sample of 3 of 4 agents has the rate 3/4, and moves a sum as Poisson sampling at this rate does.
    #[test]
    fn a_sample_of_fixed_size_moves_a_sum_as_poisson_sampling_at_its_rate_does() {
        let shift = |participation| {
            let sum = FederatedSum::planned(participation, Some(Positive::new(2.0).unwrap()), 1.0);
            let plan = plan();
            let mechanism = SecureSum { sum, shares: 4, planned: 4, condition: String::new() };
            let SubsampledShift { rate, base, moved, .. } = mechanism.moved(&plan, 1);
            (rate, base, moved)
        };
        let poisson = Participation::Poisson(crate::vocab::Probability::new(0.75).unwrap());
        assert_eq!(shift(Participation::FixedSize(3)), shift(poisson));
    }

    /// The planned noise has a standard deviation of 0.4 * 2 / 0.75: the largest weight times the clipping norm, divided by
    /// the rate. One of four shares has half of this standard deviation. The agent's weights in the two regions are 0.25 and
    /// 0.2.
    #[test]
    fn the_shift_of_masked_sums_has_the_noise_that_is_unknown() {
        let sum = FederatedSum::planned(Participation::FixedSize(3), Some(Positive::new(2.0).unwrap()), 1.0);
        let two_regions =
            ReceivedVectors { weights: Arc::new(vec![vec![0.25; 4], vec![0.1, 0.2, 0.3, 0.4]]), ..plan() };
        let mechanism = SecureSum { sum, shares: 1, planned: 4, condition: String::new() };
        let moved = mechanism.moved(&two_regions, 1);
        let unit = 2.0 / 2f64.sqrt() / 0.75;
        for (found, expected) in moved.moved[0].iter().zip([0.25 * unit, 0.2 * unit]) {
            assert!((found - expected).abs() < 1e-15, "{:?}", moved.moved);
        }
        assert!((moved.sd - 0.5 * 0.4 * 2.0 / 0.75).abs() < 1e-15 && (moved.rate - 0.75).abs() < 1e-15);
        assert_eq!((&moved.base, &moved.moved[1]), (&vec![0.0, 0.0], &vec![0.0, 0.0]));
    }
}
