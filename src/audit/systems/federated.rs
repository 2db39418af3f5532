//! Federated optimisation: one agent in or out, seen by every agent in all broadcasts of a run.

use super::{Candidates, System, Why, masked};
use crate::accounting::{Accountant, Composition, Moments};
use crate::audit::{Experiment, KnownPair, Statement, Transcript, World, upper_bound};
use crate::privacy::mechanisms::{Divisor, FederatedSum, Gathered, Mechanism, Participation, Price};
use crate::protocols::federated::{Aggregate, Federated, FederatedSeries, Late, RoundPolicy, Sharing};
use crate::protocols::{BookedRelease, Protocol, Stage};
use crate::rng::{Key, Stream};
use crate::vocab::{Cost, Delta, Neighbours};
use std::sync::Arc;

/// Delta where neither the scenario nor the claim has one.
const DELTA: f64 = 1e-5;

/// All broadcasts of one series, on the vectors of each agent that is tried; under masks twice, as the server sees the
/// sums and as an agent does.
pub(super) fn candidates(
    recipe: &Federated,
    series: &FederatedSeries,
    (stage, key): (&Stage, Key),
    delta: Option<f64>,
    given: Option<&str>,
) -> Result<Vec<Candidates>, Why> {
    let delta = Delta::new(delta.unwrap_or(DELTA)).map_err(|error| error.to_string())?;
    let agents = recipe.agents(stage);
    let aggregate = match &series.sharing {
        Sharing::Aggregate(aggregate) => aggregate,
        Sharing::Alone(_) => return Err(Why::unprotected("agents share nothing")),
        Sharing::RandomAgent(_) => {
            return Err(Why::unprotected("agents' vectors are passed on as they are: nothing is claimed"));
        }
    };
    if aggregate.clip.is_none() || aggregate.noise_multiplier.get() <= 0.0 {
        return Err(Why::unprotected("the sums have no noise, or nothing is clipped: nothing is claimed"));
    }
    let regions = aggregate.regions.get() as usize;
    let explored = recipe.explored(stage, regions);
    let targets = match given {
        Some(text) => vec![as_given(text, agents)?],
        None => targets(aggregate, &explored),
    };
    if aggregate.server.is_masked() {
        return masked::candidates(recipe, (series, aggregate), (stage, key), (&explored, &targets), delta);
    }
    let arrived = arrivals(recipe, series, aggregate, stage, key, agents)?;
    let one = |target: usize| {
        let rounds = rounds(recipe, series, aggregate, (&explored, target), &arrived);
        system(series, aggregate, rounds, target, delta)
    };
    let candidates: Result<Candidates, String> = targets.into_iter().map(one).collect();
    Ok(vec![candidates?])
}

/// Agents that may be worth most: the first and the last, whose regions may differ in size by one agent, and the one whose
/// weights in the first sums are longest.
fn targets(aggregate: &Aggregate, explored: &[usize]) -> Vec<usize> {
    let regions = aggregate.regions.get() as usize;
    let weights = aggregate.weights.at(0, explored, regions);
    let square = |agent: usize| weights.iter().map(|region| region[agent] * region[agent]).sum::<f64>();
    let longest =
        (0..explored.len()).fold(0, |best, agent| if square(agent) > square(best) { agent } else { best });
    let mut targets = vec![0, regions.min(explored.len()) - 1, longest];
    targets.sort_unstable();
    targets.dedup();
    targets
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
///
/// Worst known pair. With coins the agent's vector has full norm or is zero and all others' are zero: what the others add
/// by coins of their own would only hide it. With a sample of fixed size the agent's vector has full norm S or -S and all
/// others' are -S in the same direction: then the sum does not tell who was drawn (if weights are alike and all are
/// there), the neighbour's is one normal law, and the agent moves it by 2 S if drawn.
struct Round {
    mechanism: FederatedSum,
    /// Without the agent's vectors.
    gathered: Gathered,
    /// Vectors of the agent that enter: none, one, or a late one on top of a fresh one.
    copies: usize,
    /// By region, the sum without noise if the agent is not drawn.
    base: Vec<f64>,
    /// By world and region, how far from that the sum lies if the agent is drawn.
    moved: [Vec<f64>; 2],
    sd: f64,
    /// Probability that the agent is in.
    rate: f64,
}

impl Round {
    /// Distance of two points in standard deviations of the noise.
    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt() / self.sd
    }

    /// How far apart the two worlds are if the agent is drawn.
    fn apart(&self) -> f64 {
        self.distance(&self.moved[0], &self.moved[1])
    }

    /// Whether the neighbour's sum does not tell if the agent was drawn.
    fn is_plain(&self) -> bool {
        self.moved[1].iter().all(|value| value.abs() <= 1e-9 * self.sd)
    }
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
            // The audited agent, and others in order, as many as arrived.
            let others: Vec<usize> =
                (0..agents).filter(|agent| *agent != target).take(arrived[k].saturating_sub(1)).collect();
            let (rate, drawn) = match aggregate.participation {
                Participation::Poisson(rate) => (rate.get(), None),
                Participation::FixedSize(size) => (size as f64 / agents as f64, Some(size)),
            };
            let is_alike =
                |region: &Vec<f64>| region.iter().all(|w| (w - region[0]).abs() <= 1e-12 * region[0]);
            // What the others' vectors are in units of the clipping norm.
            let against = match drawn {
                Some(_) if others.len() + 1 == agents && weights.iter().all(is_alike) => -1.0,
                _ => 0.0,
            };
            let vector = Arc::new(vec![against * clip]);
            let vectors: Vec<(usize, Arc<Vec<f64>>)> =
                others.iter().map(|agent| (*agent, Arc::clone(&vector))).collect();
            // By region, what the agent's vector of full norm adds if its coin falls.
            let means: Vec<f64> = weights
                .iter()
                .map(|region| {
                    let total: f64 = match aggregate.divisor {
                        Divisor::Planned => 1.0,
                        Divisor::Arrived | Divisor::ArrivedOrGone => {
                            region[target] + others.iter().map(|a| region[*a]).sum::<f64>()
                        }
                    };
                    region[target] / (rate * total) * clip / (regions as f64).sqrt()
                })
                .collect();
            let base = means.iter().map(|mean| against * drawn.unwrap_or(0) as f64 * mean).collect();
            let moved = World::BOTH.map(|world| {
                let factor = copies as f64 * own(world, drawn.is_some()) - against;
                means.iter().map(|mean| factor * mean).collect()
            });
            // Samples of fixed size have no coins that a late vector could keep.
            let one_coin = second_coin.is_empty() || drawn.is_some();
            let included = if one_coin { rate } else { 1.0 - (1.0 - rate) * (1.0 - rate) };
            let gathered =
                Gathered { population: agents, vectors, weights: Arc::new(weights), second_coin, length: 1 };
            // The noise goes by the weights as planned, whoever is there.
            let sd = mechanism.noise_sd(&gathered);
            Round { mechanism, gathered, copies, base, moved, sd, rate: included }
        })
        .collect()
}

/// The agent's vector in units of the clipping norm.
fn own(world: World, fixed_size: bool) -> f64 {
    match world {
        World::Given => 1.0,
        World::Neighbour if fixed_size => -1.0,
        World::Neighbour => 0.0,
    }
}

/// The laws of all broadcasts on this pair, where accountants know them: each round is a Gaussian that the agent moves with
/// the probability that it is in.
fn known_pair(rounds: &[Round], visible: bool) -> Option<KnownPair> {
    let telling = || rounds.iter().filter(|round| round.apart() > 0.0);
    if visible {
        let shown: Vec<(f64, f64)> = telling().map(|round| (round.rate, round.apart())).collect();
        return KnownPair::shown(&shown);
    }
    let cost = |round: &Round| {
        let noise_multiplier = 1.0 / round.apart();
        if round.rate >= 1.0 {
            Some((Cost::Gaussian { noise_multiplier }, 1))
        } else {
            round.is_plain().then_some((Cost::PoissonGaussian { rate: round.rate, noise_multiplier }, 1))
        }
    };
    let costs: Option<Vec<(Cost, u64)>> = telling().map(cost).collect();
    let premise = "the noise is Gaussian, the sampler as stated, and only the noise's size is unknown";
    costs.filter(|costs| !costs.is_empty()).map(|costs| KnownPair::composed(costs, premise))
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
        pair: None,
    };
    experiment.pair = known_pair(&experiment.rounds, experiment.visible);
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
    let statement = Statement {
        name: series.name.clone(),
        about: format!("all {} broadcasts of a run, as the server makes them", prices.len()),
        neighbours: if fixed_size {
            let others = if experiment.rounds.iter().any(|round| round.base.iter().any(|base| *base != 0.0)) {
                "all others' have full norm, against it"
            } else {
                "all others' are zero"
            };
            format!("agent {target}'s vectors of full norm, turned round; {others}")
        } else {
            format!("agent {target} in with vectors of full norm, or out; all others' are zero")
        },
        observer: "every agent".to_owned(),
        delta: delta.get(),
        claim: claimed(&prices, delta),
        proven: upper_bound(&counted, delta.get()),
        disjoint: None,
        broken: false,
    };
    Ok(System::new(statement, experiment))
}

/// What naive code reports for all broadcasts together.
pub(super) fn claimed(prices: &[Price], delta: Delta) -> Option<(f64, String)> {
    let claims = || prices.iter().filter_map(|price| price.claim.as_ref());
    let costs: Composition = claims().filter_map(|claim| claim.cost.as_ref()).map(|cost| (cost, 1)).collect();
    claims().next().map(|claim| (Moments.price(&costs, delta).epsilon, claim.source.clone()))
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
    pair: Option<KnownPair>,
}

impl Broadcasts {
    fn input(&self, round: &Round, world: World) -> Gathered {
        let value = self.clip * own(world, self.fixed_size);
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
        // ln of the ratio of the densities with the agent's vector in and without the agent, by world.
        let along = |world: World| -> f64 {
            let parts = sums
                .iter()
                .zip(&round.base)
                .zip(&round.moved[world.index()])
                .map(|((sum, base), by)| ((sum[0] - base) * by - 0.5 * by * by) / (round.sd * round.sd));
            parts.sum()
        };
        let mixed = |world: World| match coin {
            Some(true) => along(world),
            Some(false) => 0.0,
            None => log_mixture(round.rate, along(world)),
        };
        mixed(World::Given) - mixed(World::Neighbour)
    }
}

/// ln(1 - q + q e^a).
pub(super) fn log_mixture(q: f64, a: f64) -> f64 {
    if q >= 1.0 {
        return a;
    }
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

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
