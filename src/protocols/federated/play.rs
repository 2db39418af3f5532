//! Runs one replication of federated optimisation: builds the objectives of all agents, and runs every series.

use super::common::AgentCommon;
use super::failure::StartError;
use super::rank_assignment::assigned_problems;
use super::recipe::Federated;
use super::replication::Replication;
use super::series::{AgentGroup, Aggregate, FederatedSeries};
use crate::gp::{Cholesky, MAX_ARMS};
use crate::objectives::{Extent, Instance, Objective};
use crate::protocols::stage::differences::{DrawError, Drawn, Draws, OwnProblem, Replicated};
use crate::protocols::stage::series::names;
use crate::protocols::stage::{Protocol, ReplicationError, ReplicationSetup, SeriesRecord};
use crate::rng::Key;
use crate::vocab::{Effort, Problem, ProtectedUnit};
use std::sync::Arc;

/// The settings that a fork may change if there is a series whose server is not trusted, so that agents mask what they send.
const OF_MASKED: &[&str] = &["scale", "series.*.shared_queries", "series.*.policy.**"];

/// The settings that a fork may change if the servers of all series are trusted and no series has agents with epsilons of
/// their own. The neighbouring relation must stay the same, so the rate or size of a sample may change, but not the kind of
/// sampling.
const OF_ALL: &[&str] = &[
    "scale",
    "series.*.shared_queries",
    "series.*.policy.**",
    "series.*.sharing.Aggregate.clip",
    "series.*.sharing.Aggregate.noise_multiplier",
    "series.*.sharing.Aggregate.participation.Poisson",
    "series.*.sharing.Aggregate.participation.FixedSize",
    "series.*.sharing.Aggregate.weights.**",
    "series.*.sharing.Aggregate.divisor",
    "series.*.sharing.Aggregate.late",
    "series.*.sharing.Aggregate.visible_participation",
];

/// The settings that a fork may change if the servers of all series are trusted and there is a series whose agents have
/// epsilons of their own. Each agent's sampling rate was computed for the noise and the sampling of the whole run, so noise
/// and sampling must stay the same.
const OF_PERSONAL: &[&str] = &[
    "scale",
    "series.*.shared_queries",
    "series.*.policy.**",
    "series.*.sharing.Aggregate.clip",
    "series.*.sharing.Aggregate.weights.**",
];

impl Protocol for Federated {
    fn problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        self.check(stage)
    }

    fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        let mut problems = self.check_differences(objective);
        problems.extend(self.check_features(objective));
        problems.extend(self.check_box(objective));
        problems.extend(self.check_overlap(objective));
        problems
    }

    fn searches_boxes(&self) -> bool {
        true
    }

    /// Agents draw functions over all points of the objective, so the objective may not have too many points. An objective
    /// that holds the data of agents must have data for every agent; a split may not have data for more agents than take
    /// part. The other checks are those of shifts and of the features' length-scales.
    fn problems_of_size(&self, stage: &ReplicationSetup, problem: &Extent) -> Vec<Problem> {
        let most = MAX_ARMS as u64;
        let here = self.agents(stage) as u64;
        let lacking = problem.agents.as_ref().filter(|(_, held)| here > *held).map(|(path, held)| {
            Problem::wrong(
                path,
                format!("data of at least {here} agents, as many as take part"),
                format!("data of {held}"),
                format!(
                    "write `count: {held}` or less for the parties, or divide the records among more agents"
                ),
            )
        });
        let found = (problem.arms > most).then(|| {
            Problem::wrong(
                problem.stated.0.as_str(),
                format!(
                    "an objective of at most {most} points, over all of which each agent draws functions"
                ),
                format!("{} points", problem.arms),
                "make its grid coarser, or take fewer of its points",
            )
        });
        // If the split divides the records among more agents than the run has, some of its parts belong to no agent of the
        // run.
        let idle = problem.agents.as_ref().filter(|(path, held)| path.ends_with("split") && here < *held);
        let idle = idle.map(|(path, held)| {
            let cure = format!("write `count: {held}` for the parties, or `agents: {here}` in the split");
            let expected = format!("a split among the {here} agents that take part");
            Problem::wrong(path, expected, format!("one among {held}"), cure)
        });
        let of = |(index, group): (usize, &AgentGroup)| {
            let found = group.differences.problems_of_size(problem).into_iter();
            found.map(move |problem| problem.below(&format!("groups[{index}].differences")))
        };
        let shifts = self.groups.iter().enumerate().flat_map(of);
        let scales = self.feature_length_scale.as_ref();
        let scales = scales.and_then(|l| l.problem("feature_length_scale", problem.inputs as usize));
        found.into_iter().chain(lacking).chain(idle).chain(shifts).chain(scales).collect()
    }

    fn needs_objective(&self) -> bool {
        true
    }

    fn units(&self) -> Vec<ProtectedUnit> {
        vec![ProtectedUnit::Agent]
    }

    /// A fork cannot change what agents and a server that is not trusted agreed on for the masks at the start. Nor can it
    /// change the settings from which the sampling rates of agents with epsilons of their own were computed.
    fn changeable(&self) -> &'static [&'static str] {
        let mut aggregates = self.series.iter().filter_map(|series| series.sharing.aggregate());
        if aggregates.clone().any(|aggregate| aggregate.server.is_masked()) {
            OF_MASKED
        } else if aggregates.any(|aggregate| aggregate.personal.is_some()) {
            OF_PERSONAL
        } else {
            OF_ALL
        }
    }

    /// A relay learns who answers, which is a release if silence depends on what agents measured. From the size of
    /// answers it also learns who is selected, which is a release if agents are selected by their losses.
    fn relays_learn_protected_data(&self) -> bool {
        let by_loss =
            |series: &FederatedSeries| series.sharing.aggregate().is_some_and(Aggregate::selects_by_loss);
        self.informative_silence().is_some() || self.series.iter().any(by_loss)
    }

    fn with_own_objective(&self, stage: &ReplicationSetup, objective: &dyn Objective) -> Vec<usize> {
        let differs = |group: &AgentGroup| {
            group.heterogeneity.get() > 0.0
                || group.differences.between_agents()
                || self.perturbation.get() > 0.0
                || objective.is_of_agents()
        };
        let members = self.members(stage).into_iter().zip(&self.groups);
        members.filter(|(_, group)| differs(group)).flat_map(|((_, found), _)| found).collect()
    }

    fn with_own_noise(&self, stage: &ReplicationSetup) -> Vec<usize> {
        let members = self.members(stage).into_iter().zip(&self.groups);
        let differs = |group: &AgentGroup| group.differences.noise_between_agents();
        members.filter(|(_, group)| differs(group)).flat_map(|((_, found), _)| found).collect()
    }

    fn warnings(&self) -> Vec<String> {
        let told = |(index, group): (usize, &AgentGroup)| {
            let whom = "the server and every agent";
            group.silence?.warning(&format!("groups[{index}].silence"), "an agent", whom)
        };
        self.groups.iter().enumerate().filter_map(told).collect()
    }

    fn effort(&self, stage: &ReplicationSetup, problem: &Extent) -> Effort {
        self.of_replication(self.agents(stage) as u64, problem)
    }

    fn dry_needs_objective(&self) -> bool {
        false
    }

    fn series(&self) -> Vec<String> {
        names(&self.series)
    }

    fn play(&self, stage: &ReplicationSetup, key: Key) -> Result<Vec<SeriesRecord>, ReplicationError> {
        let replication = self.replication(stage, key)?;
        self.series.iter().map(|series| replication.play(series)).collect()
    }
}

impl Federated {
    /// What the series of one replication have in common.
    pub(super) fn replication<'a>(
        &'a self,
        stage: &'a ReplicationSetup,
        key: Key,
    ) -> Result<Replication<'a>, ReplicationError> {
        let fail = |error: StartError| ReplicationError::in_all(error);
        let first = self.series.first().map_or("", |series| &series.name);
        let instance = stage.objective(first)?;
        let common = Arc::new(AgentCommon::new(instance, self.feature_recipe(), key).map_err(fail)?);
        let members = self.members(stage);
        let mut agents: Vec<(usize, usize)> = Vec::new();
        for (group, (_, found)) in members.iter().enumerate() {
            agents.extend(found.iter().map(|&party| (party, group)));
        }
        agents.sort_unstable();
        let drawn = self
            .own_problems(stage, (instance, common.prior.as_deref()), &agents, key)
            .map_err(|error| fail(error.into()))?;
        let own = if stage.options.dry {
            drawn
        } else {
            let records = instance.background.records.as_deref().map(Vec::as_slice);
            assigned_problems(stage, &agents, &drawn, records, key.child("network"))
        };
        let groups: Vec<(String, Vec<usize>)> = members
            .iter()
            .enumerate()
            .map(|(group, (name, _))| {
                let of_group = agents.iter().enumerate().filter(|(_, agent)| agent.1 == group);
                (name.clone(), of_group.map(|(n, _)| n).collect())
            })
            .collect();
        Ok(Replication { recipe: self, stage, instance, common, agents, own, groups, key })
    }

    /// The problem of each of these agents, which are given by party and group. `prior` is the Cholesky factor of the
    /// surrogate's covariance at the arms; `None` on a box.
    fn own_problems(
        &self,
        stage: &ReplicationSetup,
        (instance, prior): (&Instance, Option<&Cholesky>),
        agents: &[(usize, usize)],
        key: Key,
    ) -> Result<Vec<OwnProblem>, DrawError> {
        let mut sizes = vec![0; self.groups.len()];
        let inputs = instance.inputs.d();
        let one = |(n, &(party, group)): (usize, &(usize, usize))| {
            let AgentGroup { heterogeneity, differences, .. } = &self.groups[group];
            let key = key.child("party").child(&stage.names[party]).child("objective");
            let k = sizes[group];
            sizes[group] += 1;
            Drawn::new((n, k), (heterogeneity.get(), differences), inputs, key)
        };
        let drawn: Vec<Drawn<'_>> = agents.iter().enumerate().map(one).collect();
        let reach = self.groups.iter().map(|group| group.differences.reach()).fold(0.0, f64::max);
        let (rounds, perturbation) = (self.rounds, self.perturbation.get());
        Draws::of(Replicated { stage, instance, key, rounds, reach, perturbation, prior }, &drawn)
    }
}
