//! The settings of federated optimisation in a scenario, and their checks.

use super::common::FeatureRecipe;
use super::hyperparameters::OwnHyperparameters;
use super::queries::{Repeated, Width};
use super::roster::Roster;
use super::series::{AgentGroup, Aggregate, FederatedSeries, Sharing};
use super::shared_model::WeightOutcomes;
use super::theorem::RegretTerms;
use crate::network::announced_seconds;
use crate::objectives::{LengthScales, Objective};
use crate::privacy::mechanisms::{Divisor, Informative, Participation, SensitivityRule};
use crate::protocols::stage::differences::Factors;
use crate::protocols::stage::{ReplicationSetup, series};
use crate::rng::Key;
use crate::vocab::{NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::sync::Arc;

/// Agents, each with its own objective, share through a server what they learn.
///
/// All series use the same functions, noise and random numbers of the network. Two series use the same initial points if
/// each agent draws its initial points from the same part of the domain in the two series (`regions` and `initial` of
/// `Aggregate`). Reported regrets are means over agents. Sources: Dai, Low and Jaillet 2020 (FTS) and 2021 (FTS-DE,
/// DP-FTS-DE).
///
/// Example: `Federated(server: "server", groups: [AgentGroup(members: "agent")], rounds: 3, initial_points: 2,
/// features: 10, series: [Series(name: "alone", sharing: Alone())])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Federated {
    /// Name of the party that computes the sums.
    #[schemars(with = "crate::vocab::PartyName")]
    pub server: String,
    /// The agents, by groups.
    pub groups: Vec<AgentGroup>,
    /// T, the number of rounds after the initial points.
    pub rounds: u64,
    /// Number of random points that each agent measures first. Default: 10.
    #[serde(default = "ten")]
    pub initial_points: u64,
    /// M, the number of random Fourier features. Default: 50.
    #[serde(default = "fifty")]
    pub features: NonZeroU32,
    /// Length-scale of the features, in units of the (scaled) inputs, or a list with one for each input. Default: that of
    /// the objective's surrogate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_length_scale: Option<LengthScales>,
    /// Prior variance of the shared model: the prior variance of a weight times the squared length of a feature
    /// vector, in squared units of the objective. Default: that of the objective's surrogate. The landmine experiment of
    /// Dai, Low and Jaillet 2021 uses 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_variance: Option<Positive>,
    /// lambda, the variance of the noise that the shared model assumes, in squared units of the objective.
    /// Default: that of the objective's surrogate, at least 1e-6. The landmine experiment of Dai, Low and Jaillet 2021
    /// uses 1e-6.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feature_noise: Option<Positive>,
    /// What is subtracted from outcomes before weights are fitted to the outcomes. Default: `MinusPriorMean`; the code of
    /// Dai, Low and Jaillet 2021 uses `Raw`.
    #[serde(default, skip_serializing_if = "WeightOutcomes::is_default")]
    pub weight_outcomes: WeightOutcomes,
    /// What an agent does with a point that it has measured before. Default: `Allowed`; the code of Dai, Low and Jaillet
    /// 2021 uses `RandomPoint`.
    #[serde(default, skip_serializing_if = "Repeated::is_default")]
    pub repeated: Repeated,
    /// How agents get the hyperparameters of their own models. Default: `Given`, from the objective.
    #[serde(default)]
    pub own_hyperparameters: OwnHyperparameters,
    /// Standard deviation of a normal random number that is added to each agent's objective at every point, so that
    /// objectives differ. Default: 0.
    #[serde(default = "zero")]
    pub perturbation: NonNegative,
    /// `beta_t`, a factor on the standard deviation in agents' own Thompson sampling. Default: `Constant`, 1.
    #[serde(default, skip_serializing_if = "Width::is_default")]
    pub width: Width,
    /// A further factor on the standard deviation in agents' own Thompson sampling, the same in all rounds. Default: 1.
    #[serde(default = "unit")]
    pub scale: Positive,
    /// Whether the terms of the regret bound of Dai, Low and Jaillet 2021, Theorem 1, are reported by round.
    /// Default: they are not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regret_terms: Option<RegretTerms>,
    /// The series that are compared.
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

impl Federated {
    /// The settings of the shared features.
    pub(super) fn feature_recipe(&self) -> FeatureRecipe {
        FeatureRecipe {
            m: self.features.get() as usize,
            length_scale: self.feature_length_scale.clone(),
            variance: self.feature_variance.map(Positive::get),
            noise_variance: self.feature_noise.map(Positive::get),
        }
    }

    /// Among the `silence` settings that make silence depend on what agents measured, the one with the largest epsilon;
    /// `None` if there is no such setting.
    #[must_use]
    pub fn informative_silence(&self) -> Option<Informative> {
        let telling = self.groups.iter().filter_map(|group| group.silence).filter(Informative::depends);
        telling.max_by(|a, b| a.epsilon().total_cmp(&b.epsilon()))
    }

    /// The problem of a budget together with silence that depends on what agents measured: an agent's silence cannot be
    /// withheld when the budget is used up.
    fn silence_in_budget(&self, stage: &ReplicationSetup) -> Option<Problem> {
        stage.budget.filter(|_| self.informative_silence().is_some())?;
        let place =
            self.groups.iter().position(|group| group.silence.is_some_and(|silence| silence.depends()))?;
        Some(Problem::wrong(
            format!("groups[{place}].silence"),
            "with `privacy.budget`, no silence that depends on what agents measured: silence cannot be prevented, so the \
             budget would be exceeded",
            "Informative(..)",
            "leave `privacy.budget` out, or write slope: 0",
        ))
    }

    /// The problem of sums with noise and with the divisor `ArrivedOrGone`, if silence depends on what agents measured. With
    /// this divisor, one of two neighbouring data sets lacks an agent, and with the agent also its answers and its
    /// silence.
    fn silence_with_divisor(&self, aggregate: &Aggregate) -> Option<Problem> {
        let private = aggregate.noise_multiplier.get() > 0.0;
        self.informative_silence().filter(|_| private && aggregate.divisor == Divisor::ArrivedOrGone)?;
        let expected = "a divisor for which neighbouring data sets have the same agents: silence depends on what agents \
                        measured, so whether an agent answers is a release too, and one of two neighbouring data sets has no \
                        such release";
        Some(Problem::wrong(
            "divisor",
            expected,
            "ArrivedOrGone",
            "write another divisor, or leave `silence` out",
        ))
    }

    /// The condition under which the computed cost of a sum holds, in words that follow "holds only with". `None` if the
    /// cost holds without a condition, or if the sum has no noise.
    pub(super) fn condition_of_costs(&self, aggregate: &Aggregate) -> Option<String> {
        if aggregate.noise_multiplier.get() <= 0.0 {
            return None;
        }
        let by_answers = aggregate.server.is_masked() || aggregate.divisor == Divisor::Arrived;
        if by_answers && self.informative_silence().is_some() {
            return Some("the answers of this run: silence depends on what agents measured, and if other agents answered, sums would cost \
                         another amount".to_owned());
        }
        let by_weights = aggregate.sensitivity == SensitivityRule::TighterLoss;
        (by_weights && aggregate.selects_by_loss()).then(|| {
            "the selections of this run: they depend on noisy losses, and sums over other agents cost another amount"
                .to_owned()
        })
    }

    /// How many agents take part.
    #[must_use]
    pub fn agents(&self, stage: &ReplicationSetup) -> usize {
        self.members(stage).iter().map(|(_, members)| members.len()).sum()
    }

    /// Party and group of each agent, in the order of the parties.
    pub(super) fn in_order(&self, stage: &ReplicationSetup) -> Vec<(usize, usize)> {
        let mut agents: Vec<(usize, usize)> = Vec::new();
        for (group, (_, found)) in self.members(stage).iter().enumerate() {
            agents.extend(found.iter().map(|&party| (party, group)));
        }
        agents.sort_unstable();
        agents
    }

    /// What the server knows about these agents (given as party and group) before the first round; `key` is the
    /// replication's node of the seed tree.
    pub(super) fn roster(&self, stage: &ReplicationSetup, agents: &[(usize, usize)], key: Key) -> Roster {
        let network = key.child("network");
        let announced = |&(party, _): &(usize, usize)| {
            announced_seconds(&stage.names[party], &stage.traits[party], network)
        };
        let groups: Vec<String> =
            agents.iter().map(|&(_, group)| self.groups[group].members.clone()).collect();
        Roster::new(Arc::new(groups), agents.iter().map(announced).collect())
    }

    /// The region that each agent explores, from 0 to `regions` - 1.
    #[must_use]
    pub fn explored(&self, stage: &ReplicationSetup, regions: usize) -> Vec<usize> {
        let agents = self.in_order(stage);
        let region = |(n, &(_, group)): (usize, &(usize, usize))| {
            self.groups[group].explores.map_or(n, |region| region as usize) % regions
        };
        agents.iter().enumerate().map(region).collect()
    }

    /// Each group's name and the positions of its parties.
    pub(super) fn members(&self, stage: &ReplicationSetup) -> Vec<(String, Vec<usize>)> {
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

    fn group_problems(&self, stage: &ReplicationSetup) -> Vec<Problem> {
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

impl Federated {
    /// Problems of groups whose agents differ in a way that the objective does not allow.
    pub(super) fn check_differences(&self, objective: &dyn Objective) -> Vec<Problem> {
        let of = |(index, group): (usize, &AgentGroup)| {
            let found = group.differences.problems_with(objective);
            found.into_iter().map(move |problem| problem.below(&format!("groups[{index}].differences")))
        };
        self.groups.iter().enumerate().flat_map(of).collect()
    }

    /// The problem of `CommonPoints` or `CoveredRegions` with an objective whose records belong to agents. Which points
    /// an agent can measure is then protected, but sums over common points or regions would reveal it.
    pub(super) fn check_overlap(&self, objective: &dyn Objective) -> Vec<Problem> {
        let restricted = |(_, series): &(usize, &FederatedSeries)| {
            series.sharing.aggregate().is_some_and(|aggregate| !aggregate.overlap.is_default())
        };
        let found = self.series.iter().enumerate().filter(|_| objective.has_own_points()).filter(restricted);
        let problem = |(index, _): (usize, &FederatedSeries)| {
            let expected = "WholeDomain, because the rows that an agent holds are protected: sums that are restricted by `overlap` would reveal them";
            let place = format!("series[{index}].sharing.overlap");
            Problem::wrong(place, expected, "sums over common points or regions", "leave it out")
        };
        found.map(problem).collect()
    }

    /// Problems of the settings in `differences` that can be found without the objective: wrong values, and settings
    /// that contradict Theorem 1 of Dai, Low and Jaillet 2021, if `width` or `regret_terms` is computed from this theorem.
    /// Theorem 1 assumes that functions do not change. The widths of Theorem 1 also assume that all agents have the same
    /// noise.
    fn difference_problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for (index, group) in self.groups.iter().enumerate() {
            let differences = &group.differences;
            let mut own = differences.problems();
            let theorem = matches!(self.width, Width::Theorem { .. });
            if differences.drifting().is_some() && (theorem || self.regret_terms.is_some()) {
                let expected = "none with `width: Theorem` or `regret_terms`, since Theorem 1 is about functions that do not change";
                own.push(Problem::wrong(
                    "drift",
                    expected,
                    "drift",
                    "leave `drift` out, or both `width: Theorem` and `regret_terms`",
                ));
            }
            if differences.noise.as_ref().is_some_and(Factors::differ) && theorem {
                let expected = "none with `width: Theorem`, which assumes the same noise for all agents";
                own.push(Problem::wrong(
                    "noise",
                    expected,
                    "factors",
                    "leave `noise` out, or `width: Theorem`",
                ));
            }
            let place = format!("groups[{index}].differences");
            problems.extend(own.into_iter().map(|problem| problem.below(&place)));
        }
        problems
    }

    /// The problem of an objective whose covariance has no Fourier features.
    pub(super) fn check_features(&self, objective: &dyn Objective) -> Option<Problem> {
        (objective.stated().linear == Some(true)).then(|| {
            Problem::wrong(
                "features",
                "an objective whose covariance is a function of the distance, so that it has Fourier features",
                "a linear covariance",
                "take another objective, or search this one by Outsourced or Local",
            )
        })
    }

    /// What is wrong with the recipe for these parties.
    pub(super) fn check(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let mut problems: Vec<Problem> = stage.party("server", &self.server).err().into_iter().collect();
        problems.extend(self.group_problems(stage));
        for (index, group) in self.groups.iter().enumerate() {
            let found = group.silence_problems().into_iter();
            problems.extend(found.map(|problem| problem.below(&format!("groups[{index}]"))));
        }
        problems.extend(self.difference_problems());
        problems.extend(self.silence_in_budget(stage));
        let agents: u64 = self.members(stage).iter().map(|(_, members)| members.len() as u64).sum();
        if agents == 0 {
            let cure = "write groups: [AgentGroup(members: \"agent\")] and \"agent\": Party(count: 20)";
            problems.push(Problem::wrong("groups", "at least one agent", "none", cure));
        }
        problems.extend(series::no_rounds(self.rounds, "at least one round", "the paper uses 40"));
        if self.initial_points == 0 {
            let cure = "the paper uses 10";
            problems.push(Problem::wrong("initial_points", "at least one point", "0", cure));
        }
        problems.extend(series::none(&self.series, "name: .., sharing: .."));
        for (index, recipe) in self.series.iter().enumerate() {
            let at = |path: &str| format!("series[{index}].{path}");
            problems.extend(series::taken(&self.series, index));
            problems.extend(
                recipe.policy.problems(agents).into_iter().map(|problem| problem.below(&at("policy"))),
            );
            problems.extend(
                recipe.local_problem(self.rounds).map(|problem| problem.below(&format!("series[{index}]"))),
            );
            if let Sharing::Aggregate(aggregate) = &recipe.sharing {
                let at = |path: &str| at(&format!("sharing.{path}"));
                problems.extend(
                    aggregate
                        .weights
                        .as_dyn()
                        .problems()
                        .into_iter()
                        .map(|problem| problem.below(&at("weights"))),
                );
                problems.extend(
                    self.silence_with_divisor(aggregate)
                        .map(|problem| problem.below(at("").trim_end_matches('.'))),
                );
                let groups: Vec<String> = self.groups.iter().map(|group| group.members.clone()).collect();
                let remedies = aggregate.remedy_problems(&recipe.policy, agents, &groups);
                problems
                    .extend(remedies.into_iter().map(|problem| problem.below(at("").trim_end_matches('.'))));
                problems.extend(
                    self.conflict_with_personal(aggregate).map(|p| p.below(at("").trim_end_matches('.'))),
                );
                let personal = aggregate.personal_problems(&recipe.policy, &groups);
                problems.extend(personal.into_iter().map(|p| p.below(at("").trim_end_matches('.'))));
                let masking = aggregate.masking_problems(&recipe.policy, agents);
                problems
                    .extend(masking.into_iter().map(|problem| problem.below(at("").trim_end_matches('.'))));
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
}
