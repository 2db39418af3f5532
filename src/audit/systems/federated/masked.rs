//! Audits of federated optimisation with masks: the sums, as the server sees them and as an agent sees them.

use super::claim::claimed;
use crate::accounting::CountedRelease;
use crate::audit::error::AuditError;
use crate::audit::measure::{Experiment, KnownPair, NeighbourSide, Transcript};
use crate::audit::systems::audited::AuditContext;
use crate::audit::systems::system::{Candidates, NotAuditedReason, System};
use crate::audit::verdict::{Statement, upper_bound};
use crate::privacy::mechanisms::{
    Mechanism, Participation, Price, RATIO, SecureSum, SecureSumOutput, SubsampledShift,
};
use crate::protocols::federated::{
    Aggregate, EVERY_AGENT, Federated, FederatedSeries, MaskedRound, Placement,
};
use crate::protocols::{Protocol, ReplicationSetup};
use crate::rng::Key;
use crate::vocab::{Cost, Delta, Neighbours, counted};
use std::collections::BTreeSet;

/// Two lists of candidates, both for the sums of one series that are computed in a run. The first list is for these
/// sums as the server sees them, the second for these sums as an agent sees them.
pub(super) fn candidates(
    recipe: &Federated,
    (series, aggregate): (&FederatedSeries, &Aggregate),
    context: &AuditContext<'_>,
    (placement, targets): (&Placement, &[usize]),
    delta: Delta,
) -> Result<Vec<Candidates>, NotAuditedReason> {
    if matches!(aggregate.participation, Participation::FixedSize(_)) {
        return Err(NotAuditedReason::NoAttack("under masks no party can draw a sample of fixed size"));
    }
    // Noise and sampling are drawn again in every trial. The secrets of the masks are not drawn again: masks cancel
    // whatever the secrets are.
    let masked = || MaskedRound::new(aggregate, placement, 1, context.key.child("audit").child("secrets"));
    let opened = unmasked(recipe, series, &masked(), (context.stage, context.key))?;
    let rate = series.policy.claimed_rate(aggregate.participation, placement.agents());
    let view = |observer: Observer, target: usize| -> Result<System, AuditError> {
        let audit = ObservedSums::new(masked(), &opened, (target, observer), (recipe.rounds, rate));
        let prices = audit.prices()?;
        let each: Vec<(&Price, u64)> = prices.iter().map(|price| (price, 1)).collect();
        let fewest = opened.iter().map(|(_, survivors)| *survivors).min().unwrap_or(0);
        let knows = match (observer, audit.pooled.len()) {
            (_, 0) => String::new(),
            (Observer::Server, known) => {
                format!("; {} collude with the server", counted(known as u64, "agent"))
            }
            (Observer::Agents, 1) => "; an agent knows its own share".to_owned(),
            (Observer::Agents, known) => format!("; {} collude", counted(known as u64, "agent")),
        };
        let statement = Statement {
            name: match observer {
                Observer::Server => format!("{}, server", series.name),
                Observer::Agents => format!("{}, agents", series.name),
            },
            about: format!(
                "the {} sums that were computed in a run; each has at least {fewest} shares of noise ({} were planned){}",
                prices.len(),
                audit.masked.planned_shares(),
                knows
            ),
            neighbours: format!(
                "the vectors of agent {target}, of full norm or zero; those of all other agents are zero"
            ),
            observer: match observer {
                Observer::Server => recipe.server.clone(),
                Observer::Agents => EVERY_AGENT.to_owned(),
            },
            delta: delta.get(),
            claim: claimed(&prices, delta),
            proven: upper_bound(&each, delta.get()),
            disjoint: None,
            broken: false,
        };
        Ok(System::new(statement, audit))
    };
    let seen_by = |observer| -> Result<Candidates, AuditError> {
        targets.iter().map(|&target| view(observer, target)).collect()
    };
    Ok(vec![seen_by(Observer::Server)?, seen_by(Observer::Agents)?])
}

/// The observer of the sums.
#[derive(Clone, Copy, Debug)]
enum Observer {
    /// The server, with the agents that collude with it.
    Server,
    /// An agent, or all agents that collude.
    Agents,
}

impl Observer {
    /// The agents whose parts (weighted vector and share of the noise) the observer knows; the target is none of them.
    fn pooled(self, masked: &MaskedRound, target: usize) -> Vec<usize> {
        let known = match self {
            Self::Server => masked.colluding(),
            Self::Agents => masked.colluding().max(1),
        };
        (0..).filter(|agent| *agent != target).take(known).collect()
    }

    /// The mechanism whose price the ledger records for this observer and for sums over `survivors` answers.
    fn price(self, masked: &MaskedRound, survivors: u64) -> SecureSum {
        match self {
            Self::Server => masked.seen_by_server(survivors),
            Self::Agents => masked.seen_by_agents(survivors),
        }
    }
}

/// The rounds whose sums are computed in one replication, each with the number of noise shares in its sums.
fn unmasked(
    recipe: &Federated,
    series: &FederatedSeries,
    masked: &MaskedRound,
    (stage, key): (&ReplicationSetup, Key),
) -> Result<Vec<(u64, u64)>, NotAuditedReason> {
    let alone = Federated { series: vec![series.clone()], ..recipe.clone() };
    let records = alone.play(stage, key).map_err(AuditError::from)?;
    let multiplier = |cost: &Cost| match cost {
        Cost::PoissonGaussian { noise_multiplier, .. } | Cost::Gaussian { noise_multiplier } => {
            Some(*noise_multiplier)
        }
        _ => None,
    };
    let planned = masked.planned_shares() as f64;
    let mut opened = Vec::new();
    let of_server = records
        .iter()
        .flat_map(|record| &record.releases)
        .filter(|entry| entry.event.observer.0 == recipe.server);
    let entries: Vec<&CountedRelease> = of_server.collect();
    let mut taken: BTreeSet<u64> = entries.iter().filter_map(|entry| entry.rounds()).flatten().collect();
    for entry in entries {
        for round in rounds_of(entry, masked, &mut taken)? {
            // The ledger counts the rounds of sums from 1; here they are counted from 0. The noise multiplier of an entry is
            // proportional to the square root of the number of noise shares that the server does not know.
            let round = round.saturating_sub(1);
            let as_planned = multiplier(&masked.mechanism().cost(&masked.plan(round)));
            if let (Some(as_planned), Some(actual)) = (as_planned, multiplier(&entry.event.cost)) {
                let unknown = (planned * (actual / as_planned).powi(2)).round() as u64;
                opened.push((round, unknown + masked.colluding() as u64));
            }
        }
    }
    if opened.is_empty() {
        return Err(NotAuditedReason::NoAttack(
            "in the replication that is audited no round had enough answers for a sum",
        ));
    }
    Ok(opened)
}

/// The rounds, from 1, of the sums of a ledger entry. If the entry does not state these rounds, the audit takes as many
/// rounds as the entry has sums. It takes the first rounds, from the first to the last round of the entry, that are not
/// in `taken`, and adds them to `taken`. Which rounds are taken does not matter if the agents have the same weights in
/// all rounds of this range; if the weights differ, the sums are not audited.
fn rounds_of(
    entry: &CountedRelease,
    masked: &MaskedRound,
    taken: &mut BTreeSet<u64>,
) -> Result<Vec<u64>, NotAuditedReason> {
    if let Some(rounds) = entry.rounds() {
        return Ok(rounds);
    }
    let weights = |round: u64| masked.plan(round.saturating_sub(1)).weights;
    let (first, last) = (entry.event.round, entry.last_round);
    if (first..=last).any(|round| weights(round) != weights(first)) {
        return Err(NotAuditedReason::NoAttack(
            "some rounds were given up and the agents' weights changed: the ledger does not say in which rounds the sums \
             with the same privacy loss were computed",
        ));
    }
    let free = (first..=last).filter(|round| !taken.contains(round));
    let rounds: Vec<u64> = free.take(entry.count as usize).collect();
    taken.extend(&rounds);
    Ok(rounds)
}

/// One round with a sum, on its worst known pair of neighbours.
struct ObservedRound {
    round: u64,
    survivors: u64,
    mechanism: SecureSum,
    moved: SubsampledShift,
}

/// All sums of a run, seen by an observer who subtracts the parts that it knows.
struct ObservedSums {
    masked: MaskedRound,
    rounds: Vec<ObservedRound>,
    target: usize,
    /// Agents whose parts (weighted vector and share of the noise) the observer knows.
    pooled: Vec<usize>,
    pair: Option<KnownPair>,
}

impl ObservedSums {
    /// The sums of a run, as `observer` sees them. `opened` has each round with sums and the number of noise shares in
    /// them, one per answer. As in the ledger, the claim covers the first `rounds` rounds. It is computed at the rate
    /// `claimed_rate`, or at the sampling rate if `claimed_rate` is `None`.
    fn new(
        masked: MaskedRound,
        opened: &[(u64, u64)],
        (target, observer): (usize, Observer),
        (rounds, claimed_rate): (u64, Option<f64>),
    ) -> Self {
        let one = |&(round, survivors): &(u64, u64)| {
            let mut mechanism = observer.price(&masked, survivors);
            mechanism.sum.claimed_rate = claimed_rate;
            mechanism.sum.excluded_from_claim = round >= rounds;
            let moved = mechanism.moved(&masked.plan(round), target);
            ObservedRound { round, survivors, mechanism, moved }
        };
        let rounds: Vec<ObservedRound> = opened.iter().map(one).collect();
        let premise = "every agent's share of the noise is Gaussian, sampling is as stated, and only the noise's \
                       size is unknown";
        let protected = rounds.iter().all(|round| round.moved.sd > 0.0 && round.moved.mean_distance() > 0.0);
        let laws: Vec<_> = rounds.iter().map(|round| round.moved.laws(false).filter(|_| protected)).collect();
        let pair = KnownPair::of(laws.iter().map(|laws| (laws.as_ref(), 1)));
        let pair = pair.map(|pair| pair.on_premise(premise));
        let pooled = observer.pooled(&masked, target);
        Self { masked, rounds, target, pooled, pair }
    }

    fn prices(&self) -> Result<Vec<Price>, AuditError> {
        let price = |round: &ObservedRound| {
            let opened = SecureSumOutput { plan: self.masked.plan(round.round), sums: Vec::new() };
            round.mechanism.price(&opened, &Neighbours::ZeroOut).map_err(AuditError::from)
        };
        self.rounds.iter().map(price).collect()
    }
}

impl Experiment for ObservedSums {
    fn tests(&self) -> Vec<String> {
        vec![RATIO.to_owned()]
    }

    fn trial(&self, side: NeighbourSide, key: Key) -> Result<Transcript, AuditError> {
        let mut score = 0.0;
        for round in &self.rounds {
            // The audited agent answers first, then the agents whose parts the observer knows, and then the other
            // agents in order, until as many agents have answered as in the run.
            let first = || std::iter::once(self.target).chain(self.pooled.iter().copied());
            let rest = (0..).filter(|agent| first().all(|other| other != *agent));
            let answered: Vec<usize> = first().chain(rest).take(round.survivors as usize).collect();
            let mut parts = Vec::with_capacity(answered.len());
            for &agent in &answered {
                // On D, the vector of the audited agent is longer than any clipping norm, and the agent clips it.
                let present = agent == self.target && side == NeighbourSide::Given;
                let omega = vec![if present { f64::from(1u32 << 30) } else { 0.0 }];
                parts.push(self.masked.part(agent, round.round, omega, &key.index(agent as u64)));
            }
            let plan = self.masked.plan(round.round);
            let opened = SecureSumOutput { plan, sums: self.masked.unmasked(&parts) };
            let mut stream = key.child("sum").index(round.round).stream();
            let sums = round.mechanism.privatise(&opened, &mut stream)?;
            // The target's part comes first, then the parts that the observer knows.
            let known = self.masked.unmasked(parts.iter().skip(1).take(self.pooled.len()));
            let rest = sums.iter().zip(&known).map(|(sum, known)| sum[0] - known[0]);
            score += round.moved.log_ratio(rest, None);
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
