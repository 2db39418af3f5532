//! The axes along which the agents of a group differ, besides the heterogeneity h.

use super::domain::Domain;
use super::factors::Factors;
use super::shift::Shift;
use crate::gp::MAX_ARMS;
use crate::objectives::{Extent, Objective};
use crate::vocab::{Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// How the agents of a group differ, apart from h (`heterogeneity`): by the place of their optimum, their scale, their
/// noise, their cluster, drift over rounds, the points that they can measure, and the models that they assume. Each axis is
/// independent of the others and may be left out.
///
/// Agent n in round t has the function f_n,t. In round 0 it is mu + a_n (sqrt(1 - h) (c(x - s_n) - mu) + sqrt(h)
/// (g_n(x) - mu)). Here mu is the prior mean, a_n the scale, s_n the shift, c the function of the agent's cluster (the
/// common function if there are no clusters), and g_n the agent's own draw. Regret is each agent's own: in each round, the
/// best value of the agent's function in this round, minus the function's value at the agent's query. Sources: Volpp et al.
/// 2020 (shift and scale), Bogunovic, Scarlett and Cevher 2016 (drift).
///
/// Example: `Differences(shift: Uniform(0.1), scale: LogNormal(0.3), noise: LogNormal(0.5))`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Differences {
    /// How far each agent's function is shifted, for objectives whose inputs are numbers. Default: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<Shift>,
    /// Amplitude of each agent's function: a factor on the distance of the values from the prior mean. Default: 1 for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Factors>,
    /// Factor on the noise of each agent's outcomes. The agents' models still assume the objective's noise, unless
    /// `model_noise` or `own_hyperparameters` says otherwise. Default: 1 for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Factors>,
    /// Clusters of agents. Each cluster has a draw of its own: a further draw of the objective, or a draw from its surrogate
    /// if all draws of the objective are the same. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clusters: Option<Clusters>,
    /// How functions change from round to round. The new functions that are added are drawn in the same way as those of
    /// `clusters`. Cohorts of users can drift only if the objective's draws differ. Default: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The points that each agent can measure; an agent's regret is then against the best of these points. Default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<Domain>,
    /// Factor on the length-scale that each agent's own model assumes; the models that agents share keep the
    /// length-scale of the random features.
    /// Default: 1 for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_length_scale: Option<Factors>,
    /// Factor on the standard deviation of the noise that each agent's own model assumes. Default: 1 for all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model_noise: Option<Factors>,
}

/// Clusters of agents: the function of cluster c is mu + sqrt(1 - apart) (f - mu) + sqrt(apart) (g_c - mu), with mu the
/// prior mean, f common to all clusters and g_c the cluster's own draw. Each agent is in a random cluster, and all clusters
/// are equally likely. All groups with clusters have the same clusters: cluster 0 of one group has the same g_0 as cluster 0
/// of another.
///
/// Example: `Clusters(count: 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Clusters {
    /// Number of clusters, 1 to 1000.
    pub count: NonZeroU32,
    /// Share of the variance that is the cluster's own: 0 if all clusters have the function f, 1 if their functions have
    /// nothing in common. Default: 1.
    #[serde(default = "whole")]
    pub apart: Probability,
}

/// Drift: f_n,t+1 - mu = sqrt(1 - rate) (f_n,t - mu) + sqrt(rate) a_n (sqrt(1 - own) (u_t - mu) + sqrt(own) (v_n,t - mu)),
/// with mu and a_n as for `Differences`. In each round there is a new draw u_t for all agents, and a new draw v_n,t for
/// each agent. Drift does not change the variance of the functions. In the long run, two agents differ as much as with h =
/// own. Initial points are measured in round 0.
///
/// Source: Bogunovic, Scarlett and Cevher 2016, "Time-varying Gaussian process bandit optimization" (their epsilon is
/// the rate).
///
/// Example: `Drift(rate: 0.02)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Drift {
    /// Share of the variance that is new in each round, from 0 to 1.
    pub rate: Probability,
    /// Share of the new variance that is each agent's own. Default: 0, all agents drift alike.
    #[serde(default = "none", skip_serializing_if = "is_none")]
    pub own: Probability,
}

fn whole() -> Probability {
    Probability::new(1.0).expect("1 is a probability")
}

fn none() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

fn is_none(own: &Probability) -> bool {
    own.get() == 0.0
}

/// Largest number of clusters, each of which needs a draw of the objective.
const MAX_CLUSTERS: u32 = 1000;

impl Differences {
    pub(in crate::protocols) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether these differences, in any round, change the functions of agents.
    pub(in crate::protocols) fn in_functions(&self) -> bool {
        self.shift.as_ref().is_some_and(Shift::moves)
            || self.in_scale()
            || self.split_up().is_some()
            || self.drifting().is_some()
    }

    /// Whether two agents of a group may have different functions in round 0 because of these differences.
    pub(in crate::protocols) fn between_agents(&self) -> bool {
        self.shift.as_ref().is_some_and(Shift::between_agents)
            || self.scale.as_ref().is_some_and(Factors::between_agents)
            || self.split_up().is_some_and(|clusters| clusters.count.get() > 1)
    }

    /// Whether two agents of a group may have different noise.
    pub(in crate::protocols) fn noise_between_agents(&self) -> bool {
        self.noise.as_ref().is_some_and(Factors::between_agents)
    }

    /// How each agent's part of the domain is drawn; `None` if every agent has the whole domain.
    pub(in crate::protocols) fn part(&self) -> Option<Domain> {
        self.domain.filter(|domain| domain.is_partial())
    }

    /// Whether the scale of any agent may be other than 1.
    pub(in crate::protocols) fn in_scale(&self) -> bool {
        self.scale.as_ref().is_some_and(Factors::differ)
    }

    /// The largest shift along an input, in units of the domain's side.
    pub(in crate::protocols) fn reach(&self) -> f64 {
        self.shift.as_ref().map_or(0.0, Shift::reach)
    }

    /// The clusters, if a share of the variance is each cluster's own.
    pub(in crate::protocols) fn split_up(&self) -> Option<Clusters> {
        self.clusters.filter(|clusters| clusters.apart.get() > 0.0)
    }

    /// The drift, if there is any.
    pub(in crate::protocols) fn drifting(&self) -> Option<Drift> {
        self.drift.filter(|drift| drift.rate.get() > 0.0)
    }

    /// Whether the own model of any agent may have another length-scale than the objective's surrogate.
    pub(in crate::protocols) fn in_length_scales(&self) -> bool {
        self.model_length_scale.as_ref().is_some_and(Factors::differ)
    }

    /// What is wrong with the values, whatever the objective.
    pub(in crate::protocols) fn problems(&self) -> Vec<Problem> {
        let factors = [
            ("scale", &self.scale),
            ("noise", &self.noise),
            ("model_length_scale", &self.model_length_scale),
            ("model_noise", &self.model_noise),
        ];
        let of = |(field, factors): (&str, &Option<Factors>)| {
            factors.as_ref().and_then(Factors::problem).map(|problem| problem.below(field))
        };
        let mut found: Vec<Problem> = factors.into_iter().filter_map(of).collect();
        found.extend(self.domain.and_then(Domain::problem).map(|problem| problem.below("domain")));
        found.extend(self.shift.as_ref().and_then(Shift::problem).map(|problem| problem.below("shift")));
        if let Some(clusters) = self.clusters.filter(|clusters| clusters.count.get() > MAX_CLUSTERS) {
            let expected = format!("at most {MAX_CLUSTERS} clusters, each with a draw of the objective");
            let found_here = clusters.count.to_string();
            found.push(Problem::wrong("clusters.count", expected, found_here, "write fewer"));
        }
        found
    }

    /// The problems of these differences with an objective of this size.
    pub(in crate::protocols) fn problems_of_size(&self, problem: &Extent) -> Vec<Problem> {
        let Some(shift) = self.shift.as_ref().filter(|shift| shift.moves()) else { return Vec::new() };
        if problem.is_box {
            return Vec::new();
        }
        let most = MAX_ARMS as u64;
        let too_many = (problem.continued_by_surrogate && problem.arms > most).then(|| {
            let expected = format!(
                "an objective of at most {most} points, since shifted functions are computed from all of them"
            );
            let cure = "leave it out, or take fewer points";
            Problem::wrong("", expected, format!("{} points", problem.arms), cure)
        });
        let inputs = shift.problem_with_inputs(problem.inputs as usize);
        too_many.into_iter().chain(inputs).map(|found| found.below("shift")).collect()
    }

    /// The problems of those differences that this objective does not allow.
    pub(in crate::protocols) fn problems_with(&self, objective: &dyn Objective) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(shift) = self.shift.as_ref().filter(|shift| shift.moves()) {
            problems.extend(shift.problem_with(objective).map(|problem| problem.below("shift")));
        }
        if self.part().is_some() && objective.has_own_points() {
            let expected = "an objective of which every agent can measure all points";
            let cure = "leave it out: the agents of this objective have rows of their own";
            problems.push(Problem::wrong(
                "domain",
                expected,
                "one that gives each agent its own points",
                cure,
            ));
        }
        let noisy = self.noise.as_ref().is_some_and(Factors::differ);
        if noisy && objective.stated().noise.variance() == Some(0.0) {
            let expected = "an objective whose outcomes have noise, which the factors multiply";
            let cure = "leave it out, or give the objective noise";
            problems.push(Problem::wrong("noise", expected, "outcomes without noise", cure));
        }
        problems
    }
}
