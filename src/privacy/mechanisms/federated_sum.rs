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
    /// As `Arrived`, and the guarantee is for an agent that is gone altogether: the divisor then changes with it, drawn
    /// or not, so what an agent moves doubles and sampling protects nobody. One that is not there may as well come, so
    /// the largest share that it would have then counts too.
    ArrivedOrGone,
}

/// What the noise is scaled to, and what the ledger books it against. w_n are the weights of agent n in all P sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SensitivityRule {
    /// Both to w_max S / q, as the paper has it.
    #[default]
    LargestWeight,
    /// Noise as the paper has it; the ledger books it against |w_n|_2 S / (q sqrt P), which is never more.
    TighterLoss,
    /// Both to |w_n|_2 S / (q sqrt P): the paper's loss with up to sqrt(P) times less noise.
    TighterNoise,
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
/// exploration", Algorithm 1 and Proposition 1.
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
    /// What noise and ledger go by.
    pub sensitivity: SensitivityRule,
    /// The inclusion rate that naive code would report, where it is not the sampler's.
    pub claimed_rate: Option<f64>,
    /// Whether naive code would not count this one at all.
    pub is_forgotten: bool,
}

const NAME: &str = "weighted sums with Gaussian noise";

impl FederatedSum {
    fn rate(&self, population: usize) -> f64 {
        match self.participation {
            Participation::Poisson(rate) => rate.get(),
            Participation::FixedSize(size) => size as f64 / population as f64,
        }
    }

    /// What the noise is scaled to in units of S / q, and how far one agent can move the sums in the same units.
    fn reach(&self, gathered: &Gathered) -> (f64, f64) {
        let (planned, applied) = self.largest_weights(gathered);
        match self.sensitivity {
            SensitivityRule::LargestWeight => (planned, applied.max(planned)),
            SensitivityRule::TighterLoss => (planned, self.longest(gathered, true)),
            SensitivityRule::TighterNoise => (
                self.longest(gathered, false),
                self.longest(gathered, true).max(self.longest(gathered, false)),
            ),
        }
    }

    /// The weights by region of every agent that may be the one that differs: as planned, or as applied over the agents
    /// that answered. Where it may be gone altogether it may as well come, and the divisor then counts it.
    fn weights_of_each(&self, gathered: &Gathered, applied: bool) -> Vec<Vec<f64>> {
        let planned =
            |agent: usize| gathered.weights.iter().map(|region| region[agent]).collect::<Vec<f64>>();
        if !applied || self.divisor == Divisor::Planned {
            return (0..gathered.population).map(planned).collect();
        }
        let total = |region: &Vec<f64>| gathered.vectors.iter().map(|(agent, _)| region[*agent]).sum::<f64>();
        let totals: Vec<f64> = gathered.weights.iter().map(total).collect();
        let mut is_here = vec![false; gathered.population];
        gathered.vectors.iter().for_each(|(agent, _)| is_here[*agent] = true);
        let may_come = self.divisor == Divisor::ArrivedOrGone;
        let divided = |agent: usize| -> Vec<f64> {
            let by = |weight: f64, total: f64| if is_here[agent] { total } else { total + weight };
            let weights = planned(agent).into_iter().zip(&totals);
            weights.map(|(w, &total)| if by(w, total) > 0.0 { w / by(w, total) } else { 0.0 }).collect()
        };
        (0..gathered.population).filter(|&agent| is_here[agent] || may_come).map(divided).collect()
    }

    /// max_n |w_n|_2 / sqrt(P), as planned or as applied.
    fn longest(&self, gathered: &Gathered, applied: bool) -> f64 {
        let length = |weights: Vec<f64>| weights.iter().map(|w| w.powi(2)).sum::<f64>().sqrt();
        let longest = self.weights_of_each(gathered, applied).into_iter().map(length).fold(0.0, f64::max);
        longest / (gathered.weights.len().max(1) as f64).sqrt()
    }

    /// Standard deviation of the noise.
    #[must_use]
    pub fn noise_sd(&self, gathered: &Gathered) -> f64 {
        let (scale, rate) = (self.reach(gathered).0, self.rate(gathered.population));
        self.clip.map_or(0.0, |clip| self.noise_multiplier * scale * clip.get() / rate)
    }

    /// The largest weight as planned, and as applied over the agents that answered.
    fn largest_weights(&self, gathered: &Gathered) -> (f64, f64) {
        let largest =
            |applied| self.weights_of_each(gathered, applied).into_iter().flatten().fold(0.0, f64::max);
        (largest(false), largest(true))
    }

    /// What one sum costs an agent: the noise over what the agent can move it by, and the chance that it is in.
    #[must_use]
    pub fn cost(&self, gathered: &Gathered) -> Cost {
        if self.noise_multiplier <= 0.0 || self.clip.is_none() {
            return Cost::Unprotected;
        }
        let (scale, reach) = self.reach(gathered);
        let share = if reach > 0.0 { scale / reach } else { 1.0 };
        let noise_multiplier = self.noise_multiplier * share / f64::from(self.multiplicity);
        if self.divisor == Divisor::ArrivedOrGone {
            return Cost::Gaussian { noise_multiplier: 0.5 * noise_multiplier };
        }
        if self.visible {
            // Replacing an agent, as fixed sizes have it, moves the sum twice as far as zeroing it.
            let norms = match self.participation {
                Participation::Poisson(_) => 1.0,
                Participation::FixedSize(_) => 2.0,
            };
            return Cost::Gaussian { noise_multiplier: noise_multiplier / norms };
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
        let rate = self.claimed_rate.unwrap_or_else(|| self.rate(gathered.population));
        let claimed = self.noise_multiplier > 0.0 && self.clip.is_some() && !self.is_forgotten;
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
}

impl FederatedSum {
    /// Why the truth is another number, or the same.
    fn why(&self) -> &'static str {
        if self.visible {
            "but here everybody sees who takes part, so sampling protects nobody"
        } else if self.divisor == Divisor::ArrivedOrGone {
            "but here an agent that is gone changes what the others are divided by, drawn or not: it moves the sum twice \
             as far, and sampling protects nobody"
        } else if self.multiplicity > 1 {
            "but here a late vector comes on top of the fresh one, so an agent moves the sum twice as far"
        } else if self.keeps_coin && matches!(self.participation, Participation::Poisson(_)) {
            "but here a late vector keeps the coin of its own round, so an agent is in with probability 1 - (1 - q)^2"
        } else if self.divisor == Divisor::Arrived {
            "but here weights are renormalised over those who answered, so each weighs more under the noise as planned"
        } else if self.claimed_rate.is_some() {
            "but here the first to arrive are kept, and a fast agent is in whenever it is chosen, at the larger rate"
        } else if matches!(self.participation, Participation::FixedSize(_)) {
            "but here a fixed number is drawn, for which the analysis by independent coins does not hold"
        } else if self.sensitivity == SensitivityRule::TighterLoss {
            "here the weights of each agent in all sums are counted as they are, which gives a smaller number"
        } else {
            "absences that depend on no data neither raise nor lower it"
        }
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
            (_, Divisor::ArrivedOrGone) => Basis::Conditional {
                on: "who else answers, and when sums are sent, being independent of the agent that is gone"
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
        let (scale, _) = self.reach(gathered);
        let unsampled = self.visible || self.divisor == Divisor::ArrivedOrGone;
        Ok(Price {
            mechanism: NAME,
            sampler: if unsampled { Sampler::Full } else { sampler },
            sensitivity: self.clip.map(|clip| scale * clip.get() / self.rate(gathered.population)),
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
                Divisor::Arrived | Divisor::ArrivedOrGone => {
                    gathered.vectors.iter().map(|(agent, _)| region[*agent]).sum()
                }
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
        let sd = self.noise_sd(gathered);
        for sum in &mut sums {
            // Drawn even where there is no noise, so that series with and without it share all other draws.
            sum.iter_mut().for_each(|value| *value += sd * stream.normal());
            all_finite(sum)?;
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::privacy::accountants::{Accountant, Composition, Tight};
    use crate::rng::Key;
    use crate::vocab::Delta;
    use proptest::prelude::*;

    const AGENTS: usize = 6;
    const LENGTH: usize = 3;

    fn weights(regions: usize, stream: &mut Stream) -> Arc<Vec<Vec<f64>>> {
        let region = |stream: &mut Stream| {
            let drawn: Vec<f64> = (0..AGENTS).map(|_| stream.uniform_between(0.01, 1.0)).collect();
            let total: f64 = drawn.iter().sum();
            drawn.into_iter().map(|w| w / total).collect()
        };
        Arc::new((0..regions).map(|_| region(stream)).collect())
    }

    fn plain(sensitivity: SensitivityRule) -> FederatedSum {
        FederatedSum {
            participation: Participation::Poisson(Probability::new(0.6).unwrap()),
            clip: Some(Positive::new(5.0).unwrap()),
            noise_multiplier: 1.0,
            divisor: Divisor::Planned,
            multiplicity: 1,
            keeps_coin: false,
            visible: false,
            sensitivity,
            claimed_rate: None,
            is_forgotten: false,
        }
    }

    /// Everybody is drawn, so seeing who is drawn tells nothing, and must not look cheaper.
    #[test]
    fn a_fixed_number_that_is_seen_costs_what_it_costs_unseen() {
        let agents = 20;
        let gathered = Gathered {
            population: agents,
            vectors: vec![],
            weights: Arc::new(vec![vec![1.0 / agents as f64; agents]]),
            second_coin: vec![],
            length: LENGTH,
        };
        let epsilon = |visible| {
            let participation = Participation::FixedSize(agents as u64);
            let sum = FederatedSum { participation, visible, ..plain(SensitivityRule::LargestWeight) };
            let mut composition = Composition::new();
            composition.add(&sum.cost(&gathered), 1);
            Tight.price(&composition, Delta::new(1e-5).unwrap()).epsilon
        };
        assert!((epsilon(true) - 9.9973).abs() < 1e-4, "{}", epsilon(true));
        assert!((epsilon(true) - epsilon(false)).abs() < 1e-9);
    }

    proptest! {
        /// Whoever drops out, whoever is drawn, seen or not: a neighbour moves the sums by no more than the noise times
        /// what the ledger books.
        #[test]
        fn no_agent_moves_the_sums_further_than_the_ledger_says(
            seed: u64, regions in 1usize..5, answered in prop::collection::vec(any::<bool>(), AGENTS),
            rule in prop::sample::select(vec![
                SensitivityRule::LargestWeight, SensitivityRule::TighterLoss, SensitivityRule::TighterNoise,
            ]),
            divisor in prop::sample::select(vec![Divisor::Planned, Divisor::Arrived]),
            twice: bool, fixed: bool, visible: bool, moved in 0..AGENTS,
        ) {
            let mut stream = Key::root(seed).stream();
            let mut vectors: Vec<(usize, Arc<Vec<f64>>)> = Vec::new();
            for (agent, _) in answered.iter().enumerate().filter(|(_, answered)| **answered) {
                for _ in 0..=u32::from(twice) {
                    vectors.push((agent, Arc::new((0..LENGTH).map(|_| 9.0 * stream.normal()).collect())));
                }
            }
            let gathered = Gathered {
                population: AGENTS, vectors, weights: weights(regions, &mut stream), second_coin: vec![], length: LENGTH,
            };
            // Zero where coins decide; where a fixed number is drawn, any other vector: the opposite is the farthest.
            let factor = if fixed { -1.0 } else { 0.0 };
            let mut neighbour = gathered.clone();
            for (_, vector) in neighbour.vectors.iter_mut().filter(|(agent, _)| *agent == moved) {
                *vector = Arc::new(vector.iter().map(|value| factor * value).collect());
            }
            let sum = FederatedSum {
                participation: if fixed { Participation::FixedSize(4) } else { plain(rule).participation },
                divisor,
                multiplicity: if twice { 2 } else { 1 },
                visible,
                ..plain(rule)
            };
            // How far the agent may move the sums for each unit of noise, as the accountants read the cost.
            let reach = match sum.cost(&gathered) {
                Cost::Gaussian { noise_multiplier } | Cost::PoissonGaussian { noise_multiplier, .. } => {
                    1.0 / noise_multiplier
                }
                Cost::FixedSizeGaussian { noise_multiplier, .. } => 2.0 / noise_multiplier,
                other => panic!("{other:?}"),
            };
            let draw = |from: &Gathered| sum.privatise(from, &mut Key::root(seed).child("draw").stream()).unwrap();
            // The same stream: noise cancels.
            let square: f64 = draw(&gathered).iter().flatten().zip(draw(&neighbour).iter().flatten())
                .map(|(a, b)| (a - b) * (a - b)).sum();
            let allowed = sum.noise_sd(&gathered) * reach;
            prop_assert!(square.sqrt() <= allowed * (1.0 + 1e-9), "{} > {allowed}", square.sqrt());
        }

        /// The tighter rules never book more, and draw at most as much noise.
        #[test]
        fn tighter_is_never_looser(seed: u64, regions in 1usize..5) {
            let mut stream = Key::root(seed).stream();
            let gathered = Gathered {
                population: AGENTS, vectors: vec![], weights: weights(regions, &mut stream), second_coin: vec![],
                length: LENGTH,
            };
            let multiplier = |rule| match plain(rule).cost(&gathered) {
                Cost::PoissonGaussian { noise_multiplier, .. } => noise_multiplier,
                _ => unreachable!("sampled"),
            };
            prop_assert!((multiplier(SensitivityRule::LargestWeight) - 1.0).abs() < 1e-12);
            prop_assert!(multiplier(SensitivityRule::TighterLoss) >= 1.0 - 1e-12);
            prop_assert!((multiplier(SensitivityRule::TighterNoise) - 1.0).abs() < 1e-12);
            let sd = |rule| plain(rule).noise_sd(&gathered);
            let (paper, tight) = (sd(SensitivityRule::LargestWeight), sd(SensitivityRule::TighterNoise));
            prop_assert!(tight <= paper * (1.0 + 1e-12) && tight >= paper / (regions as f64).sqrt() * (1.0 - 1e-12));
        }
    }
}
