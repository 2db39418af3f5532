//! Federated optimisation under masks: the sums that a server opens, as it sees them itself and as an agent does.

use super::federated::{claimed, log_mixture};
use super::{Candidates, System, Why};
use crate::audit::{Experiment, KnownPair, Statement, Transcript, World, upper_bound};
use crate::privacy::mechanisms::{Mechanism, OpenedSum, Participation, Price, SecureSum};
use crate::protocols::federated::{Aggregate, Federated, FederatedSeries, Rehearsal};
use crate::protocols::{Protocol, Stage};
use crate::rng::Key;
use crate::vocab::{Cost, Delta, Neighbours, counted};

/// The opened sums of one series, once for each of the two observers.
pub(super) fn candidates(
    recipe: &Federated,
    (series, aggregate): (&FederatedSeries, &Aggregate),
    (stage, key): (&Stage, Key),
    (explored, targets): (&[usize], &[usize]),
    delta: Delta,
) -> Result<Vec<Candidates>, Why> {
    let Participation::Poisson(rate) = aggregate.participation else {
        return Err(Why::beyond("under masks nobody can draw a sample of fixed size"));
    };
    // Secrets and coins are drawn anew in every trial; masks cancel whatever they are.
    let rehearsal = || Rehearsal::new(aggregate, explored, 1, key.child("audit").child("secrets"));
    let opened = opened(recipe, series, &rehearsal(), (stage, key))?;
    let view = |observer: Observer, target: usize| -> Result<System, String> {
        let rehearsal = rehearsal();
        let pooled = observer.pooled(&rehearsal, target);
        let rounds = opened
            .iter()
            .map(|&(round, survivors)| {
                Opened::new(&rehearsal, aggregate, (round, survivors), target, pooled.len())
            })
            .collect();
        let parts = (rehearsal, rounds, target, observer, pooled);
        let mut audit = OpenedSums::new(parts, rate.get());
        audit.pair = audit.known_pair();
        let prices = audit.prices()?;
        let each: Vec<(&Price, u64)> = prices.iter().map(|price| (price, 1)).collect();
        let fewest = opened.iter().map(|(_, survivors)| *survivors).min().unwrap_or(0);
        let knows = match (observer, audit.pooled.len()) {
            (_, 0) => String::new(),
            (Observer::Server, known) => {
                format!("; {} pool what they know with the server", counted(known as u64, "agent"))
            }
            (Observer::Agents, 1) => "; an agent knows its own share".to_owned(),
            (Observer::Agents, known) => format!("; {} pool what they know", counted(known as u64, "agent")),
        };
        let statement = Statement {
            name: match observer {
                Observer::Server => format!("{}, server", series.name),
                Observer::Agents => format!("{}, agents", series.name),
            },
            about: format!(
                "the {} sums of a run that were opened, {fewest} or more shares of noise in each, {} planned{}",
                prices.len(),
                audit.rehearsal.planned_shares(),
                knows
            ),
            neighbours: format!("agent {target} with vectors of full norm, or zero; all others' are zero"),
            observer: match observer {
                Observer::Server => recipe.server.clone(),
                Observer::Agents => "every agent".to_owned(),
            },
            delta: delta.get(),
            claim: claimed(&prices, delta),
            proven: upper_bound(&each, delta.get()),
            disjoint: None,
            broken: false,
        };
        Ok(System::new(statement, audit))
    };
    let seen_by = |observer| targets.iter().map(|&target| view(observer, target)).collect();
    let (by_server, by_agents): (Result<Candidates, String>, Result<Candidates, String>) =
        (seen_by(Observer::Server), seen_by(Observer::Agents));
    Ok(vec![by_server?, by_agents?])
}

/// Who looks at the opened sums.
#[derive(Clone, Copy, Debug)]
enum Observer {
    /// The server, with the agents that pool with it.
    Server,
    /// An agent, or as many as pool what they know.
    Agents,
}

impl Observer {
    /// Agents other than the target whose parts it knows.
    fn pooled(self, rehearsal: &Rehearsal, target: usize) -> Vec<usize> {
        let known = match self {
            Self::Server => rehearsal.colluding(),
            Self::Agents => rehearsal.colluding().max(1),
        };
        (0..).filter(|agent| *agent != target).take(known).collect()
    }

    /// What the ledger books for it.
    fn price(self, rehearsal: &Rehearsal, survivors: u64) -> SecureSum {
        match self {
            Self::Server => rehearsal.seen_by_server(survivors),
            Self::Agents => rehearsal.seen_by_agents(survivors),
        }
    }
}

/// The rounds that are opened in one played replication, each with the shares of noise in its sums.
fn opened(
    recipe: &Federated,
    series: &FederatedSeries,
    rehearsal: &Rehearsal,
    (stage, key): (&Stage, Key),
) -> Result<Vec<(u64, u64)>, Why> {
    let alone = Federated { series: vec![series.clone()], ..recipe.clone() };
    let records = alone.play(stage, key).map_err(|error| error.to_string())?;
    let multiplier = |cost: &Cost| match cost {
        Cost::PoissonGaussian { noise_multiplier, .. } | Cost::Gaussian { noise_multiplier } => {
            Some(*noise_multiplier)
        }
        _ => None,
    };
    let planned = rehearsal.planned_shares() as f64;
    let mut opened = Vec::new();
    let of_server = records
        .iter()
        .flat_map(|record| &record.releases)
        .filter(|booked| booked.event.observer.0 == recipe.server);
    for booked in of_server {
        for round in booked.event.round..booked.event.round + booked.count {
            // The ledger counts rounds from 1, and its multiplier goes by the root of the shares that
            // the server does not know.
            let round = round.saturating_sub(1);
            let as_planned = multiplier(&rehearsal.mechanism().cost(&rehearsal.plan(round)));
            if let (Some(as_planned), Some(came)) = (as_planned, multiplier(&booked.event.cost)) {
                let unknown = (planned * (came / as_planned).powi(2)).round() as u64;
                opened.push((round, unknown + rehearsal.colluding() as u64));
            }
        }
    }
    if opened.is_empty() {
        return Err(Why::beyond(
            "in the replication that is audited no round had enough answers to be opened",
        ));
    }
    Ok(opened)
}

/// One opened round.
struct Opened {
    round: u64,
    survivors: u64,
    /// By region, what the agent's vector of full norm adds if its coin falls.
    moved: Vec<f64>,
    /// Standard deviation of the noise that the observer does not know.
    sd: f64,
}

impl Opened {
    fn new(
        rehearsal: &Rehearsal,
        aggregate: &Aggregate,
        (round, survivors): (u64, u64),
        target: usize,
        known: usize,
    ) -> Self {
        let plan = rehearsal.plan(round);
        let mechanism = rehearsal.mechanism();
        let rate = match aggregate.participation {
            Participation::Poisson(rate) => rate.get(),
            Participation::FixedSize(size) => size as f64 / plan.population as f64,
        };
        let clip = aggregate.clip.map_or(0.0, |clip| clip.get());
        let unit = clip / (plan.weights.len() as f64).sqrt() / rate;
        let unknown = survivors.saturating_sub(known as u64);
        let share = (unknown as f64 / rehearsal.planned_shares() as f64).sqrt();
        let moved = plan.weights.iter().map(|region| region[target] * unit).collect();
        Self { round, survivors, moved, sd: mechanism.noise_sd(&plan) * share }
    }

    fn distance(&self) -> f64 {
        self.moved.iter().map(|by| by * by).sum::<f64>().sqrt() / self.sd
    }
}

/// All sums that are opened in a run, seen by somebody who takes off the parts that it knows.
struct OpenedSums {
    rehearsal: Rehearsal,
    rounds: Vec<Opened>,
    target: usize,
    observer: Observer,
    /// Agents whose parts the observer knows.
    pooled: Vec<usize>,
    rate: f64,
    pair: Option<KnownPair>,
}

impl OpenedSums {
    fn new(
        (rehearsal, rounds, target, observer, pooled): (Rehearsal, Vec<Opened>, usize, Observer, Vec<usize>),
        rate: f64,
    ) -> Self {
        Self { rehearsal, rounds, target, observer, pooled, rate, pair: None }
    }

    fn known_pair(&self) -> Option<KnownPair> {
        let cost = |round: &Opened| {
            let noise_multiplier = 1.0 / round.distance();
            if self.rate >= 1.0 {
                (Cost::Gaussian { noise_multiplier }, 1)
            } else {
                (Cost::PoissonGaussian { rate: self.rate, noise_multiplier }, 1)
            }
        };
        let premise = "every agent's share of the noise is Gaussian, coins are tossed as stated, and only the noise's \
                       size is unknown";
        let protected = self.rounds.iter().all(|round| round.sd > 0.0 && round.distance() > 0.0);
        protected.then(|| KnownPair::composed(self.rounds.iter().map(cost).collect(), premise))
    }

    fn mechanism(&self, round: &Opened) -> SecureSum {
        self.observer.price(&self.rehearsal, round.survivors)
    }

    fn prices(&self) -> Result<Vec<Price>, String> {
        let price = |round: &Opened| {
            let opened = OpenedSum { plan: self.rehearsal.plan(round.round), sums: Vec::new() };
            self.mechanism(round).price(&opened, &Neighbours::ZeroOut).map_err(|error| error.to_string())
        };
        self.rounds.iter().map(price).collect()
    }
}

impl Experiment for OpenedSums {
    fn tests(&self) -> Vec<String> {
        vec!["likelihood ratio".to_owned()]
    }

    fn trial(&self, world: World, key: Key) -> Result<Transcript, String> {
        let mut score = 0.0;
        for round in &self.rounds {
            // The audited agent and those who pool answer, and others in order, as many as did.
            let first = || std::iter::once(self.target).chain(self.pooled.iter().copied());
            let rest = (0..).filter(|agent| first().all(|other| other != *agent));
            let answered: Vec<usize> = first().chain(rest).take(round.survivors as usize).collect();
            let mut parts = Vec::with_capacity(answered.len());
            for &agent in &answered {
                // Beyond any clipping norm: the agent clips it itself.
                let present = agent == self.target && world == World::Given;
                let omega = vec![if present { f64::from(1u32 << 30) } else { 0.0 }];
                parts.push(self.rehearsal.part(agent, round.round, omega, &key.index(agent as u64)));
            }
            let plan = self.rehearsal.plan(round.round);
            let opened = OpenedSum { plan, sums: self.rehearsal.opened(&parts) };
            let sums = self
                .mechanism(round)
                .privatise(&opened, &mut key.child("sum").index(round.round).stream())
                .map_err(|error| error.to_string())?;
            // The target's part is the first; those of the agents that pool follow it.
            let known = self.rehearsal.opened(parts.iter().skip(1).take(self.pooled.len()));
            let variance = round.sd * round.sd;
            let along: f64 = round
                .moved
                .iter()
                .enumerate()
                .map(|(region, by)| {
                    let rest = sums[region][0] - known[region][0];
                    (rest * by - 0.5 * by * by) / variance
                })
                .sum();
            score += log_mixture(self.rate, along);
        }
        Ok(Transcript::rounded(vec![score]))
    }

    fn pair(&self) -> Option<&KnownPair> {
        self.pair.as_ref()
    }
}
