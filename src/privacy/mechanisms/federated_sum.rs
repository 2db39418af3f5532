//! DP-FTS-DE's aggregation: weighted sums of clipped vectors over a sample of agents, one sum per region.

use super::clipping::clip_norm;
use super::federated_pair::Shape;
use super::federated_reach;
use super::mean_shift::SubsampledShift;
use super::norm_count::NormCount;
use super::pair::{Distinguisher, Pair};
use super::real_deviates::coin;
use super::rounded::Grid;
use super::{
    AgentRates, Divisor, Mechanism, MechanismError, NoiseArithmetic, Participation, Price, ReceivedVectors,
    SensitivityRule, all_finite,
};
use crate::rng::Stream;
use crate::vocab::{Arithmetic, Basis, Cost, Neighbours, Positive, Probability, Sampler};

/// One noisy vector for each of P regions. With the planned settings ([`FederatedSum::planned`]), the vector of a region
/// is 1/q times the sum, over the sampled agents n, of w_n clip(omega_n, S / sqrt(P)), plus N(0, (z w_max S / q)^2 I).
/// Here q is the sampling rate, w_n is the weight of agent n in this region, w_max is the largest weight of any agent in
/// any region, omega_n is the vector of agent n, S is the clipping norm and z the noise multiplier. clip(v, s) is v,
/// shortened to the norm s if v is longer.
///
/// * Precondition: the observers do not learn who is sampled (unless `visible` says that they do); which agents answer
///   does not depend on any agent's data. Neighbours differ in the vectors of one agent. With Poisson sampling, the
///   neighbour has zeros in place of these vectors; with samples of fixed size, it has any other vectors.
/// * Postcondition: with the planned settings, a clipping norm and public weights, the privacy loss of a Gaussian
///   mechanism with noise multiplier z, subsampled with rate q as `participation` says. [`FederatedSum::cost`] states the
///   loss for other settings.
///
/// With a [count](NormCount), the release has one further vector, with a single number: the noisy count.
///
/// Source: Dai, Low and Jaillet 2021, "Differentially private federated Bayesian optimization with distributed
/// exploration", Algorithm 1 and Proposition 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FederatedSum {
    /// Who takes part.
    pub participation: Participation,
    /// The clipping norm S; without it nothing is clipped or protected.
    pub clip: Option<Positive>,
    /// The noise multiplier z; 0 for no noise.
    pub noise_multiplier: f64,
    /// What the sum is divided by.
    pub divisor: Divisor,
    /// How often one agent's data may enter one sum: 2 where late vectors are added to current ones.
    pub multiplicity: u32,
    /// Whether a late vector keeps the sampling draw of the round that it belongs to. The sum of a later round then
    /// contains the vector if its agent is sampled in either of these two rounds.
    pub keeps_sampling_draw: bool,
    /// Whether the observers see who takes part.
    pub visible: bool,
    /// How the sensitivity is computed, for the noise and for the ledger.
    pub sensitivity: SensitivityRule,
    /// The planned inclusion rate, from which the paper's claim is computed; `None` if this is the rate of
    /// `participation`.
    pub claimed_rate: Option<f64>,
    /// Whether Proposition 1 of the paper does not cover this sum, so that the ledger entry has no claim.
    pub excluded_from_claim: bool,
    /// How noise is sampled.
    pub arithmetic: NoiseArithmetic,
    /// Rates of individual agents in a Poisson sample, in place of the one rate of `participation`; weights and noise
    /// stay as planned.
    pub rates: Option<AgentRates>,
    /// The count of vectors within the clipping norm, released together with the sums; `None` for no count. With a count,
    /// the noise in the sums is larger, so that z is the noise multiplier of sums and count together.
    pub count: Option<NormCount>,
}

const NAME: &str = "weighted sums with Gaussian noise";

/// Relative error of clipping and weighting in floating point, with a margin.
const COMPUTED: f64 = 1e-11;

impl FederatedSum {
    /// Sums as planned: every agent counts once, nobody sees who takes part, noise and ledger are computed from the
    /// largest weight, and noise is exact.
    #[must_use]
    pub fn planned(participation: Participation, clip: Option<Positive>, noise_multiplier: f64) -> Self {
        Self {
            participation,
            clip,
            noise_multiplier,
            divisor: Divisor::Planned,
            multiplicity: 1,
            keeps_sampling_draw: false,
            visible: false,
            sensitivity: SensitivityRule::LargestWeight,
            claimed_rate: None,
            excluded_from_claim: false,
            arithmetic: NoiseArithmetic::Exact,
            rates: None,
            count: None,
        }
    }

    /// The noise multiplier of the sums alone: z, or more if a count is released with them.
    fn of_sums(&self) -> f64 {
        self.count.map_or(self.noise_multiplier, |count| count.of_sums(self.noise_multiplier))
    }

    /// All numbers of a release in order, scaled so that all have noise of the same standard deviation. The sums stay
    /// as they are. The count is multiplied by the ratio of the noise's standard deviation in the sums to that in the
    /// count.
    #[must_use]
    pub fn of_equal_noise(&self, gathered: &ReceivedVectors, released: &[Vec<f64>]) -> Vec<f64> {
        let mut numbers: Vec<f64> = released.iter().flatten().copied().collect();
        if let (Some(count), Some(last)) = (self.count, numbers.last_mut()) {
            *last *= self.noise_sd(gathered) / count.sd.get();
        }
        numbers
    }

    fn rate(&self, population: usize) -> f64 {
        match self.participation {
            Participation::Poisson(rate) => rate.get(),
            Participation::FixedSize(size) => size as f64 / population as f64,
        }
    }

    fn priced_rate(&self, planned: Probability) -> f64 {
        self.rates.as_ref().map_or(planned.get(), AgentRates::priced)
    }

    /// Standard deviation of the noise in the sums, as calibrated: exact arithmetic draws slightly more noise.
    #[must_use]
    pub fn noise_sd(&self, gathered: &ReceivedVectors) -> f64 {
        let (scale, rate) = (
            federated_reach::reach(self.sensitivity, self.divisor, gathered).0,
            self.rate(gathered.population),
        );
        self.clip.map_or(0.0, |clip| self.of_sums() * scale * clip.get() / rate)
    }

    /// For each agent, whether it is sampled. A release begins with the same draws from its stream, before any noise.
    #[must_use]
    pub fn drawn(&self, gathered: &ReceivedVectors, stream: &mut Stream) -> Vec<bool> {
        // The sample is drawn from all agents, present or not, so that the absence of one agent changes no draw of another.
        let mut chosen = vec![false; gathered.population];
        match self.participation {
            Participation::Poisson(rate) => {
                let of = |agent: usize| self.rates.as_ref().map_or(rate.get(), |rates| rates.of(agent));
                chosen.iter_mut().enumerate().for_each(|(n, chosen)| *chosen = coin(of(n), stream));
                let late = gathered.late_sampling_draw.iter();
                let second: Vec<bool> = late.map(|&agent| coin(of(agent), stream)).collect();
                for (&agent, coin) in gathered.late_sampling_draw.iter().zip(second) {
                    chosen[agent] |= coin;
                }
            }
            Participation::FixedSize(size) => {
                stream
                    .distinct(gathered.population, size as usize)
                    .into_iter()
                    .for_each(|agent| chosen[agent] = true);
            }
        }
        chosen
    }

    /// The worst known pair of inputs that differ in the vector of `agent`; each input holds this vector `copies` times.
    /// `others` states the weights and which other agents have vectors; the numbers in these vectors are replaced. `None`
    /// without a clipping norm.
    #[must_use]
    pub fn pair_of(
        &self,
        others: &ReceivedVectors,
        agent: usize,
        copies: usize,
    ) -> Option<Pair<ReceivedVectors>> {
        self.shape(others).map(|shape| shape.worst_pair(others, agent, copies))
    }

    /// The distributions of the sums on two inputs that differ in the vectors of one agent. The numbers of the first region
    /// come first, then those of the second, and so on; the scaled count, if there is a count, comes last. `None` without
    /// a clipping norm, if the vectors of several agents differ, or if the distribution of the sums is unknown. The
    /// distribution is known only if no vector has a discount
    /// ([`ReceivedVectors::discounts`]) and the other agents' vectors are all zero. In a sample of fixed size where all
    /// agents are present and have equal weights, the other agents' vectors need not be zero: it is enough that they are
    /// equal to each other and, if there is a count, add equal amounts to it.
    #[must_use]
    pub fn moved(&self, inputs: [&ReceivedVectors; 2]) -> Option<SubsampledShift> {
        let moved = self.shape(inputs[0])?.moved(inputs)?;
        Some(match &self.rates {
            Some(rates) => SubsampledShift { rate: rates.of_differing_agent(inputs), ..moved },
            None => moved,
        })
    }

    fn shape(&self, gathered: &ReceivedVectors) -> Option<Shape> {
        let (participation, divisor) = (self.participation, self.divisor);
        let (sd, count) = (self.noise_sd(gathered), self.count);
        self.clip.map(|clip| Shape { participation, clip, divisor, sd, count })
    }

    /// Adds the clipped and weighted vector of every chosen agent to the sums of the regions; returns the count of vectors
    /// within the clipping norm, in halves (see [`NormCount`]).
    fn add_up<T>(
        &self,
        gathered: &ReceivedVectors,
        chosen: &[bool],
        sums: &mut [Vec<T>],
        add: impl Fn(&mut T, f64),
    ) -> Result<i64, MechanismError> {
        let rate = self.rate(gathered.population);
        let bound = self.clip.map(|clip| Positive::new(clip.get() / (sums.len() as f64).sqrt())).transpose();
        let bound = bound.map_err(MechanismError::out_of_range)?;
        let present: Vec<f64> = gathered
            .weights
            .iter()
            .map(|region| match self.divisor {
                Divisor::Planned => 1.0,
                Divisor::Arrived | Divisor::ArrivedOrGone => gathered.present(region),
            })
            .collect();
        let mut clipped = vec![0.0; gathered.length];
        let mut halves = 0;
        for (place, (agent, vector)) in gathered.vectors.iter().enumerate().filter(|(_, (n, _))| chosen[*n]) {
            clipped.copy_from_slice(vector);
            let shortened = bound.is_some_and(|bound| clip_norm(&mut clipped, bound));
            halves += NormCount::halves(vector, shortened);
            let discount = gathered.discount(place);
            for ((sum, region), total) in sums.iter_mut().zip(gathered.weights.iter()).zip(&present) {
                // If all agents that answered have weight 0 in a region, the sum of this region is 0 before noise. This
                // depends on no agent's vector: weights are public.
                let weight = if *total > 0.0 { region[*agent] / (rate * total) } else { 0.0 };
                let weight = if discount < 1.0 { discount * weight } else { weight };
                sum.iter_mut().zip(&clipped).for_each(|(sum, value)| add(sum, weight * value));
            }
        }
        Ok(halves)
    }

    /// Whether noise is added: without a clipping norm there is no sensitivity to scale it to.
    fn is_noisy(&self) -> bool {
        self.noise_multiplier > 0.0 && self.clip.is_some()
    }

    /// The lattice, and the noise in multiples of its spacing; `None` if noise is not exact or not drawn. Each vector's
    /// part of each sum is rounded separately after clipping and weighting, so that the integers of one vector in all sums
    /// together have a bounded norm; integers are added up exactly. The noise is so large that the loss which
    /// [`cost`](Self::cost) states holds for these integers too.
    fn exact(&self, gathered: &ReceivedVectors) -> Result<Option<(Grid, u64)>, MechanismError> {
        let (true, NoiseArithmetic::Exact, Some(clip)) = (self.is_noisy(), self.arithmetic, self.clip) else {
            return Ok(None);
        };
        let (scale, reach) = federated_reach::reach(self.sensitivity, self.divisor, gathered);
        let unit = clip.get() / self.rate(gathered.population);
        let share = if reach > 0.0 { scale / reach } else { 1.0 };
        let grid = Grid::between(self.noise_sd(gathered), scale * unit)?;
        let length = gathered.length.saturating_mul(gathered.weights.len());
        let norm = if reach > 0.0 { reach } else { scale } * unit * (1.0 + COMPUTED);
        let norm = match self.divisor {
            Divisor::Planned | Divisor::Arrived => grid.norm(norm, length),
            // A missing agent changes the divisor of the others, and so the rounding of each of their parts.
            Divisor::ArrivedOrGone => {
                grid.norm(norm, length) + grid.norm(0.0, length) * gathered.population as f64
            }
        };
        Ok(Some((grid, grid.scale(self.of_sums() * share, norm))))
    }

    /// The cost, for an agent, of one release of the sums. The cost follows from the noise, divided by the largest change
    /// that the agent can make to the sums, and, if the sampling hides the agent, from the probability that the agent is
    /// in the sums. Without noise, the cost is `Unprotected`.
    #[must_use]
    pub fn cost(&self, gathered: &ReceivedVectors) -> Cost {
        if !self.is_noisy() {
            return Cost::Unprotected;
        }
        let (scale, reach) = federated_reach::reach(self.sensitivity, self.divisor, gathered);
        let share = if reach > 0.0 { scale / reach } else { 1.0 };
        let noise_multiplier = match self.count {
            None => self.noise_multiplier * share,
            Some(count) => count.with_sums(count.of_sums(self.noise_multiplier) * share),
        } / f64::from(self.multiplicity);
        if self.divisor == Divisor::ArrivedOrGone {
            return Cost::Gaussian { noise_multiplier: 0.5 * noise_multiplier };
        }
        if self.visible {
            // With samples of fixed size, neighbours replace an agent's vectors by any others: this moves the sums up to
            // twice as far as setting the vectors to zero.
            let norms = match self.participation {
                Participation::Poisson(_) => 1.0,
                Participation::FixedSize(_) => 2.0,
            };
            return Cost::Gaussian { noise_multiplier: noise_multiplier / norms };
        }
        match self.participation {
            Participation::Poisson(rate) => {
                let rate = self.priced_rate(rate);
                let miss = 1.0 - rate;
                let rate = if self.keeps_sampling_draw { 1.0 - miss * miss } else { rate };
                Cost::PoissonGaussian { rate, noise_multiplier }
            }
            Participation::FixedSize(size) => {
                Cost::FixedSizeGaussian { population: gathered.population as u64, size, noise_multiplier }
            }
        }
    }
}

impl Mechanism for FederatedSum {
    type Input = ReceivedVectors;
    type Output = Vec<Vec<f64>>;

    fn price(&self, gathered: &ReceivedVectors, neighbours: &Neighbours) -> Result<Price, MechanismError> {
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
        if let Some(count) = self.count.filter(|_| self.is_noisy()) {
            if !count.admits(self.noise_multiplier) {
                return Err(MechanismError::Shape {
                    expected: format!("a count with noise of more than {}", 0.5 * self.noise_multiplier),
                    found: count.sd.to_string(),
                });
            }
            count.exact()?;
        }
        self.exact(gathered)?;
        let cost = self.cost(gathered);
        let basis = match (&cost, self.divisor) {
            (Cost::Unprotected, _) => Basis::Unprotected,
            (_, Divisor::Arrived) => Basis::Conditional {
                on: "answers that arrive independently of all data (the divisor depends on whether the agent itself answers)"
                    .to_owned(),
            },
            (_, Divisor::ArrivedOrGone) => Basis::Conditional {
                on: "answers of other agents and times of sums that do not depend on the agent in which neighbours differ"
                    .to_owned(),
            },
            (_, Divisor::Planned) => Basis::Proven,
        };
        let sampler = match self.participation {
            Participation::Poisson(rate) => Sampler::Poisson { rate: self.priced_rate(rate) },
            Participation::FixedSize(size) => {
                Sampler::FixedSize { population: gathered.population as u64, size }
            }
        };
        let (scale, _) = federated_reach::reach(self.sensitivity, self.divisor, gathered);
        let unsampled = self.visible || self.divisor == Divisor::ArrivedOrGone;
        Ok(Price {
            mechanism: NAME,
            sampler: if unsampled { Sampler::Full } else { sampler },
            sensitivity: self.clip.map(|clip| scale * clip.get() / self.rate(gathered.population)),
            cost,
            claim: self.claim(gathered),
            basis,
            arithmetic: if self.is_noisy() { self.arithmetic.recorded() } else { Arithmetic::Noiseless },
        })
    }

    fn privatise(
        &self,
        gathered: &ReceivedVectors,
        stream: &mut Stream,
    ) -> Result<Vec<Vec<f64>>, MechanismError> {
        let regions = gathered.weights.len();
        if let Some((_, odd)) = gathered.vectors.iter().find(|(_, v)| v.len() != gathered.length) {
            return Err(MechanismError::Shape {
                expected: format!("vectors of {} numbers", gathered.length),
                found: format!("one of {}", odd.len()),
            });
        }
        let chosen = self.drawn(gathered, stream);
        if let Some((grid, noise)) = self.exact(gathered)? {
            let mut sums = vec![vec![0i128; gathered.length]; regions];
            let halves = self.add_up(gathered, &chosen, &mut sums, |sum, part| *sum += grid.round(part))?;
            let noisy = |sum: i128| grid.plus_normal(sum, noise, stream);
            let mut values = sums.into_iter().flatten().map(noisy);
            let mut released: Vec<Vec<f64>> =
                (0..regions).map(|_| values.by_ref().take(gathered.length).collect()).collect();
            if let Some(count) = self.count {
                released.push(vec![count.released(halves, Some(NoiseArithmetic::Exact), stream)?]);
            }
            return Ok(released);
        }
        let mut sums = vec![vec![0.0; gathered.length]; regions];
        let halves = self.add_up(gathered, &chosen, &mut sums, |sum, part| *sum += part)?;
        let sd = if self.is_noisy() { self.noise_sd(gathered) } else { 0.0 };
        for sum in &mut sums {
            // Deviates are drawn even if there is no noise, so that these numbers take as many words from the stream
            // without noise as with ideal noise.
            sum.iter_mut().for_each(|value| *value += sd * stream.normal());
            all_finite(sum)?;
        }
        if let Some(count) = self.count {
            let noise = self.is_noisy().then_some(NoiseArithmetic::Ideal);
            sums.push(vec![count.released(halves, noise, stream)?]);
        }
        Ok(sums)
    }

    fn worst_pair(&self, like: &ReceivedVectors) -> Option<Pair<ReceivedVectors>> {
        let (agent, _) = like.vectors.first()?;
        self.pair_of(like, *agent, 1)
    }

    /// The test of an observer who does not see which agents are in the sums. For an observer who sees this (`visible`),
    /// no test is known.
    fn distinguisher(
        &self,
        inputs: [&ReceivedVectors; 2],
    ) -> Result<Distinguisher<Vec<Vec<f64>>>, MechanismError> {
        let Some(moved) = self.moved(inputs).filter(|_| !self.visible) else {
            return Ok(Distinguisher::unknown());
        };
        let laws = moved.laws(false);
        let (of, like) = (self.clone(), ReceivedVectors { vectors: Vec::new(), ..inputs[0].clone() });
        let log_ratio =
            move |sums: &Vec<Vec<f64>>| moved.log_ratio(of.of_equal_noise(&like, sums).into_iter(), None);
        Ok(Distinguisher::by_ratio(log_ratio, laws))
    }
}

mod claim;
#[cfg(test)]
mod pair_tests;
#[cfg(test)]
mod tests;
