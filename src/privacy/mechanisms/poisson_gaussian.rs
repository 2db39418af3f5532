//! Gaussian noise on a sum over a Poisson sample.

use super::pair::{Distinguisher, Pair};
use super::real_deviates::coin;
use super::sampled_gaussian::{Contributions, Noise, length};
use super::{Mechanism, MechanismError, NoiseArithmetic, Price};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Neighbours, Positive, Probability, Sampler};

/// Each unit takes part independently with probability `rate`. Each contribution is clipped to an L2 norm; the sum of
/// the clipped contributions is released with Gaussian noise, whose standard deviation is the noise multiplier times
/// that norm.
///
/// * Precondition: who takes part stays unknown to the observer; neighbours differ in one unit, which is added, removed
///   or replaced by zero.
/// * Postcondition: the privacy loss of one Poisson-subsampled Gaussian.
///
/// Source: Abadi et al. 2016; Zhu, Dong and Wang 2022, Theorem 11.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoissonGaussian {
    rate: Probability,
    noise: Noise,
}

impl PoissonGaussian {
    /// From the inclusion probability, the clipping norm, and the noise in units of that norm.
    #[must_use]
    pub const fn new(rate: Probability, norm: Positive, noise_multiplier: Positive) -> Self {
        let noise = Noise { norm, multiplier: noise_multiplier, arithmetic: NoiseArithmetic::Exact };
        Self { rate, noise }
    }

    /// The same mechanism with its noise sampled in this arithmetic.
    #[must_use]
    pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
        Self { noise: Noise { arithmetic, ..self.noise }, ..self }
    }
}

const NAME: &str = "Poisson-subsampled Gaussian noise";

impl Mechanism for PoissonGaussian {
    type Input = Contributions;
    type Output = Vec<f64>;

    fn price(&self, units: &Contributions, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.noise.check(length(units)?)?;
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
            sensitivity: Some(self.noise.norm.get()),
            cost: Cost::PoissonGaussian {
                rate: self.rate.get(),
                noise_multiplier: self.noise.multiplier.get(),
            },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.noise.arithmetic.recorded(),
        })
    }

    fn privatise(&self, units: &Contributions, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        length(units)?;
        let chosen: Vec<usize> = (0..units.len()).filter(|_| coin(self.rate.get(), stream)).collect();
        self.noise.noisy_sum(units, chosen.into_iter(), stream)
    }

    /// All other contributions are zero: non-zero values, when sampled, would only add randomness that hides the unit.
    fn worst_pair(&self, like: &Contributions) -> Option<Pair<Contributions>> {
        let words = "one unit's contribution of full norm, or zero; all others are zero".to_owned();
        self.noise.worst_pair(like, 0.0, 0.0).map(|pair| Pair { words, ..pair })
    }

    fn distinguisher(&self, inputs: [&Contributions; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        self.noise.distinguisher(inputs, self.rate.get(), None)
    }
}
