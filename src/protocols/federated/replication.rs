//! The parties of every series of one replication, and the records of what they do.

use super::agent::Agent;
use super::answers::Answers;
use super::common::AgentCommon;
use super::contribution::MaskingContract;
use super::dissimilarity::{common_optimum_gap, common_share, mean_correlation};
use super::failure::StartError;
use super::key_exchange_state::Setup;
use super::mask_graph::MaskGraph;
use super::masking::MaskSecrets;
use super::messages::{Clipped, FederatedProtocol, OwnFact};
use super::own_model::OwnModel;
use super::placement::Placement;
use super::public;
use super::queries::InitialPoints;
use super::query::Query;
use super::recipe::Federated;
use super::regions::Regions;
use super::roster::Roster;
use super::series::{AgentGroup, Aggregate, FederatedSeries, Sharing};
use super::server::Server;
use super::shared_model::SharedModel;
use super::silence::AgentSilence;
use super::tally::Tally;
use super::theorem::Terms;
use crate::gp::GpError;
use crate::kernel::Party;
use crate::objectives::Instance;
use crate::privacy::ledger::BudgetMeter;
use crate::protocols::stage::differences::OwnFunction;
use crate::protocols::stage::differences::OwnProblem;
use crate::protocols::stage::{
    JitterWatch, QueriedArms, QueriedInputs, Releases, ReplicationError, ReplicationSetup, RoundTrack,
    SeriesOutcome, SeriesRecord,
};
use crate::rng::Key;
use crate::vocab::{PartyId, Positive, PublicFact};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the series of one replication have in common.
pub(super) struct Replication<'a> {
    pub(super) recipe: &'a Federated,
    pub(super) stage: &'a ReplicationSetup,
    pub(super) instance: &'a Instance,
    pub(super) common: Arc<AgentCommon>,
    /// Party and group of each agent.
    pub(super) agents: Vec<(usize, usize)>,
    /// The problem of each agent.
    pub(super) own: Vec<OwnProblem>,
    pub(super) groups: Vec<(String, Vec<usize>)>,
    pub(super) key: Key,
}

impl Replication<'_> {
    pub(super) fn play(&self, series: &FederatedSeries) -> Result<SeriesRecord, ReplicationError> {
        let failed = |error| ReplicationError::party(&series.name, error);
        let widths = self.widths().map_err(StartError::from).map_err(failed)?;
        let parties = self.parties(series, &widths).map_err(failed)?;
        let shared = match series.sharing {
            Sharing::Alone(_) => 0,
            Sharing::RandomAgent(_) | Sharing::Aggregate(_) => series.shared_rounds(self.recipe.rounds),
        };
        let functions: Vec<Arc<OwnFunction>> = self.own.iter().map(|own| Arc::clone(&own.function)).collect();
        let mut tally = Tally::new(functions, self.recipe.rounds, shared);
        let mut counts = BTreeMap::new();
        let mut together = 0;
        // Length-scale of each agent's last fit.
        let mut fitted = BTreeMap::new();
        let releases = Releases::in_order();
        let mut record =
            self.stage.play(&series.name, parties, self.key, releases, &mut |at, fact| match fact {
                OwnFact::Measured { agent, round, arm, outcome, shared } => {
                    tally.measured(*agent, *round, (*arm, *shared), *outcome, at);
                }
                OwnFact::MeasuredAt { agent, round, point, outcome, shared } => {
                    tally.measured_at(*agent, *round, (point, *shared), *outcome, at);
                }
                OwnFact::Closed { round, fresh, late, asked, clipped, heard } => {
                    tally.closed(*round, (*fresh, *late, *asked), (*clipped, heard), at);
                }
                OwnFact::ClipFollowed { round, within, norm } => tally.norm(*round, *norm, *within),
                OwnFact::SetUp { members } => {
                    together = *members;
                    *counts.entry("agents in masked sums".to_owned()).or_default() += members;
                }
                OwnFact::Unmasked { survivors, .. } => {
                    *counts.entry("rounds unmasked".to_owned()).or_default() += 1;
                    *counts.entry("masks removed".to_owned()).or_default() += together - survivors;
                }
                OwnFact::GivenUp { .. } => *counts.entry("rounds given up".to_owned()).or_default() += 1,
                OwnFact::OpenedLate { .. } => {
                    *counts.entry("rounds given up that the server can unmask".to_owned()).or_default() += 1;
                }
                OwnFact::Fitted { agent, length_scale, .. } => {
                    *counts.entry("fits of agents' own models".to_owned()).or_default() += 1;
                    fitted.insert(*agent, *length_scale);
                }
            })?;
        record.jitter = record.jitter.max(self.common.prior_jitter());
        let named = |name: &str, value| SeriesOutcome::new(name, value);
        let own = self.instance.background.agents.is_some() && self.instance.background.points.is_none();
        if own
            && !self.recipe.groups.iter().any(|group| group.differences.in_scale())
            && let Some((most, mean)) = tally.best_found()
        {
            // If functions deviate from the objective, their values are not performances (such as accuracies).
            let deviates =
                self.recipe.groups.iter().any(AgentGroup::deviates) || self.recipe.perturbation.get() > 0.0;
            if self.instance.background.performances && !deviates {
                record.outcomes = vec![
                    named("1 - best performance of any agent", 1.0 - most),
                    named("1 - best performance, mean of agents", 1.0 - mean),
                ];
                record.by_round.push(tally.best_outcomes());
            }
            if let Some((followed, random)) = tally.shared_queries() {
                record.outcomes.push(named("value at queries that followed shared vectors", followed));
                record.outcomes.push(named("value at a random point in their place", random));
            }
        }
        record.by_round.extend(tally.clipped_shares());
        record.by_round.extend(tally.norms(series.sharing.clip().map_or(0.0, Positive::get)));
        record.by_round.extend(widths_by_round(&widths));
        let terms = self.terms(series, &tally.clipped());
        record.by_round.extend(terms.map_err(|error| ReplicationError::party(&series.name, error))?);
        if !fitted.is_empty() {
            let scales = fitted.into_values().collect();
            record.outcomes.push(named("length-scale of agents' own models, median", median(scales)));
        }
        record.outcomes.extend(tally.participation());
        let common = self.overlap_outcomes(series).into_iter();
        record.outcomes.extend(common.map(|(name, value)| named(name, value)));
        // The agents are the same in every series, so only the first series records how they differ.
        let first = self.recipe.series.first().is_some_and(|first| first.name == series.name);
        if first && !self.stage.options.dry {
            record.outcomes.extend(self.dissimilarity().into_iter().map(|(name, value)| named(name, value)));
            record.holdings = self.instance.background.holdings.as_deref().cloned();
        }
        record.closings = std::mem::take(&mut tally.closings);
        let (iterations, groups) = tally.finish(&self.groups);
        record.questions = tally.questions();
        let queried = tally.queried();
        record.one_arm = QueriedArms::of_series(queried.iter().map(|queried| (queried, self.instance)));
        record.inputs = match self.instance.continuum() {
            Some(continuum) => QueriedInputs::of_points(&continuum.domain.columns(), tally.last_points()),
            None => QueriedInputs::of(self.instance, &iterations),
        };
        record.iterations = iterations;
        record.groups = groups;
        record.counts = counts;
        let tells = self.recipe.informative_silence().is_some();
        record.public.extend(public::facts(&series.sharing, tells, &self.objective_facts()));
        record.public.extend(public::of_personal(&series.sharing));
        Ok(record)
    }

    /// Every agent's function in round 0.
    fn first_functions(&self) -> Vec<&[f64]> {
        self.own.iter().map(|own| own.function.at(0).as_slice()).collect()
    }

    /// Measures of how agents differ: in their functions, if `differences` of any group change functions; in the points that
    /// they can measure, if any agent can measure only a part of the domain; and in their records, if agents have records.
    fn dissimilarity(&self) -> Vec<(&'static str, f64)> {
        let mut found = Vec::new();
        if self.recipe.groups.iter().any(|group| group.differences.in_functions()) {
            let functions = self.first_functions();
            found.extend(mean_correlation(&functions).map(|r| ("Functions of agents: correlation", r)));
            found.push(("Functions of agents: regret at the common optimum", common_optimum_gap(&functions)));
        }
        let parts: Vec<&[bool]> =
            self.own.iter().filter_map(|own| own.points.as_deref().map(Vec::as_slice)).collect();
        if !parts.is_empty() {
            let most = |values: &[f64]| values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let lost = |own: &OwnProblem| most(own.function.at(0)) - own.function.best(0);
            let lost = self.own.iter().map(lost).sum::<f64>() / self.own.len() as f64;
            found.push(("Functions of agents: value lost at other points", lost));
            found.extend(common_share(&parts).map(|share| ("Functions of agents: common points", share)));
        }
        if let Some(held) = &self.instance.background.holdings {
            found.extend([
                ("Records of agents: total variation", held.distances.total_variation),
                ("Records of agents: Jensen-Shannon", held.distances.jensen_shannon),
                ("Records of agents: means of features", held.distances.standardised_means),
                ("Records of agents: fewest", held.sizes[0] as f64),
                ("Records of agents: most", held.sizes[2] as f64),
            ]);
        }
        found
    }

    /// The terms of Theorem 1 of Dai, Low and Jaillet 2021 by round; empty if not requested, or if it does not apply.
    fn terms(
        &self,
        series: &FederatedSeries,
        clipped: &[(u64, Clipped)],
    ) -> Result<Vec<RoundTrack>, GpError> {
        let (Some(recipe), Sharing::Aggregate(aggregate)) = (self.recipe.regret_terms, &series.sharing)
        else {
            return Ok(Vec::new());
        };
        // The theorem assumes sums with the same settings in all rounds.
        if self.stage.changes_at_fork(&series.name) {
            return Ok(Vec::new());
        }
        let explored = self.recipe.explored(self.stage, series.sharing.regions());
        let rounds = self.recipe.rounds;
        let values = self.first_functions();
        let terms = Terms { recipe, common: &self.common, values: &values, explored: &explored, rounds };
        terms.of(aggregate, series.shared_queries, clipped)
    }

    /// What the server knows about its agents before the first round.
    fn roster(&self) -> Roster {
        self.recipe.roster(self.stage, &self.agents, self.key)
    }

    /// Public facts about the problem that all agents work on.
    fn objective_facts(&self) -> Vec<PublicFact> {
        public::of_the_problem(self.stage, self.instance)
    }

    /// What all agents and the server have agreed on for masked sums; `None` for a series without masked sums.
    fn contract(&self, series: &FederatedSeries, placement: &Placement) -> Option<Arc<MaskingContract>> {
        let Sharing::Aggregate(aggregate) = &series.sharing else { return None };
        aggregate.server.is_masked().then(|| {
            let key = |&(party, _): &(usize, usize)| {
                self.key.child("party").child(&self.stage.names[party]).child("masks")
            };
            Arc::new(MaskingContract {
                aggregate: aggregate.clone(),
                placement: placement.clone(),
                length: self.common.m,
                secrets: MaskSecrets {
                    keys: self.agents.iter().map(key).collect(),
                    graph: self.mask_graph(aggregate),
                },
            })
        })
    }

    /// The graph that says which agents share masks. If it is random, the server draws it.
    fn mask_graph(&self, aggregate: &Aggregate) -> MaskGraph {
        let agents = self.agents.len();
        let server = self.key.child("party").child(&self.recipe.server);
        match aggregate.server.neighbours() {
            None => MaskGraph::Complete(agents),
            Some(k) => MaskGraph::regular(agents, k, &mut server.child("mask graph").stream()),
        }
    }

    /// `beta_t` of rounds 1, 2, ..., the factor on the standard deviation in agents' own Thompson sampling; empty if it is 1
    /// in every round, and in a dry run.
    fn widths(&self) -> Result<Arc<Vec<f64>>, GpError> {
        if self.stage.options.dry {
            return Ok(Arc::default());
        }
        let (initial, rounds) = (self.recipe.initial_points, self.recipe.rounds);
        self.recipe.width.by_round(&self.common, initial, rounds).map(Arc::new)
    }

    /// The initial points of an agent, drawn from the points of `region` that the agent can measure. They are drawn from all
    /// points that it can measure if `region` is `None`, or if the agent is limited to a part of the domain without a point
    /// in `region`. `None` if there is no point to draw from. `agent` is the agent's node of the seed tree.
    fn initial_points(
        &self,
        (cut, region): (&Regions, Option<usize>),
        own: &OwnProblem,
        agent: Key,
    ) -> Option<Vec<Query>> {
        let mut stream = agent.child("initial points").stream();
        let count = self.recipe.initial_points;
        if let Some(space) = &self.common.space {
            let ends = region.map_or_else(|| vec![(0.0, 1.0); self.instance.inputs.d()], |at| cut.ends(at));
            return (0..count).map(|_| space.random_point_in(&ends, &mut stream)).collect();
        }
        let has = |point: usize| own.points.as_ref().is_none_or(|points| points[point]);
        let of_arms = cut.of_arms();
        let mut arms: Vec<usize> = (0..of_arms.len())
            .filter(|&point| region.is_none_or(|region| of_arms[point] == region) && has(point))
            .collect();
        // An agent without a point in its region begins anywhere in its own part of the domain.
        if arms.is_empty() && own.points.is_some() {
            arms = (0..of_arms.len()).filter(|&point| has(point)).collect();
        }
        let mut one = || Query::Arm(arms[stream.below(arms.len() as u64) as usize]);
        (!arms.is_empty()).then(|| (0..count).map(|_| one()).collect())
    }

    fn parties(
        &self,
        series: &FederatedSeries,
        widths: &Arc<Vec<f64>>,
    ) -> Result<Vec<Box<dyn Party<FederatedProtocol>>>, StartError> {
        let stage = self.stage;
        let server = stage.party("server", &self.recipe.server).map_err(|_| StartError::UnknownServer)?;
        let regions = series.sharing.regions();
        let cut = Arc::new(self.common.regions(regions));
        let placement = self.placement(series, &cut);
        let explored = &placement.explored;
        let followed = self.followed(series);
        let id = |party: usize| PartyId(party as u32);
        let agents: Vec<PartyId> = self.agents.iter().map(|&(party, _)| id(party)).collect();
        let count = agents.len();
        let dry = stage.options.dry;
        let blank = Arc::new(vec![0.0; self.common.m]);
        let contract = self.contract(series, &placement);
        let conditions = public::conditions(&self.objective_facts());
        let of_costs = match &series.sharing {
            Sharing::Aggregate(aggregate) => self.recipe.condition_of_costs(aggregate),
            Sharing::Alone(_) | Sharing::RandomAgent(_) => None,
        };
        let mut parts: Vec<(PartyId, Box<dyn Party<FederatedProtocol>>)> = Vec::with_capacity(count + 1);
        parts.push((
            server,
            Box::new(Server {
                agents: self.agents.iter().map(|&(party, _)| id(party)).collect(),
                places: self.agents.iter().enumerate().map(|(n, &(party, _))| (id(party), n)).collect(),
                sharing: series.sharing.clone(),
                policy: series.policy.clone(),
                neighbours: series.sharing.neighbours(),
                placement: placement.clone(),
                rounds: self.recipe.rounds,
                broadcasts: series.sharing.broadcasts(self.recipe.rounds),
                shared_rounds: series.shared_rounds(self.recipe.rounds),
                length: self.common.m,
                personal: self.recipe.agent_levels(series, stage, self.key).unwrap_or_default(),
                key: self.key.child("party").child(&self.recipe.server),
                meter: BudgetMeter::new(stage.budget).read_by(stage.read_between(server, &agents, &[])),
                round: 0,
                open: false,
                timer: None,
                answered: vec![false; count],
                answered_rounds: vec![Answers::default(); count],
                fresh: vec![None; count],
                late: vec![None; count],
                last: vec![None; count],
                replaced: vec![false; count],
                setup: Setup::of(count),
                contract: contract.clone(),
                masked: vec![None; count],
                unmasking: None,
                unopened: Vec::new(),
                name: self.recipe.server.clone(),
                silence: self.recipe.informative_silence(),
                silence_relays: match self.recipe.informative_silence() {
                    Some(_) => stage.relays_between(server, &agents, &[]).into(),
                    None => Arc::default(),
                },
                conditions: conditions.iter().cloned().chain(of_costs).collect(),
                buffered: 0,
                stale: 0,
                relays: match series.sharing.reporting() {
                    None => Arc::default(),
                    Some(_) => stage.relays_between(server, &agents, &[]).into(),
                },
                roster: self.roster(),
                norm: series.sharing.adapts_clip().then(|| series.sharing.clip()).flatten(),
                dry,
            }),
        ));
        let shares = !matches!(series.sharing, Sharing::Alone(_));
        for (n, &(party, group)) in self.agents.iter().enumerate() {
            let group = &self.recipe.groups[group];
            let silence = |recipe| AgentSilence::new(recipe, group.leaves);
            let key = self.key.child("party").child(&stage.names[party]);
            let everywhere = series.sharing.initial() == InitialPoints::Everywhere;
            let place = (&*cut, (!everywhere).then_some(explored[n]));
            let initial = if dry { Some(Vec::new()) } else { self.initial_points(place, &self.own[n], key) };
            let initial = initial.ok_or(StartError::EmptyRegion { region: explored[n], regions })?;
            let shared = || SharedModel::new(&self.common, self.recipe.weight_outcomes);
            let weights = (shares && !dry).then(shared);
            parts.push((
                id(party),
                Box::new(Agent {
                    index: n as u64,
                    server,
                    server_name: self.recipe.server.clone(),
                    neighbours: series.sharing.neighbours(),
                    common: Arc::clone(&self.common),
                    function: Arc::clone(&self.own[n].function),
                    points: self.own[n].points.clone(),
                    followed: followed[n].clone(),
                    initial,
                    regions: Arc::clone(&cut),
                    own: OwnModel::new(&self.common, self.recipe.own_hyperparameters, self.own[n].factors)?,
                    weights,
                    blank: (shares && dry).then(|| Arc::clone(&blank)),
                    dry,
                    shared_queries: series.shared_queries,
                    scale: self.recipe.scale.get(),
                    widths: Arc::clone(widths),
                    repeated: self.recipe.repeated,
                    visited: Vec::new(),
                    silence: group.silence.map(silence),
                    noise: self.own[n].noise.clone(),
                    rounds: self.recipe.rounds,
                    broadcasts: series.sharing.broadcasts(self.recipe.rounds),
                    shared_rounds: series.shared_rounds(self.recipe.rounds),
                    key,
                    reporting: series.sharing.reporting().cloned(),
                    seen: Vec::new(),
                    contract: contract.clone(),
                    members: None,
                    shares_sent_before: 0,
                    begun: false,
                    last_round: 0,
                    measured: 0,
                    jitter: JitterWatch::default(),
                    meter: BudgetMeter::new(stage.budget).read_by(stage.read_between(
                        server,
                        &[id(party)],
                        &[],
                    )),
                    conditions: conditions.clone(),
                }),
            ));
        }
        Ok(stage.all_parties(parts))
    }
}

/// `beta_t`, the factor on the standard deviation in agents' own Thompson sampling, by round and without the factor `scale`;
/// `None` if `beta_t` is 1 in every round, and in a dry run (`widths` is then empty).
fn widths_by_round(widths: &[f64]) -> Option<RoundTrack> {
    let points: Vec<(u64, f64)> = (1..).zip(widths.iter().copied()).collect();
    let name = "beta_t of agents' own Thompson sampling".to_owned();
    (!points.is_empty()).then_some(RoundTrack { name, points })
}

/// The median of one number or more.
fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    let middle = of.len() / 2;
    if of.len().is_multiple_of(2) { 0.5 * (of[middle - 1] + of[middle]) } else { of[middle] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_two_is_between_them() {
        assert_eq!(median(vec![3.0, 1.0, 8.0, 2.0]), 2.5);
        assert_eq!(median(vec![3.0, 1.0, 8.0]), 3.0);
        assert_eq!(median(vec![4.0]), 4.0);
    }
}
