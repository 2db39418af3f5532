//! Gaussian noise on a sample of fixed size.

use super::pair::{Distinguisher, Pair};
use super::sampled_gaussian::{Contributions, Noise, length};
use super::{Mechanism, MechanismError, NoiseArithmetic, Price};
use crate::rng::Stream;
use crate::vocab::{Basis, Cost, Neighbours, Positive, Sampler};

/// A sample of exactly `size` units is drawn without replacement, and the sum of their clipped contributions is released
/// with Gaussian noise. The standard deviation of the noise is the noise multiplier times the clipping norm.
///
/// * Precondition: who takes part stays unknown to the observer; neighbours replace one unit by any other.
/// * Postcondition: at most the privacy loss of Balle, Barthe and Gaboardi's bound. A replaced unit moves the sum by up
///   to twice the norm, so the loss is larger than with a Poisson sample of the same rate.
///
/// Source: Balle, Barthe and Gaboardi 2018, Theorem 9.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedSizeGaussian {
    size: u64,
    noise: Noise,
}

impl FixedSizeGaussian {
    /// From the size of the sample, the clipping norm, and the noise in units of that norm.
    #[must_use]
    pub const fn new(size: u64, norm: Positive, noise_multiplier: Positive) -> Self {
        let noise = Noise { norm, multiplier: noise_multiplier, arithmetic: NoiseArithmetic::Exact };
        Self { size, noise }
    }

    /// The same mechanism with its noise sampled in this arithmetic.
    #[must_use]
    pub const fn with(self, arithmetic: NoiseArithmetic) -> Self {
        Self { noise: Noise { arithmetic, ..self.noise }, ..self }
    }

    fn fits(&self, units: &Contributions) -> Result<(), MechanismError> {
        self.noise.check(length(units)?)?;
        if self.size <= units.len() as u64 {
            return Ok(());
        }
        Err(MechanismError::Shape {
            expected: format!("at least {} units to draw from", self.size),
            found: units.len().to_string(),
        })
    }
}

const NAME: &str = "Gaussian noise on a sample of fixed size";

impl Mechanism for FixedSizeGaussian {
    type Input = Contributions;
    type Output = Vec<f64>;

    fn price(&self, units: &Contributions, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        self.fits(units)?;
        match neighbours {
            Neighbours::ReplaceOne => {}
            other => {
                return Err(MechanismError::NeighboursNotCovered {
                    mechanism: NAME,
                    neighbours: other.clone(),
                    covered: "one unit replaced by any other",
                });
            }
        }
        let population = units.len() as u64;
        Ok(Price {
            mechanism: NAME,
            sampler: Sampler::FixedSize { population, size: self.size },
            sensitivity: Some(self.noise.norm.get()),
            cost: Cost::FixedSizeGaussian {
                population,
                size: self.size,
                noise_multiplier: self.noise.multiplier.get(),
            },
            claim: None,
            basis: Basis::Proven,
            arithmetic: self.noise.arithmetic.recorded(),
        })
    }

    fn privatise(&self, units: &Contributions, stream: &mut Stream) -> Result<Vec<f64>, MechanismError> {
        self.fits(units)?;
        let mut chosen = stream.distinct(units.len(), self.size as usize);
        chosen.sort_unstable();
        self.noise.noisy_sum(units, chosen.into_iter(), stream)
    }

    /// The inputs differ in the first unit. The vectors of all other units are opposite to the first unit's vector on D, and
    /// equal to its vector on D'. In units of the norm, the sum is then -`size` on D'; on D it is larger by 2 if the first
    /// unit is drawn. If the other vectors were zero, both distributions would be mixtures and far harder to distinguish.
    fn worst_pair(&self, like: &Contributions) -> Option<Pair<Contributions>> {
        let words =
            "one unit's contribution of full norm, or its opposite; those of all other units equal its opposite".to_owned();
        self.noise.worst_pair(like, -1.0, -1.0).map(|pair| Pair { words, ..pair })
    }

    fn distinguisher(&self, inputs: [&Contributions; 2]) -> Result<Distinguisher<Vec<f64>>, MechanismError> {
        let rate = self.size as f64 / inputs[0].len().max(1) as f64;
        self.noise.distinguisher(inputs, rate, Some(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::mechanisms::PoissonGaussian;
    use crate::privacy::mechanisms::pair::Laws;
    use crate::vocab::Probability;

    /// Two of eight units are drawn (a rate of 1/4). Every unit except the first has the opposite of the vector that the
    /// first unit has on D, so the first unit moves the sum by twice the norm if it is drawn: a noise multiplier of 4 then
    /// counts as 2.
    #[test]
    fn the_worst_pair_moves_a_sample_by_twice_the_norm() {
        let (norm, noise) = (Positive::new(3.0).unwrap(), Positive::new(4.0).unwrap());
        let fixed = FixedSizeGaussian::new(2, norm, noise);
        let pair = fixed.worst_pair(&vec![vec![0.0]; 8]).unwrap();
        assert!(pair.words.contains("negated") || pair.words.contains("opposite"), "{}", pair.words);
        let [given, neighbour] = &pair.inputs;
        assert_eq!(given[0], [3.0]);
        assert!(given[1..].iter().chain(neighbour).all(|unit| *unit == [-3.0]));
        let laws = fixed.distinguisher([given, neighbour]).unwrap().laws.unwrap().laws;
        assert_eq!(laws, Laws::Costs(vec![Cost::PoissonGaussian { rate: 0.25, noise_multiplier: 2.0 }]));
        let poisson = PoissonGaussian::new(Probability::new(0.5).unwrap(), norm, noise);
        let words = poisson.worst_pair(&vec![vec![0.0]; 2]).unwrap().words;
        assert_eq!(words, "one unit's contribution of full norm, or zero; all others are zero");
    }
}
