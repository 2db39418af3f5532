//! Federated optimisation: one agent in or out, seen by every agent in all broadcasts of a run.

use super::{Candidates, System};
use crate::privacy::accountants::{Accountant, Composition, Moments};
use crate::privacy::audit::{Experiment, Statement, Transcript, World, upper_bound};
use crate::privacy::mechanisms::{Divisor, FederatedSum, Gathered, Mechanism, Participation, Price};
use crate::protocols::federated::{Aggregate, Federated, FederatedSeries, Late, RoundPolicy, Sharing};
use crate::protocols::{BookedRelease, Protocol, Stage};
use crate::rng::{Key, Stream};
use crate::vocab::{Cost, Delta, Neighbours};
use std::sync::Arc;

/// Delta where neither the scenario nor the claim has one.
const DELTA: f64 = 1e-5;

pub(super) fn systems(
    recipe: &Federated,
    stage: &Stage,
    key: Key,
    delta: Option<f64>,
    (only, given): (Option<&str>, Option<&str>),
) -> Result<Vec<(String, Candidates)>, String> {
    let delta = Delta::new(delta.unwrap_or(DELTA)).map_err(|error| error.to_string())?;
    let agents = recipe.agents(stage);
    let mut found = Vec::new();
    for series in &recipe.series {
        let mut candidates = Vec::new();
        if let Sharing::Aggregate(aggregate) = &series.sharing
            && aggregate.clip.is_some()
            && aggregate.noise_multiplier.get() > 0.0
            && !aggregate.server.is_masked()
            && only.is_none_or(|only| only == series.name)
        {
            let arrived = arrivals(recipe, series, aggregate, stage, key, agents)?;
            let regions = aggregate.regions.get() as usize;
            let explored = recipe.explored(stage, regions);
            let mut targets = match given {
                Some(text) => vec![as_given(text, agents)?],
                // The regions that the first and the last agents explore may differ in size by one agent.
                None => vec![0, regions.min(agents) - 1],
            };
            targets.dedup();
            for target in targets {
                let rounds = rounds(recipe, series, aggregate, (&explored, target), &arrived);
                candidates.push(system(series, aggregate, rounds, target, delta)?);
            }
        }
        found.push((series.name.clone(), candidates));
    }
    Ok(found)
}

fn as_given(text: &str, agents: usize) -> Result<usize, String> {
    let agent = text.trim().parse().ok().filter(|agent| *agent < agents);
    agent.ok_or_else(|| format!("--neighbour: expected an agent below {agents}, found \"{text}\""))
}

/// Answers that are in time, by round. Only where they change what is added up is the series played to find out.
fn arrivals(
    recipe: &Federated,
    series: &FederatedSeries,
    aggregate: &Aggregate,
    stage: &Stage,
    key: Key,
    agents: usize,
) -> Result<Vec<usize>, String> {
    if aggregate.divisor == Divisor::Planned {
        return Ok(vec![agents; series.sharing.broadcasts(recipe.rounds) as usize]);
    }
    let alone = Federated { series: vec![series.clone()], ..recipe.clone() };
    let records = alone.play(stage, key).map_err(|error| error.to_string())?;
    let mut counts = Vec::new();
    for BookedRelease { event, count, .. } in records.iter().flat_map(|record| &record.releases) {
        let multiplier = match event.cost {
            Cost::PoissonGaussian { noise_multiplier, .. }
            | Cost::FixedSizeGaussian { noise_multiplier, .. }
            | Cost::Gaussian { noise_multiplier } => noise_multiplier,
            _ => continue,
        };
        // With uniform weights the ledger's multiplier is z times the share that arrived, half of that where an agent
        // may be gone altogether, or be replaced in full view.
        let replaced =
            aggregate.visible_participation && matches!(aggregate.participation, Participation::FixedSize(_));
        let halves = aggregate.divisor == Divisor::ArrivedOrGone || replaced;
        let factor = if halves { 2.0 } else { 1.0 };
        let share = (factor * multiplier / aggregate.noise_multiplier.get()).min(1.0);
        let arrived = ((agents as f64 * share).round() as usize).clamp(1, agents);
        counts.extend(std::iter::repeat_n(arrived, *count as usize));
    }
    if counts.is_empty() {
        return Err(format!("series \"{}\" released nothing", series.name));
    }
    Ok(counts)
}

/// One sum, and what the audited agent adds to it.
struct Round {
    mechanism: FederatedSum,
    /// Without the agent's vectors.
    gathered: Gathered,
    /// Vectors of the agent that enter: none, one, or a late one on top of a fresh one.
    copies: usize,
    /// By region, what the agent's vector of largest norm adds if its coin falls.
    means: Vec<f64>,
    sd: f64,
    /// Probability that the agent is in.
    rate: f64,
}

fn rounds(
    recipe: &Federated,
    series: &FederatedSeries,
    aggregate: &Aggregate,
    (explored, target): (&[usize], usize),
    arrived: &[usize],
) -> Vec<Round> {
    let (agents, regions) = (explored.len(), aggregate.regions.get() as usize);
    let clip = aggregate.clip.map_or(0.0, |clip| clip.get());
    (0..arrived.len())
        .map(|k| {
            let mut mechanism = aggregate.mechanism();
            mechanism.is_forgotten = k as u64 >= recipe.rounds;
            if let (RoundPolicy::FirstK { k, .. }, Participation::Poisson(rate)) =
                (series.policy, aggregate.participation)
            {
                // As the server does: naive code takes those who were kept for those who were chosen.
                let kept = k.get() as f64 / agents as f64;
                mechanism.claimed_rate = (kept < rate.get()).then_some(kept);
            }
            let mut second_coin = Vec::new();
            let copies = match aggregate.late {
                Late::Discard | Late::KeepLast => 1,
                // An agent whose every second answer is late is missing in one round and twice in the next.
                Late::AddToNext => {
                    mechanism.multiplicity = 2;
                    if k % 2 == 0 { 0 } else { 2 }
                }
                // An agent whose every answer is late.
                Late::ReplaceNext => {
                    mechanism.keeps_coin = true;
                    if k > 0 {
                        second_coin.push(target);
                    }
                    usize::from(k > 0)
                }
            };
            let weights = aggregate.weights.at(k as u64, explored, regions);
            // The audited agent, and others in order, as many as arrived; theirs are zero.
            let others: Vec<usize> =
                (0..agents).filter(|agent| *agent != target).take(arrived[k].saturating_sub(1)).collect();
            let zero = Arc::new(vec![0.0]);
            let vectors: Vec<(usize, Arc<Vec<f64>>)> =
                others.iter().map(|agent| (*agent, Arc::clone(&zero))).collect();
            let rate = match aggregate.participation {
                Participation::Poisson(rate) => rate.get(),
                Participation::FixedSize(size) => size as f64 / agents as f64,
            };
            let means = weights
                .iter()
                .map(|region| {
                    let total: f64 = match aggregate.divisor {
                        Divisor::Planned => 1.0,
                        Divisor::Arrived | Divisor::ArrivedOrGone => {
                            region[target] + others.iter().map(|a| region[*a]).sum::<f64>()
                        }
                    };
                    copies as f64 * region[target] / (rate * total) * clip / (regions as f64).sqrt()
                })
                .collect();
            let included = if second_coin.is_empty() { rate } else { 1.0 - (1.0 - rate) * (1.0 - rate) };
            let gathered =
                Gathered { population: agents, vectors, weights: Arc::new(weights), second_coin, length: 1 };
            // The noise goes by the weights as planned, whoever is there.
            let sd = mechanism.noise_sd(&gathered);
            Round { mechanism, gathered, copies, means, sd, rate: included }
        })
        .collect()
}

fn system(
    series: &FederatedSeries,
    aggregate: &Aggregate,
    rounds: Vec<Round>,
    target: usize,
    delta: Delta,
) -> Result<System, String> {
    let fixed_size = matches!(aggregate.participation, Participation::FixedSize(_));
    let neighbours = if fixed_size { Neighbours::ReplaceOne } else { Neighbours::ZeroOut };
    let mut experiment = Broadcasts {
        inputs: Vec::new(),
        rounds,
        target,
        clip: aggregate.clip.map_or(0.0, |clip| clip.get()),
        fixed_size,
        visible: aggregate.visible_participation,
    };
    experiment.inputs = experiment
        .rounds
        .iter()
        .map(|round| World::BOTH.map(|world| experiment.input(round, world)))
        .collect();
    let mut prices: Vec<Price> = Vec::new();
    for (round, [given, _]) in experiment.rounds.iter().zip(&experiment.inputs) {
        // Priced with the agent present, as the ledger does.
        let price = round.mechanism.price(given, &neighbours).map_err(|error| error.to_string())?;
        prices.push(price);
    }
    let counted: Vec<(&Price, u64)> = prices.iter().map(|price| (price, 1)).collect();
    let claimed: Composition = prices
        .iter()
        .filter_map(|price| price.claim.as_ref().and_then(|claim| claim.cost.as_ref()))
        .map(|cost| (cost, 1))
        .collect();
    let source = prices.iter().find_map(|price| price.claim.as_ref()).map(|claim| claim.source.clone());
    let statement = Statement {
        name: series.name.clone(),
        about: format!("all {} broadcasts of a run, as the server makes them", prices.len()),
        neighbours: if fixed_size {
            format!("agent {target}'s vectors of full norm, turned round; all others' are zero")
        } else {
            format!("agent {target} in with vectors of full norm, or out; all others' are zero")
        },
        observer: "every agent".to_owned(),
        delta: delta.get(),
        claim: source.map(|source| (Moments.price(&claimed, delta).epsilon, source)),
        proven: upper_bound(&counted, delta.get()),
        disjoint: None,
        broken: false,
    };
    Ok(System::new(statement, experiment))
}

/// All broadcasts of a run, seen by somebody who knows everything but one agent's vectors, the coins and the noise.
struct Broadcasts {
    rounds: Vec<Round>,
    /// What goes into each round's sum, by world.
    inputs: Vec<[Gathered; 2]>,
    target: usize,
    clip: f64,
    fixed_size: bool,
    visible: bool,
}

impl Broadcasts {
    fn input(&self, round: &Round, world: World) -> Gathered {
        let value = match world {
            World::Given => self.clip,
            World::Neighbour if self.fixed_size => -self.clip,
            World::Neighbour => 0.0,
        };
        let mut gathered = round.gathered.clone();
        let vector = Arc::new(vec![value]);
        gathered.vectors.extend((0..round.copies).map(|_| (self.target, Arc::clone(&vector))));
        gathered
    }

    /// The audited agent's coin, as the mechanism is about to toss it.
    fn coin(&self, round: &Round, stream: &Stream) -> bool {
        let mut stream = stream.clone();
        let population = round.gathered.population;
        match round.mechanism.participation {
            Participation::Poisson(rate) => {
                let coins: Vec<bool> = (0..population).map(|_| stream.bernoulli(rate.get())).collect();
                let again = round.gathered.second_coin.iter().any(|_| stream.bernoulli(rate.get()));
                coins[self.target] || again
            }
            Participation::FixedSize(size) => {
                stream.distinct(population, size as usize).contains(&self.target)
            }
        }
    }

    fn score(&self, round: &Round, sums: &[Vec<f64>], coin: Option<bool>) -> f64 {
        // ln of the ratio of the densities with the agent's vector in, times `sign`, and with it out.
        let along = |sign: f64| -> f64 {
            let parts = sums
                .iter()
                .zip(&round.means)
                .map(|(sum, mean)| (sign * sum[0] * mean - 0.5 * mean * mean) / (round.sd * round.sd));
            parts.sum()
        };
        let mixed = |sign: f64| match coin {
            Some(true) => along(sign),
            Some(false) => 0.0,
            None => log_mixture(round.rate, along(sign)),
        };
        if self.fixed_size { mixed(1.0) - mixed(-1.0) } else { mixed(1.0) }
    }
}

/// ln(1 - q + q e^a).
fn log_mixture(q: f64, a: f64) -> f64 {
    if a > 0.0 { a + libm::log(q + (1.0 - q) * libm::exp(-a)) } else { libm::log1p(q * libm::expm1(a)) }
}

impl Experiment for Broadcasts {
    fn tests(&self) -> Vec<String> {
        vec!["likelihood ratio".to_owned()]
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
        let mut score = 0.0;
        for (k, (round, inputs)) in self.rounds.iter().zip(&self.inputs).enumerate() {
            let mut stream = key.index(k as u64).stream();
            let coin = self.visible.then(|| self.coin(round, &stream));
            let sums = round
                .mechanism
                .privatise(&inputs[world.index()], &mut stream)
                .map_err(|error| error.to_string())?;
            score += self.score(round, &sums, coin);
        }
        Ok(Transcript::rounded(vec![score]))
    }
}
