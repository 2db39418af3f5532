//! The Poisson-subsampled Gaussian.

use super::sampled_gaussian::{Contributions, length, noisy_sum};
use super::{Mechanism, MechanismError, Price};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Positive, Probability, Sampler};

/// Each unit takes part independently with probability `rate`; the sum of the contributions, clipped to an L2 norm, is
/// released with Gaussian noise of standard deviation noise multiplier times that norm.
///
/// * Precondition: who takes part stays unknown to the observer; neighbours add, remove or zero out one unit.
/// * Postcondition: the privacy loss of one Poisson-subsampled Gaussian.
///
/// Source: Abadi et al. 2016; Zhu, Dong and Wang 2022, Theorem 11.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonGaussian {
    rate: Probability,
    norm: Positive,
    noise_multiplier: Positive,
}

impl PoissonGaussian {
    /// From the inclusion probability, the clipping norm, and the noise in units of that norm.
    #[must_use]
    pub const fn new(rate: Probability, norm: Positive, noise_multiplier: Positive) -> Self {
        Self { rate, norm, noise_multiplier }
    }
}

const NAME: &str = "Poisson-subsampled Gaussian noise";

impl Mechanism for PoissonGaussian {
    type Input = Contributions;
    type Output = Vec<f64>;

    fn price(&self, _: &Contributions, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        match neighbours {
            Neighbours::AddRemove | Neighbours::ZeroOut => {}
            other => {
                return Err(MechanismError::NeighboursNotCovered {
                    mechanism: NAME,
                    neighbours: other.clone(),
                    covered: "one unit added, removed or replaced by zero",
                });
            }
        }
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::Poisson { rate: self.rate.get() },
            sensitivity: Some(self.norm.get()),
            cost: Cost::PoissonGaussian {
                rate: self.rate.get(),
                noise_multiplier: self.noise_multiplier.get(),
            },
            claim: None,
            basis: Basis::Proven,
            arithmetic: Arithmetic::Ideal,
        })
    }

    fn privatise(&self, units: &Contributions, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        length(units)?;
        let chosen: Vec<usize> = (0..units.len()).filter(|_| stream.bernoulli(self.rate.get())).collect();
        let sigma = self.noise_multiplier.get() * self.norm.get();
        noisy_sum(units, chosen.into_iter(), self.norm, sigma, stream)
    }
}
