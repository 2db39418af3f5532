//! The settings of local differential privacy in a scenario, and their checks.

use super::arrivals::ArrivalModel;
use super::cohort::{self, Cohort};
use super::never_answer::NeverAnswer;
use super::popularity::PopularityModel;
use super::running_mean::{ProtocolSettings, RunningMean};
use super::times::time_problems;
use crate::learners::{LearnerModel, Outcomes};
use crate::network::latency::LatencyModel;
use crate::objectives::Objective;
use crate::privacy::PersonalEpsilons;
use crate::privacy::mechanisms::reports::NoiseFacts;
use crate::privacy::mechanisms::{CtlReport, Disclosed, Report, SilenceBy};
use crate::protocols::stage::{ReplicationSetup, Series, series};
use crate::vocab::{Epsilon, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// A service learns the best arm from users, each of whom makes its own reward private before it reports it.
///
/// All series use the same function and the same users: in every series, user k has the same random numbers for the noise
/// of its reward, for its privacy noise, for its delay and for its silence. A round is one user who tries an arm; regret
/// counts every user who tries an arm, whether or not a report follows. Of more than 1,000 rounds only the first, the
/// last and every k-th are recorded; k is `rounds` / 1,000, rounded up.
/// Source: Zhou and Tan 2021, "Local differential privacy for Bayesian optimization".
///
/// Example: `Local(service: "service", users: "users", rounds: 20, series: [Series(name: "open", report:
/// Disclosure(), learner: GpUcb())])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Name of the party that recommends and learns.
    #[schemars(with = "crate::vocab::PartyName")]
    pub service: String,
    /// Name of the party that represents all users; every user has the links and the availability of this party.
    #[schemars(with = "crate::vocab::PartyName")]
    pub users: String,
    /// T, the number of users who try an arm.
    pub rounds: u64,
    /// When users arrive. Default: `OneByOne(patience: "5s")`.
    #[serde(default)]
    pub arrivals: ArrivalModel,
    /// How long a user takes before it reports. Default: no time.
    #[serde(default)]
    pub answer_after: LatencyModel,
    /// Users who try an arm and never report. Default: `Independent(0)`, none.
    #[serde(default)]
    pub never_answer: NeverAnswer,
    /// Number of people. Each visit is by a person drawn at random, and the privacy loss is computed per person.
    /// Default: nobody visits twice, and the privacy loss is computed per reward.
    #[serde(default)]
    pub population: Option<NonZeroU64>,
    /// How often each person visits, where `population` is given. Default: `Even()`, all equally likely.
    #[serde(default, skip_serializing_if = "PopularityModel::is_even")]
    pub popularity: PopularityModel,
    /// Users with rewards, noise and answer rates of their own. Default: all users are alike.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cohorts: Vec<Cohort>,
    /// The series ends early after this many consecutive users without an answer. With `OneByOne`, a user is without an
    /// answer if its report does not arrive within `patience` (it may have tried the arm and kept silent). If users arrive
    /// without being asked, a user is without an answer if it gets no arm. Default: ten times `rounds`, and at least 10,000.
    #[serde(default)]
    pub give_up_after: Option<NonZeroU64>,
    /// The series that are compared.
    pub series: Vec<SeriesRecipe>,
}

/// One series: what a user reports, and how the service learns from it.
///
/// Example: `Series(name: "private", report: Ctl(epsilon: 1, bound: 3), learner: GpUcb())`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SeriesRecipe {
    /// Name in tables and figures.
    pub name: String,
    /// What a user sends to the service about its reward.
    pub report: Report,
    /// How the service chooses the next arm.
    pub learner: LearnerModel,
    /// An epsilon for each user, in place of the epsilon of `report`: a report is made private with the epsilon of its
    /// user. The bound of rewards is the same for every epsilon. A learner assumes the same noise variance for all reports:
    /// the mean over its users. Default: all users have the epsilon of `report`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilons: Option<PersonalEpsilons>,
    /// The mean of all rewards so far, which a registry that all users trust publishes to readers. Default: no mean is
    /// published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub running_mean: Option<RunningMean>,
    /// Whether the service has a learner of its own for each cohort; each of these learners learns only from the reports of
    /// its cohort. Default: false, one learner for all users.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_cohort: bool,
}

impl Series for SeriesRecipe {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Local {
    /// What is wrong with the recipe for these parties.
    pub(super) fn check(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(stage.party("service", &self.service).err());
        problems.extend(stage.party("users", &self.users).err());
        let parts = [self.service.as_str(), self.users.as_str()];
        problems.extend(series::same_party("users", "a party other than the service", parts));
        problems.extend(series::no_rounds(self.rounds, "at least one user", "the paper has 10000"));
        let arrivals = self.arrivals.as_dyn().problems();
        let name = self.arrivals.name();
        problems.extend(arrivals.into_iter().map(|problem| problem.below(name).below("arrivals")));
        problems.extend(time_problems(&self.answer_after).into_iter().map(|p| p.below("answer_after")));
        problems.extend(self.never_answer.problems().into_iter().map(|p| p.below("never_answer")));
        let name = self.popularity.name();
        let found = self.popularity.as_dyn().problems();
        problems.extend(found.into_iter().map(|p| p.below(name).below("popularity")));
        if self.population.is_none() && !self.popularity.is_even() {
            let cure = "write population: how many people there are, or leave popularity out";
            let found = format!("{name}, and nobody visits twice");
            problems.push(Problem::wrong(
                "popularity",
                "a `population`: popularity distributes the visits over its people",
                found,
                cure,
            ));
        }
        problems.extend(cohort::problems(&self.cohorts));
        problems.extend(series::none(&self.series, "name: .., report: .., learner: .."));
        for (index, recipe) in self.series.iter().enumerate() {
            problems.extend(series::taken(&self.series, index));
            let (name, found) = (recipe.report.name(), recipe.report.as_dyn().problems());
            problems
                .extend(found.into_iter().map(|p| p.below(name).below(&format!("series[{index}].report"))));
            problems.extend(self.personal_problems(recipe, index));
            problems.extend(self.published_problems(stage, recipe, index));
            let learner = recipe.learner.as_dyn().problems();
            problems.extend(learner.into_iter().map(|p| p.below(&format!("series[{index}].learner"))));
        }
        problems
    }

    /// What is wrong with published means.
    fn published_problems(
        &self,
        stage: &ReplicationSetup,
        recipe: &SeriesRecipe,
        index: usize,
    ) -> Vec<Problem> {
        let Some(published) = &recipe.running_mean else { return Vec::new() };
        let settings = ProtocolSettings {
            users: &self.users,
            rounds: self.rounds,
            population: self.population.map(NonZeroU64::get),
            differ: !self.cohorts.is_empty() || recipe.epsilons.is_some(),
            silence_is_informative: self.silence_is_informative(),
        };
        let place = format!("series[{index}].running_mean");
        let unknown =
            published.readers.iter().enumerate().filter_map(|(number, reader)| {
                stage.party(&format!("{place}.readers[{number}]"), reader).err()
            });
        let found = published.problems(&settings).into_iter().map(|problem| problem.below(&place));
        unknown.chain(found).collect()
    }

    /// What is wrong with personal epsilons, and with a learner for each cohort.
    fn personal_problems(&self, recipe: &SeriesRecipe, index: usize) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Some(epsilons) = &recipe.epsilons {
            let names: Vec<&str> = self.cohorts.iter().map(|cohort| cohort.name.as_str()).collect();
            let found = epsilons.problems(&names, "cohort").into_iter();
            problems.extend(found.map(|p| p.below(&format!("series[{index}].epsilons"))));
            let stated = recipe.report.as_dyn().epsilon().and_then(|epsilon| Epsilon::new(epsilon).ok());
            if stated.is_none_or(|epsilon| recipe.report.as_dyn().at_epsilon(epsilon).is_none()) {
                let expected = "a report with an epsilon, which `epsilons` replaces";
                let cure = "write report: Ctl(epsilon: 1), or leave `epsilons` out";
                let place = format!("series[{index}].report");
                problems.push(Problem::wrong(place, expected, recipe.report.name(), cure));
            }
        }
        if recipe.by_cohort && self.cohorts.is_empty() {
            let cure = "write cohorts: [Cohort(name: \"phone\"), ..], or leave `by_cohort` out";
            let place = format!("series[{index}].by_cohort");
            problems.push(Problem::wrong(place, "cohorts, each of which gets a learner", "none", cure));
        }
        problems
    }

    /// What is wrong with the recipe for an objective whose queries are the points of a box.
    pub(super) fn check_box(&self, objective: &dyn Objective) -> Vec<Problem> {
        if objective.domain().is_none() {
            return Vec::new();
        }
        let mut problems = Vec::new();
        if !self.cohorts.is_empty() {
            let expected = "no cohorts, because a cohort's function is drawn for a finite set of arms";
            let cure =
                "use a finite set of arms, `points: Sobol(1024)` in the objective, or leave `cohorts` out";
            problems.push(Problem::wrong("cohorts", expected, "cohorts, and the points of a box", cure));
        }
        if !objective.best_is_known()
            && self.never_answer.informative().is_some_and(|silence| silence.by == SilenceBy::Regret)
        {
            let expected =
                "silence by value: the largest value, from which a regret would follow, is not known";
            let cure = "write by: Value, or state `best` in the objective";
            problems.push(Problem::wrong("never_answer", expected, "by: Regret", cure));
        }
        for (index, recipe) in self.series.iter().enumerate() {
            if !recipe.learner.as_dyn().searches_boxes() {
                let cure = "use a finite set of arms, `points: Sobol(1024)` in the objective, or the learner Acquisition()";
                let found = format!("{}, which needs a finite set of arms", recipe.learner.name());
                let place = format!("series[{index}].learner");
                problems.push(Problem::wrong(place, "a learner that searches a box", found, cure));
            }
            let ctl = recipe.report.get::<CtlReport>();
            if ctl.is_some_and(|ctl| ctl.bound.is_none() || !ctl.clip) {
                let expected = "a stated bound, beyond which rewards are clipped: the largest absolute reward on \
                                a box is not known";
                let cure = "write bound: Some(6.0), for example, and leave out `clip`";
                let place = format!("series[{index}].report.Ctl.bound");
                problems.push(Problem::wrong(place, expected, "none, or clip: false", cure));
            }
        }
        problems
    }

    /// What is wrong with the recipe for the noise that the objective states.
    pub(super) fn check_noise(&self, objective: &dyn Objective) -> Vec<Problem> {
        let noise = objective.stated().noise;
        let facts = NoiseFacts { bounded: noise.is_bounded(), has_tail: &|delta| noise.has_tail(delta) };
        let mut problems = cohort::problems_with(&self.cohorts, objective);
        problems.extend(self.check_box(objective));
        for (index, recipe) in self.series.iter().enumerate() {
            let report = recipe.report.as_dyn();
            let place = format!("series[{index}].report");
            let found = report.problems_with(&facts).into_iter();
            problems.extend(found.map(|p| p.below(recipe.report.name()).below(&place)));
            let private = match recipe.report.get::<Disclosed>() {
                Some(_) => Some(false),
                None => report.epsilon().map(|_| true),
            };
            let outcomes = Outcomes { private, bounded: facts.bounded };
            let place = format!("series[{index}].learner");
            let found = recipe.learner.as_dyn().problems_with(outcomes).into_iter();
            problems.extend(found.map(|p| p.below(recipe.learner.name()).below(&place)));
        }
        problems
    }
}
