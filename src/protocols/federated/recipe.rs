//! What a scenario says about federated optimisation, and how it becomes parties.

use super::agent::Agent;
use super::messages::{Fact, World};
use super::regions::regions_of;
use super::rounds::{Late, RoundPolicy};
use super::server::Server;
use super::tally::Tally;
use super::weights::WeightSchedule;
use super::world::{Common, objective_of};
use crate::gp::{Posterior, WeightPosterior};
use crate::kernel::{Context, Event, Input, Party};
use crate::objectives::Instance;
use crate::privacy::ledger::Meter;
use crate::privacy::mechanisms::{Divisor, FederatedSum, Participation};
use crate::protocols::{JitterWatch, PlayError, Protocol, SeriesRecord, Stage, book};
use crate::rng::Key;
use crate::vocab::{Neighbours, NonNegative, PartyId, Positive, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Agents with an objective each share what they know through a server that they trust.
///
/// Every series is played on the same functions, noise, initial draws and network draws. Reported regrets are means over
/// agents. Sources: Dai, Low and Jaillet 2020 (FTS) and 2021 (FTS-DE, DP-FTS-DE).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Federated {
    /// Name of the party that adds vectors up.
    pub server: String,
    /// The agents, by groups.
    pub groups: Vec<AgentGroup>,
    /// Rounds after the initial points, T.
    pub rounds: u64,
    /// Random points of its own region that each agent measures first. Default: 10.
    #[serde(default = "ten")]
    pub initial_points: u64,
    /// Random Fourier features, M. Default: 50.
    #[serde(default = "fifty")]
    pub features: NonZeroU32,
    /// Standard deviation of what is added to each agent's objective at every point. Default: 0.
    #[serde(default = "zero")]
    pub perturbation: NonNegative,
    /// Factor on the standard deviation in agents' own Thompson sampling. Default: 1.
    #[serde(default = "unit")]
    pub scale: Positive,
    /// What is compared.
    pub series: Vec<FederatedSeries>,
}

fn ten() -> u64 {
    10
}

fn fifty() -> NonZeroU32 {
    const FIFTY: NonZeroU32 = NonZeroU32::new(50).expect("50 is not zero");
    FIFTY
}

fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

fn unit() -> Positive {
    Positive::new(1.0).expect("1 is above 0")
}

/// Agents that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentGroup {
    /// A party, or the group of parties (`count` makes one of the same name).
    pub members: String,
    /// h: each agent's objective is sqrt(1 - h) f + sqrt(h) g, f common to all and g its own. Default: 0.
    #[serde(default = "same")]
    pub heterogeneity: Probability,
}

fn same() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

/// One way to do it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct FederatedSeries {
    /// Name in tables and figures.
    pub name: String,
    /// What agents get to know of each other.
    pub sharing: Sharing,
    /// How often an agent asks the shared vector instead of its own model. Default: `InverseSquareRoot`.
    #[serde(default)]
    pub shared_queries: SharedQueries,
    /// When the server closes a round. Default: when all have answered, after 60 s at the latest.
    #[serde(default)]
    pub policy: RoundPolicy,
}

/// 1 - p_t, the probability that an agent follows the shared vector in round t.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum SharedQueries {
    /// 1 / sqrt(t).
    #[default]
    InverseSquareRoot,
    /// 1 / t.
    Inverse,
    /// 1 / t^2.
    InverseSquare,
}

impl SharedQueries {
    /// The probability in round t = 1, 2, ...
    #[must_use]
    pub fn probability(self, t: u64) -> f64 {
        let t = t.max(1) as f64;
        match self {
            Self::InverseSquareRoot => 1.0 / t.sqrt(),
            Self::Inverse => 1.0 / t,
            Self::InverseSquare => 1.0 / (t * t),
        }
    }
}

/// What agents get to know of each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Sharing {
    /// Nothing: plain Thompson sampling (TS).
    Alone(Alone),
    /// The vector of a random other agent, as it is: the original FTS.
    RandomAgent(RandomAgent),
    /// Weighted sums over a sample of agents: FTS by server, FTS-DE, DP-FTS, DP-FTS-DE.
    Aggregate(Aggregate),
}

/// Plain Thompson sampling: `Alone()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Alone {}

/// The original FTS: `RandomAgent()`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomAgent {}

/// Weighted sums of agents' vectors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// Regions of the domain, P; agent n explores region n mod P. Default: 1.
    #[serde(default = "one")]
    pub regions: NonZeroU32,
    /// S, the norm that vectors are clipped to (S / sqrt(P) for each). Default: no clipping, and no privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clip: Option<Positive>,
    /// z, the noise multiplier. Default: 0, no noise and no privacy.
    #[serde(default = "zero")]
    pub noise_multiplier: NonNegative,
    /// Who takes part in a sum. Default: everybody, `Poisson(1)`.
    #[serde(default = "everybody")]
    pub participation: Participation,
    /// How much each agent counts where. Default: the authors' annealed weights (uniform for one region).
    #[serde(default)]
    pub weights: WeightSchedule,
    /// What the sum is divided by. Default: `Planned`.
    #[serde(default)]
    pub divisor: Divisor,
    /// What happens to answers that come too late. Default: `Discard`.
    #[serde(default)]
    pub late: Late,
    /// Whether agents see who took part. Default: false.
    #[serde(default)]
    pub visible_participation: bool,
}

fn one() -> NonZeroU32 {
    NonZeroU32::MIN
}

fn everybody() -> Participation {
    Participation::Poisson(Probability::new(1.0).expect("1 is a probability"))
}

impl Aggregate {
    /// The sum of a round in which no answer is late.
    #[must_use]
    pub fn mechanism(&self) -> FederatedSum {
        FederatedSum {
            participation: self.participation,
            clip: self.clip,
            noise_multiplier: self.noise_multiplier.get(),
            divisor: self.divisor,
            multiplicity: 1,
            keeps_coin: false,
            visible: self.visible_participation,
        }
    }
}

impl Sharing {
    fn regions(&self) -> usize {
        match self {
            Self::Aggregate(aggregate) => aggregate.regions.get() as usize,
            Self::Alone(_) | Self::RandomAgent(_) => 1,
        }
    }

    fn neighbours(&self) -> Neighbours {
        match self {
            Self::Aggregate(Aggregate { participation: Participation::FixedSize(_), .. }) => {
                Neighbours::ReplaceOne
            }
            Self::Aggregate(_) | Self::Alone(_) | Self::RandomAgent(_) => Neighbours::ZeroOut,
        }
    }
}

/// A party without a part.
#[derive(Debug)]
struct Bystander;

impl Party<World> for Bystander {
    fn handle(&mut self, _: Input<World>, _: &mut Context<'_, World>) {}
}

impl Federated {
    /// How many agents take part.
    #[must_use]
    pub fn agents(&self, stage: &Stage) -> usize {
        self.members(stage).iter().map(|(_, members)| members.len()).sum()
    }

    /// Positions of the parties of each group.
    fn members(&self, stage: &Stage) -> Vec<(String, Vec<usize>)> {
        let is = |name: &str, index: usize| {
            stage.names[index] == name || stage.traits[index].group.as_deref() == Some(name)
        };
        self.groups
            .iter()
            .map(|group| {
                let found = (0..stage.names.len()).filter(|&index| is(&group.members, index)).collect();
                (group.members.clone(), found)
            })
            .collect()
    }

    fn group_problems(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut known: Vec<String> = stage.traits.iter().filter_map(|party| party.group.clone()).collect();
        known.extend(stage.names.iter().filter(|name| **name != self.server).cloned());
        known.sort_unstable();
        known.dedup();
        known.truncate(20);
        let mut taken = vec![None; stage.names.len()];
        for (index, (name, members)) in self.members(stage).into_iter().enumerate() {
            let path = format!("groups[{index}].members");
            if members.is_empty() {
                problems.push(Problem::unknown(&path, "party or group", &name, &known));
            }
            for member in members {
                let cure = "put every agent into one group";
                if stage.names[member] == self.server {
                    let expected = "agents other than the server";
                    problems.push(Problem::wrong(path.clone(), expected, &name, cure));
                } else if let Some(first) = taken[member].replace(index)
                    && first != index
                {
                    let expected = format!("agents that groups[{first}] does not have");
                    problems.push(Problem::wrong(path.clone(), expected, &stage.names[member], cure));
                    break;
                }
            }
        }
        problems
    }
}

impl Protocol for Federated {
    fn problems(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems: Vec<Problem> = stage.party("server", &self.server).err().into_iter().collect();
        problems.extend(self.group_problems(stage));
        let agents: u64 = self.members(stage).iter().map(|(_, members)| members.len() as u64).sum();
        if agents == 0 {
            let cure = "write groups: [AgentGroup(members: \"agent\")] and \"agent\": Party(count: 20)";
            problems.push(Problem::wrong("groups", "at least one agent", "none", cure));
        }
        if self.rounds == 0 {
            problems.push(Problem::wrong("rounds", "at least one round", "0", "the paper uses 40"));
        }
        if self.initial_points == 0 {
            let cure = "the paper uses 10";
            problems.push(Problem::wrong("initial_points", "at least one point", "0", cure));
        }
        if self.series.is_empty() {
            let cure = "add Series(name: .., sharing: ..)";
            problems.push(Problem::wrong("series", "at least one series", "none", cure));
        }
        for (index, series) in self.series.iter().enumerate() {
            let at = |path: &str| format!("series[{index}].{path}");
            if self.series[..index].iter().any(|earlier| earlier.name == series.name) {
                let cure = "give each series a name of its own";
                problems.push(Problem::wrong(
                    at("name"),
                    "a name that no earlier series has",
                    &series.name,
                    cure,
                ));
            }
            problems.extend(series.policy.problems(agents).map(|problem| problem.below(&at("policy"))));
            if let Sharing::Aggregate(aggregate) = &series.sharing {
                let at = |path: &str| at(&format!("sharing.{path}"));
                problems.extend(aggregate.weights.problems().map(|problem| problem.below(&at("weights"))));
                if aggregate.noise_multiplier.get() > 0.0 && aggregate.clip.is_none() {
                    let cure = "clip: 11 (DP-FTS-DE's synthetic experiment)";
                    let expected = "a clipping norm, which the noise is scaled to";
                    problems.push(Problem::wrong(at("clip"), expected, "none, with noise", cure));
                }
                match aggregate.participation {
                    Participation::Poisson(rate) if rate.get() <= 0.0 => {
                        let cure = "write Poisson(0.25)";
                        let expected = "a rate above 0";
                        problems.push(Problem::wrong(at("participation"), expected, "0", cure));
                    }
                    Participation::FixedSize(size) if size == 0 || size > agents => {
                        let expected = format!("a sample of 1 to {agents} agents");
                        let cure = "draw at least one agent, and no more than there are";
                        problems.push(Problem::wrong(at("participation"), expected, size.to_string(), cure));
                    }
                    Participation::Poisson(_) | Participation::FixedSize(_) => {}
                }
                if u64::from(aggregate.regions.get()) > agents.max(1) {
                    let expected = format!("at most one region per agent, {agents}");
                    let found = aggregate.regions.to_string();
                    problems.push(Problem::wrong(at("regions"), expected, found, "lower regions"));
                }
            }
        }
        problems
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn series(&self) -> Vec<String> {
        self.series.iter().map(|series| series.name.clone()).collect()
    }

    fn play(&self, stage: &Stage, key: Key) -> Result<Vec<SeriesRecord>, PlayError> {
        let fail = |reason: String| PlayError::Party { series: "all".to_owned(), reason };
        let Some(instance) = &stage.instance else {
            return Err(fail("the scenario has no objective".to_owned()));
        };
        let common = Arc::new(Common::new(instance, self.features.get() as usize, key).map_err(fail)?);
        let members = self.members(stage);
        let mut agents: Vec<(usize, usize)> = Vec::new();
        for (group, (_, found)) in members.iter().enumerate() {
            agents.extend(found.iter().map(|&party| (party, group)));
        }
        agents.sort_unstable();
        let values = agents
            .iter()
            .enumerate()
            .map(|(n, &(_, group))| objective_of(self, &self.groups[group], n, stage, instance, key))
            .collect::<Result<Vec<_>, String>>()
            .map_err(fail)?;
        let groups: Vec<(String, Vec<usize>)> = members
            .iter()
            .enumerate()
            .map(|(group, (name, _))| {
                let of_group = agents.iter().enumerate().filter(|(_, agent)| agent.1 == group);
                (name.clone(), of_group.map(|(n, _)| n).collect())
            })
            .collect();
        let cast = Cast { recipe: self, stage, instance, common, agents, values, groups, key };
        self.series.iter().map(|series| cast.play(series)).collect()
    }
}

/// Everything that the series of one replication share.
struct Cast<'a> {
    recipe: &'a Federated,
    stage: &'a Stage,
    instance: &'a Instance,
    common: Arc<Common>,
    /// Party and group of each agent.
    agents: Vec<(usize, usize)>,
    values: Vec<Arc<Vec<f64>>>,
    groups: Vec<(String, Vec<usize>)>,
    key: Key,
}

impl Cast<'_> {
    fn play(&self, series: &FederatedSeries) -> Result<SeriesRecord, PlayError> {
        let fail = |reason: String| PlayError::Party { series: series.name.clone(), reason };
        let parties = self.parties(series).map_err(fail)?;
        let mut tally = Tally::new(self.values.clone(), self.recipe.rounds);
        let (mut releases, mut ended_early, mut budget) = (Vec::new(), None, None);
        let mut jitter = self.common.prior.jitter();
        let mut record = self.stage.run(&series.name, parties, self.key, &mut |at, event| {
            if let Event::Recorded { fact, .. } = event {
                match fact {
                    Fact::Released(event) => book(&mut releases, event),
                    Fact::Measured { agent, round, arm, outcome } => {
                        tally.measured(*agent, *round, *arm, *outcome, at);
                    }
                    Fact::Closed { .. } => {}
                    Fact::BudgetReached(reached) => {
                        budget.get_or_insert_with(|| reached.clone());
                    }
                    Fact::Jittered(needed) => jitter = jitter.max(*needed),
                    Fact::Ended { reason } => ended_early = Some(reason.clone()),
                }
            }
        })?;
        let (iterations, groups) = tally.finish(&self.groups);
        record.iterations = iterations;
        record.groups = groups;
        record.releases = releases;
        record.ended_early = ended_early;
        record.budget = budget;
        record.jitter = jitter;
        Ok(record)
    }

    fn parties(&self, series: &FederatedSeries) -> Result<Vec<Box<dyn Party<World>>>, String> {
        let stage = self.stage;
        let server =
            stage.party("server", &self.recipe.server).map_err(|_| "the server is unknown".to_owned())?;
        let regions = series.sharing.regions();
        let region_of = Arc::new(regions_of(&self.instance.inputs, regions));
        let explored: Vec<usize> = (0..self.agents.len()).map(|n| n % regions).collect();
        let id = |party: usize| PartyId(party as u32);
        let count = self.agents.len();
        let mut parties: Vec<Box<dyn Party<World>>> = Vec::with_capacity(stage.names.len());
        parties.resize_with(stage.names.len(), || Box::new(Bystander));
        parties[server.index()] = Box::new(Server {
            agents: self.agents.iter().map(|&(party, _)| id(party)).collect(),
            places: self.agents.iter().enumerate().map(|(n, &(party, _))| (id(party), n)).collect(),
            sharing: series.sharing.clone(),
            policy: series.policy,
            neighbours: series.sharing.neighbours(),
            explored: explored.clone(),
            rounds: self.recipe.rounds,
            length: self.common.m,
            key: self.key.child("party").child(&self.recipe.server),
            meter: Meter::new(stage.budget),
            round: 0,
            open: false,
            timer: None,
            answered: vec![false; count],
            fresh: vec![None; count],
            late: vec![None; count],
            last: vec![None; count],
            buffered: 0,
            stale: 0,
        });
        let shares = !matches!(series.sharing, Sharing::Alone(_));
        let surrogate = &self.common.surrogate;
        for (n, &(party, _)) in self.agents.iter().enumerate() {
            let key = self.key.child("party").child(&stage.names[party]);
            let own: Vec<usize> =
                (0..region_of.len()).filter(|&point| region_of[point] == explored[n]).collect();
            if own.is_empty() {
                return Err(format!("region {} of {regions} has no point", explored[n]));
            }
            let mut stream = key.child("initial points").stream();
            let initial = (0..self.recipe.initial_points)
                .map(|_| own[stream.below(own.len() as u64) as usize])
                .collect();
            // A noise-free objective still needs a ridge.
            let lambda = surrogate.noise_variance.max(1e-6);
            let weights = shares.then(|| WeightPosterior::new(self.common.m, lambda)).transpose();
            parties[party] = Box::new(Agent {
                index: n as u64,
                server,
                server_name: self.recipe.server.clone(),
                neighbours: series.sharing.neighbours(),
                common: Arc::clone(&self.common),
                values: Arc::clone(&self.values[n]),
                initial,
                regions: Arc::clone(&region_of),
                posterior: Posterior::new(
                    self.common.covariance.clone(),
                    surrogate.noise_variance,
                    surrogate.mean,
                ),
                weights: weights.map_err(|error| error.to_string())?,
                shared_queries: series.shared_queries,
                scale: self.recipe.scale.get(),
                rounds: self.recipe.rounds,
                key,
                begun: false,
                last_round: 0,
                measured: 0,
                jitter: JitterWatch::default(),
                meter: Meter::new(None),
            });
        }
        Ok(parties)
    }
}
