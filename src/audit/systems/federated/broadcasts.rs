//! All broadcasts of a run with a trusted server, seen by every agent.

use super::claim::claimed;
use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, Transcript, World};
use crate::audit::systems::audited::AuditContext;
use crate::audit::systems::system::{Candidates, System};
use crate::audit::verdict::{Statement, upper_bound};
use crate::privacy::mechanisms::{
    Divisor, FederatedSum, Gathered, Mechanism, Moved, Pair, Participation, Price, RATIO,
};
use crate::protocols::federated::{Aggregate, Federated, FederatedSeries, Late};
use crate::protocols::stage::CountedRelease;
use crate::protocols::{Protocol, Stage};
use crate::rng::Key;
use crate::vocab::{Cost, Delta, Neighbours};
use std::sync::Arc;

/// All broadcasts of one series, on the vectors of each agent that is tried.
pub(super) fn candidates(
    recipe: &Federated,
    (series, aggregate): (&FederatedSeries, &Aggregate),
    ground: &AuditContext<'_>,
    (explored, targets): (&[usize], &[usize]),
    delta: Delta,
) -> Result<Candidates, AuditError> {
    let arrived = arrivals(recipe, series, aggregate, ground.stage, ground.key, explored.len())?;
    let one = |&target: &usize| {
        let rounds = rounds(recipe, series, aggregate, (explored, target), &arrived)?;
        system(series, aggregate, rounds, target, delta)
    };
    targets.iter().map(one).collect()
}

/// The number of answers in time, by round. The series is run to find this number only if the sums depend on it.
fn arrivals(
    recipe: &Federated,
    series: &FederatedSeries,
    aggregate: &Aggregate,
    stage: &Stage,
    key: Key,
    agents: usize,
) -> Result<Vec<usize>, AuditError> {
    if aggregate.divisor == Divisor::Planned {
        return Ok(vec![agents; series.shared_rounds(recipe.rounds) as usize]);
    }
    let alone = Federated { series: vec![series.clone()], ..recipe.clone() };
    let records = alone.play(stage, key)?;
    let mut counts = Vec::new();
    for CountedRelease { event, count, .. } in records.iter().flat_map(|record| &record.releases) {
        let multiplier = match event.cost {
            Cost::PoissonGaussian { noise_multiplier, .. }
            | Cost::FixedSizeGaussian { noise_multiplier, .. }
            | Cost::Gaussian { noise_multiplier } => noise_multiplier,
            _ => continue,
        };
        // With uniform weights the ledger's noise multiplier is z times the share of agents that answered; it is half
        // of that if neighbours may lack an agent, or if an agent is replaced while participation is visible.
        let replaced =
            aggregate.visible_participation && matches!(aggregate.participation, Participation::FixedSize(_));
        let halves = aggregate.divisor == Divisor::ArrivedOrGone || replaced;
        let factor = if halves { 2.0 } else { 1.0 };
        let share = (factor * multiplier / aggregate.noise_multiplier.get()).min(1.0);
        let arrived = ((agents as f64 * share).round() as usize).clamp(1, agents);
        counts.extend(std::iter::repeat_n(arrived, *count as usize));
    }
    if counts.is_empty() {
        return Err(AuditError::scenario(format_args!("series \"{}\" released nothing", series.name)));
    }
    Ok(counts)
}

/// One sum, on its worst known pair of neighbours.
struct Round {
    mechanism: FederatedSum,
    pair: Pair<Gathered>,
    moved: Moved,
}

fn rounds(
    recipe: &Federated,
    series: &FederatedSeries,
    aggregate: &Aggregate,
    (explored, target): (&[usize], usize),
    arrived: &[usize],
) -> Result<Vec<Round>, AuditError> {
    let (agents, regions) = (explored.len(), aggregate.regions.get() as usize);
    (0..arrived.len())
        .map(|k| {
            let mut mechanism = aggregate.mechanism();
            mechanism.excluded_from_claim = k as u64 >= recipe.rounds;
            if let Some(rate) = series.policy.claimed_rate(aggregate.participation, agents) {
                // As the server does: the planned loss assumes that those whose answers were used were
                // sampled at random.
                mechanism.claimed_rate = rate;
            }
            let mut late_sampling_draw = Vec::new();
            let copies = match aggregate.late {
                Late::Discard | Late::KeepLast => 1,
                // Every second answer of the agent is late: the agent is missing in one round and counts twice in the
                // next.
                Late::AddToNext => {
                    mechanism.multiplicity = 2;
                    if k % 2 == 0 { 0 } else { 2 }
                }
                // Every answer of the agent is late.
                Late::ReplaceNext => {
                    mechanism.keeps_sampling_draw = true;
                    if k > 0 {
                        late_sampling_draw.push(target);
                    }
                    usize::from(k > 0)
                }
            };
            // The audited agent and as many others, in order, as answered.
            let others = (0..agents).filter(|agent| *agent != target).take(arrived[k].saturating_sub(1));
            let others = Gathered {
                population: agents,
                vectors: others.map(|agent| (agent, Arc::new(vec![0.0]))).collect(),
                weights: Arc::new(aggregate.weights.at(k as u64, explored, regions)),
                late_sampling_draw,
                length: 1,
            };
            let unknown = || AuditError::scenario("no pair of neighbours is known for these sums");
            let pair = mechanism.pair_of(&others, target, copies).ok_or_else(unknown)?;
            let moved = mechanism.moved([&pair.inputs[0], &pair.inputs[1]]).ok_or_else(unknown)?;
            Ok(Round { mechanism, pair, moved })
        })
        .collect()
}

fn system(
    series: &FederatedSeries,
    aggregate: &Aggregate,
    rounds: Vec<Round>,
    target: usize,
    delta: Delta,
) -> Result<System, AuditError> {
    let fixed_size = matches!(aggregate.participation, Participation::FixedSize(_));
    let neighbours = if fixed_size { Neighbours::ReplaceOne } else { Neighbours::ZeroOut };
    // The cost with the agent present, as in the ledger.
    let price = |round: &Round| round.mechanism.price(&round.pair.inputs[0], &neighbours);
    let prices: Vec<Price> = rounds.iter().map(price).collect::<Result<_, _>>()?;
    let counted: Vec<(&Price, u64)> = prices.iter().map(|price| (price, 1)).collect();
    let visible = aggregate.visible_participation;
    let laws: Vec<_> = rounds.iter().map(|round| round.moved.laws(visible)).collect();
    // The neighbours are described for a round in which the others' vectors are not zero, if there is one.
    let against = rounds.iter().find(|round| round.moved.base.iter().any(|base| *base != 0.0));
    let words = against.or(rounds.first()).map(|round| round.pair.words.clone());
    let statement = Statement {
        name: series.name.clone(),
        about: format!("all {} broadcasts of a run, as the server makes them", prices.len()),
        neighbours: words.unwrap_or_default(),
        observer: "every agent".to_owned(),
        delta: delta.get(),
        claim: claimed(&prices, delta),
        proven: upper_bound(&counted, delta.get()),
        disjoint: None,
        broken: false,
    };
    let pair = KnownPair::of(laws.iter().map(|laws| (laws.as_ref(), 1)));
    Ok(System::new(statement, Broadcasts { rounds, target, visible, pair }))
}

/// All broadcasts of a run, seen by an observer who knows everything except one agent's vectors, who is
/// sampled, and the noise.
struct Broadcasts {
    rounds: Vec<Round>,
    target: usize,
    visible: bool,
    pair: Option<KnownPair>,
}

impl Experiment for Broadcasts {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, AuditError> {
        let mut score = 0.0;
        for (k, Round { mechanism, pair, moved }) in self.rounds.iter().enumerate() {
            let mut stream = key.index(k as u64).stream();
            let input = &pair.inputs[world.index()];
            // Whether the audited agent is sampled, from the random number that the mechanism will use.
            let coin = self.visible.then(|| mechanism.drawn(input, &mut stream.clone())[self.target]);
            let sums = mechanism.privatise(input, &mut stream)?;
            score += moved.log_ratio(sums.iter().flatten().copied(), coin);
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
