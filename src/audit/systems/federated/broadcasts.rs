//! All broadcasts of a run with a trusted server, as every agent sees them.

use super::claim::claimed;
use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, NeighbourSide, Transcript};
use crate::audit::systems::audited::AuditContext;
use crate::audit::systems::system::{Candidates, System};
use crate::audit::verdict::{Statement, upper_bound};
use crate::privacy::mechanisms::{
    AgentRates, Divisor, FederatedSum, Mechanism, Pair, Participation, Price, RATIO, ReceivedVectors,
    SubsampledShift,
};
use crate::protocols::federated::{
    AdaptiveClip, Aggregate, EVERY_AGENT, Federated, FederatedSeries, Late, SelectedWeights,
};
use crate::protocols::stage::{CountedRelease, RoundClosing};
use crate::protocols::{Protocol, ReplicationSetup};
use crate::rng::Key;
use crate::vocab::{Cost, Delta, Neighbours, Positive};
use std::sync::Arc;

/// All broadcasts of one series, for each agent that is tried, on neighbours that differ in this agent's vectors.
pub(super) fn candidates(
    recipe: &Federated,
    (series, aggregate): (&FederatedSeries, &Aggregate),
    context: &AuditContext<'_>,
    (weights, targets): (&SelectedWeights, &[usize]),
    delta: Delta,
) -> Result<Candidates, AuditError> {
    let sums = sums(recipe, series, aggregate, context.stage, context.key)?;
    let levels = recipe.agent_levels(series, context.stage, context.key);
    let rates = levels.map(|all| AgentRates::new(all.iter().map(|level| level.rate).collect()));
    let one = |&target: &usize| {
        let own = rates.as_ref().map(|rates| rates.priced_at(rates.of(target)));
        let rounds = rounds(recipe, series, aggregate, (weights, target, own), &sums)?;
        system(series, aggregate, rounds, target, delta)
    };
    targets.iter().map(one).collect()
}

/// What is known of the answers that entered one sum.
#[derive(Clone, Copy, Debug)]
enum Sum {
    /// The divisor is as planned, so it does not matter who else answered.
    Planned,
    /// The noise multiplier in the ledger; it depends on who answered, because the divisor does.
    Priced(f64),
    /// The sum contains no agent's answer.
    Empty,
}

/// What is known of each sum. If the divisor depends on who answered, the series is run once, on its own. The noise
/// multiplier of each sum, and whether the sum is empty, are then taken from this run.
fn sums(
    recipe: &Federated,
    series: &FederatedSeries,
    aggregate: &Aggregate,
    stage: &ReplicationSetup,
    key: Key,
) -> Result<Vec<Sum>, AuditError> {
    if aggregate.divisor == Divisor::Planned {
        return Ok(vec![Sum::Planned; series.shared_rounds(recipe.rounds) as usize]);
    }
    let alone = Federated { series: vec![series.clone()], ..recipe.clone() };
    let records = alone.play(stage, key)?;
    let mut sums = Vec::new();
    for record in &records {
        let agents = record.releases.iter().filter(|entry| entry.event.observer.0 == EVERY_AGENT);
        for CountedRelease { event, count, .. } in agents {
            let sum = noise_multiplier(&event.cost).map(Sum::Priced);
            sums.extend(sum.into_iter().flat_map(|sum| std::iter::repeat_n(sum, *count as usize)));
        }
        // A sum without any answer has the planned cost, as a sum with all answers has, so empty sums are found from
        // the numbers of answers.
        let used = |closing: &RoundClosing| match aggregate.late {
            Late::Discard if !series.policy.as_dyn().buffers() => closing.in_time,
            _ => closing.in_time + closing.late,
        };
        let mut kept = 0;
        for (sum, closing) in sums.iter_mut().zip(&record.closings) {
            kept = used(closing) + if aggregate.late == Late::KeepLast { kept } else { 0 };
            if kept == 0 {
                *sum = Sum::Empty;
            }
        }
    }
    if sums.is_empty() {
        return Err(AuditError::scenario(format!("series \"{}\" released nothing", series.name)));
    }
    Ok(sums)
}

fn noise_multiplier(cost: &Cost) -> Option<f64> {
    match *cost {
        Cost::PoissonGaussian { noise_multiplier, .. }
        | Cost::FixedSizeGaussian { noise_multiplier, .. }
        | Cost::Gaussian { noise_multiplier } => Some(noise_multiplier),
        _ => None,
    }
}

/// A relative margin for rounding errors in the sums of weights.
const ROUNDED: f64 = 1e-9;

impl Sum {
    /// The worst known pair of neighbours for an agent that enters the sum `copies` times. In the pair for a
    /// [`Self::Priced`] sum, only as many of the other agents (`others`) are present as are needed for a noise
    /// multiplier of at least the one in the ledger. The loss of such a pair is not larger than the loss that the ledger
    /// states for the run's sum, and the two losses are equal if all weights are equal. If no number of other agents
    /// gives this noise multiplier, the sum is empty or all other agents are present.
    fn pair(
        self,
        mechanism: &FederatedSum,
        others: &ReceivedVectors,
        (agent, copies): (usize, usize),
    ) -> Option<Pair<ReceivedVectors>> {
        // If late answers count in addition to current ones (`multiplicity` is then 2), each of the other agents may be
        // in the sum twice.
        let once = others.vectors.len();
        let all = once * mechanism.multiplicity as usize;
        let with = |few: usize| {
            let vectors = others.vectors.iter().cycle().take(few).cloned().collect();
            let others = ReceivedVectors { vectors, ..others.clone() };
            let copies = if matches!(self, Self::Empty) { 0 } else { copies };
            mechanism.pair_of(&others, agent, copies)
        };
        match self {
            Self::Planned => with(once),
            Self::Empty => with(0),
            Self::Priced(recorded) => {
                let enough = |pair: &Pair<ReceivedVectors>| {
                    let given = &pair.inputs[0];
                    let multiplier = noise_multiplier(&mechanism.cost(given));
                    !given.vectors.is_empty()
                        && multiplier.is_some_and(|found| found >= recorded * (1.0 - ROUNDED))
                };
                // If the audited agent is not in the sum, there may be fewer other agents than answers in the run, and
                // too few for this noise multiplier. Then the empty sum is used, which has the planned cost.
                let nobody = || with(0).filter(|_| copies == 0 && mechanism.divisor == Divisor::Arrived);
                (0..=all).filter_map(with).find(enough).or_else(nobody).or_else(|| with(all))
            }
        }
    }
}

/// One sum, on its worst known pair of neighbours.
struct Round {
    mechanism: FederatedSum,
    pair: Pair<ReceivedVectors>,
    moved: SubsampledShift,
    /// The expected number of sampled agents, by which the noisy count of vectors within the clipping norm is divided.
    sampled: f64,
}

impl Round {
    /// The same sum with another clipping norm.
    fn with_norm(&self, norm: Positive, target: usize) -> Option<Self> {
        let mechanism = FederatedSum { clip: Some(norm), ..self.mechanism.clone() };
        let given = &self.pair.inputs[0];
        let copies = given.vectors.iter().filter(|(agent, _)| *agent == target).count();
        let pair = mechanism.pair_of(given, target, copies)?;
        let moved = mechanism.moved([&pair.inputs[0], &pair.inputs[1]])?;
        Some(Self { mechanism, pair, moved, sampled: self.sampled })
    }
}

fn rounds(
    recipe: &Federated,
    series: &FederatedSeries,
    aggregate: &Aggregate,
    (selected, target, rates): (&SelectedWeights, usize, Option<AgentRates>),
    sums: &[Sum],
) -> Result<Vec<Round>, AuditError> {
    sums.iter()
        .enumerate()
        .map(|(k, sum)| {
            let weights = selected.at(k as u64);
            let agents = weights.first().map_or(0, Vec::len);
            let asked = selected.asked();
            let mut mechanism = aggregate.mechanism(asked);
            mechanism.rates.clone_from(&rates);
            mechanism.excluded_from_claim = k as u64 >= recipe.rounds;
            // As in the server's ledger, the claim assumes that the agents whose answers were used are a random sample.
            mechanism.claimed_rate = series.policy.claimed_rate(aggregate.participation, asked as usize);
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
            let is_asked = |agent: &usize| weights.iter().any(|region| region[*agent] > 0.0);
            let others = (0..agents).filter(|agent| *agent != target && is_asked(agent));
            let others = ReceivedVectors {
                population: agents,
                vectors: others.map(|agent| (agent, Arc::new(vec![0.0]))).collect(),
                weights: Arc::new(weights),
                late_sampling_draw,
                length: 1,
                discounts: Vec::new(),
            };
            let unknown = || AuditError::scenario("no pair of neighbours is known for these sums");
            let pair = sum.pair(&mechanism, &others, (target, copies)).ok_or_else(unknown)?;
            let moved = mechanism.moved([&pair.inputs[0], &pair.inputs[1]]).ok_or_else(unknown)?;
            let sampled = match aggregate.divisor {
                Divisor::Arrived => aggregate.planned(pair.inputs[0].vectors.len() as u64),
                Divisor::Planned | Divisor::ArrivedOrGone => aggregate.planned(asked),
            };
            Ok(Round { mechanism, pair, moved, sampled })
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
    // The cost of a round's sum on the given data, the first input of the pair.
    let price = |round: &Round| round.mechanism.price(&round.pair.inputs[0], &neighbours);
    let prices: Vec<Price> = rounds.iter().map(price).collect::<Result<_, _>>()?;
    let counted: Vec<(&Price, u64)> = prices.iter().map(|price| (price, 1)).collect();
    let visible = aggregate.visible_participation;
    let laws: Vec<_> = rounds.iter().map(|round| round.moved.laws(visible)).collect();
    // The words that describe the neighbours are from a round in which the other agents' vectors are not zero, if there
    // is such a round.
    let against = rounds.iter().find(|round| round.moved.base.iter().any(|base| *base != 0.0));
    let words = against.or(rounds.first()).map(|round| round.pair.words.clone());
    let statement = Statement {
        name: series.name.clone(),
        about: match aggregate.adaptive_clip {
            None => format!("all {} broadcasts of a run, as the server makes them", prices.len()),
            Some(_) => format!(
                "all {} broadcasts of a run with the counts that the clipping norm follows, as the server makes them",
                prices.len()
            ),
        },
        neighbours: words.unwrap_or_default(),
        observer: EVERY_AGENT.to_owned(),
        delta: delta.get(),
        claim: claimed(&prices, delta),
        proven: upper_bound(&counted, delta.get()),
        disjoint: None,
        broken: false,
    };
    let pair = KnownPair::of(laws.iter().map(|laws| (laws.as_ref(), 1)));
    let adaptive = aggregate.adaptive_clip;
    Ok(System::new(statement, Broadcasts { rounds, target, visible, adaptive, pair }))
}

/// All broadcasts of a run, seen by an observer who knows everything except one agent's vectors, the noise, and
/// (unless participation is visible) which agents are sampled.
struct Broadcasts {
    rounds: Vec<Round>,
    target: usize,
    visible: bool,
    adaptive: Option<AdaptiveClip>,
    pair: Option<KnownPair>,
}

impl Experiment for Broadcasts {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let mut score = 0.0;
        let mut followed: Option<Round> = None;
        for (k, round) in self.rounds.iter().enumerate() {
            let Round { mechanism, pair, moved, sampled } = followed.as_ref().unwrap_or(round);
            let mut stream = key.index(k as u64).stream();
            let input = &pair.inputs[side.index()];
            // Whether the audited agent is sampled, from the random number that the mechanism will use.
            let coin = self.visible.then(|| mechanism.drawn(input, &mut stream.clone())[self.target]);
            let sums = mechanism.privatise(input, &mut stream)?;
            score += moved.log_ratio(mechanism.of_equal_noise(input, &sums).into_iter(), coin);
            if let (Some(adaptive), Some(first), Some(norm)) =
                (self.adaptive, round.mechanism.clip, mechanism.clip)
                && let (Some(next), Some([count])) = (self.rounds.get(k + 1), sums.last().map(Vec::as_slice))
            {
                let norm = adaptive.next(norm, AdaptiveClip::share(*count, *sampled), first);
                followed = next.with_norm(norm, self.target);
            }
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
