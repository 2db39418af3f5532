//! DP-FTS-DE's aggregation: weighted sums of clipped vectors over a sample of agents, one sum per region.

use super::clipping::clip_norm;
use super::{Mechanism, MechanismError, Price, all_finite};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Claim, Cost, Neighbours, Positive, Probability, Sampler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Who takes part in a sum.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Participation {
    /// Each agent by a coin of its own with this probability: `Poisson(0.25)`.
    Poisson(Probability),
    /// Exactly this many agents, drawn without replacement: `FixedSize(50)`.
    FixedSize(u64),
}

/// What the sum is divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Divisor {
    /// The planned rate: weights run over all agents, present or not. Sound.
    #[default]
    Planned,
    /// Weights are renormalised over the agents that answered, the noise stays as planned: each of them weighs more, so
    /// the noise protects less.
    Arrived,
}

/// The vectors that a server holds when it closes a round.
#[derive(Clone, Debug)]
pub struct Gathered {
    /// Agents of the federation, present or not.
    pub population: usize,
    /// Agent, its vector, and how often the same agent may occur (late vectors on top of fresh ones).
    pub vectors: Vec<(usize, Arc<Vec<f64>>)>,
    /// Weights: regions x agents, each region's sum to 1.
    pub weights: Arc<Vec<Vec<f64>>>,
    /// Agents whose coin of an earlier round counts too, because a late vector replaced their fresh one.
    pub second_coin: Vec<usize>,
    /// Length of a vector.
    pub length: usize,
}

/// One noisy vector per region: (1/q) sum over the chosen of w_n clip(omega_n, S / sqrt(P)) + N(0, (z w_max S / q)^2 I).
///
/// * Precondition: who is chosen stays unknown to the observers; who answers depends on no agent's data. Neighbours
///   replace everything of one agent by zero.
/// * Postcondition: a Poisson-subsampled Gaussian with rate q and noise multiplier z, if weights and divisor are public
///   and no agent counts twice. Where the server does otherwise, the cost says so: see [`FederatedSum::cost`].
///
/// Source: Dai, Low and Jaillet 2021, "Differentially private federated Bayesian optimization with distributed
/// exploration", Algorithm 1 and Theorem 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FederatedSum {
    /// Who takes part.
    pub participation: Participation,
    /// S; without it nothing is clipped and nothing protected.
    pub clip: Option<Positive>,
    /// z; 0 for no noise.
    pub noise_multiplier: f64,
    /// What the sum is divided by.
    pub divisor: Divisor,
    /// How often one agent's data may enter one sum: 2 where late vectors come on top of fresh ones.
    pub multiplicity: u32,
    /// Whether late vectors keep the coin of their own round.
    pub keeps_coin: bool,
    /// Whether the observers see who takes part.
    pub visible: bool,
}

const NAME: &str = "weighted sums with Gaussian noise";

impl FederatedSum {
    fn rate(&self, population: usize) -> f64 {
        match self.participation {
            Participation::Poisson(rate) => rate.get(),
            Participation::FixedSize(size) => size as f64 / population as f64,
        }
    }

    /// The largest weight as planned, and as applied: with [`Divisor::Arrived`] over the agents that answered.
    fn largest_weights(&self, gathered: &Gathered) -> (f64, f64) {
        let largest = |weights: &[f64]| weights.iter().copied().fold(0.0, f64::max);
        let planned = gathered.weights.iter().map(|region| largest(region)).fold(0.0, f64::max);
        if self.divisor == Divisor::Planned {
            return (planned, planned);
        }
        let applied = gathered
            .weights
            .iter()
            .map(|region| {
                let present: f64 = gathered.vectors.iter().map(|(agent, _)| region[*agent]).sum();
                let most = gathered.vectors.iter().map(|(agent, _)| region[*agent]).fold(0.0, f64::max);
                if present > 0.0 { most / present } else { 0.0 }
            })
            .fold(0.0, f64::max);
        (planned, applied)
    }

    /// What one sum costs an agent: the noise over what the agent can move it by, and the chance that it is in.
    #[must_use]
    pub fn cost(&self, gathered: &Gathered) -> Cost {
        if self.noise_multiplier <= 0.0 || self.clip.is_none() {
            return Cost::Unprotected;
        }
        let (planned, applied) = self.largest_weights(gathered);
        let diluted = if applied > planned { planned / applied } else { 1.0 };
        let noise_multiplier = self.noise_multiplier * diluted / f64::from(self.multiplicity);
        if self.visible {
            return Cost::Gaussian { noise_multiplier };
        }
        match self.participation {
            Participation::Poisson(rate) => {
                let miss = 1.0 - rate.get();
                let rate = if self.keeps_coin { 1.0 - miss * miss } else { rate.get() };
                Cost::PoissonGaussian { rate, noise_multiplier }
            }
            Participation::FixedSize(size) => {
                Cost::FixedSizeGaussian { population: gathered.population as u64, size, noise_multiplier }
            }
        }
    }

    /// What naive code would book, and the paper's claim where it holds.
    fn claim(&self, gathered: &Gathered) -> Option<Claim> {
        let rate = self.rate(gathered.population);
        (self.noise_multiplier > 0.0 && self.clip.is_some()).then(|| Claim {
            epsilon: 0.0,
            delta: 0.0,
            source: "Dai, Low and Jaillet 2021, Theorem 1, by moments, as if every agent answered in time"
                .to_owned(),
            cost: Some(Cost::PoissonGaussian { rate, noise_multiplier: self.noise_multiplier }),
        })
    }
}

impl Mechanism for FederatedSum {
    type Input = Gathered;
    type Output = Vec<Vec<f64>>;

    fn price(&self, gathered: &Gathered, neighbours: &Neighbours) -> Result<Price, MechanismError> {
        let (covered, words) = match self.participation {
            Participation::Poisson(_) => (*neighbours == Neighbours::ZeroOut, "one agent replaced by zero"),
            Participation::FixedSize(_) => {
                (*neighbours == Neighbours::ReplaceOne, "one agent replaced by any other")
            }
        };
        if !covered {
            return Err(MechanismError::NeighboursNotCovered {
                mechanism: NAME,
                neighbours: neighbours.clone(),
                covered: words,
            });
        }
        if let Participation::FixedSize(size) = self.participation
            && size > gathered.population as u64
        {
            return Err(MechanismError::Shape {
                expected: format!("at least {size} agents to draw from"),
                found: gathered.population.to_string(),
            });
        }
        let cost = self.cost(gathered);
        let basis = match (&cost, self.divisor) {
            (Cost::Unprotected, _) => Basis::Unprotected,
            (_, Divisor::Arrived) => Basis::Conditional {
                on: "answers that arrive independently of all data (the divisor counts the agent itself)"
                    .to_owned(),
            },
            (_, Divisor::Planned) => Basis::Proven,
        };
        let sampler = match self.participation {
            Participation::Poisson(rate) => Sampler::Poisson { rate: rate.get() },
            Participation::FixedSize(size) => {
                Sampler::FixedSize { population: gathered.population as u64, size }
            }
        };
        let (planned, _) = self.largest_weights(gathered);
        Ok(Price {
            mechanism: NAME,
            sampler: if self.visible { Sampler::Full } else { sampler },
            sensitivity: self.clip.map(|clip| planned * clip.get() / self.rate(gathered.population)),
            cost,
            claim: self.claim(gathered),
            basis,
            arithmetic: if self.noise_multiplier > 0.0 { Arithmetic::Ideal } else { Arithmetic::Noiseless },
        })
    }

    fn privatise(&self, gathered: &Gathered, stream: &mut Stream) -> Result<Vec<Vec<f64>>, MechanismError> {
        let population = gathered.population;
        let regions = gathered.weights.len();
        if let Some((_, odd)) = gathered.vectors.iter().find(|(_, v)| v.len() != gathered.length) {
            return Err(MechanismError::Shape {
                expected: format!("vectors of {} numbers", gathered.length),
                found: format!("one of {}", odd.len()),
            });
        }
        let rate = self.rate(population);
        // Every agent's coin is tossed, present or not, so that an absence moves no other draw.
        let mut chosen = vec![false; population];
        match self.participation {
            Participation::Poisson(rate) => {
                chosen.iter_mut().for_each(|chosen| *chosen = stream.bernoulli(rate.get()));
                let second: Vec<bool> =
                    gathered.second_coin.iter().map(|_| stream.bernoulli(rate.get())).collect();
                for (&agent, coin) in gathered.second_coin.iter().zip(second) {
                    chosen[agent] |= coin;
                }
            }
            Participation::FixedSize(size) => {
                stream.distinct(population, size as usize).into_iter().for_each(|agent| chosen[agent] = true);
            }
        }
        let mut sums = vec![vec![0.0; gathered.length]; regions];
        let mut clipped = vec![0.0; gathered.length];
        let present: Vec<f64> = gathered
            .weights
            .iter()
            .map(|region| match self.divisor {
                Divisor::Planned => 1.0,
                Divisor::Arrived => gathered.vectors.iter().map(|(agent, _)| region[*agent]).sum(),
            })
            .collect();
        for (agent, vector) in &gathered.vectors {
            if !chosen[*agent] {
                continue;
            }
            clipped.copy_from_slice(vector);
            match self.clip.map(|clip| Positive::new(clip.get() / (regions as f64).sqrt())) {
                Some(Ok(bound)) => {
                    clip_norm(&mut clipped, bound);
                }
                Some(Err(error)) => return Err(MechanismError::out_of_range(error)),
                None => {}
            }
            for ((sum, region), total) in sums.iter_mut().zip(gathered.weights.iter()).zip(&present) {
                let weight = region[*agent] / (rate * total);
                sum.iter_mut().zip(&clipped).for_each(|(sum, value)| *sum += weight * value);
            }
        }
        let (largest, _) = self.largest_weights(gathered);
        let sd = self.clip.map_or(0.0, |clip| self.noise_multiplier * largest * clip.get() / rate);
        for sum in &mut sums {
            // Drawn even where there is no noise, so that series with and without it share all other draws.
            sum.iter_mut().for_each(|value| *value += sd * stream.normal());
            all_finite(sum)?;
        }
        Ok(sums)
    }
}
