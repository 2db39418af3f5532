//! What a scenario says about local differential privacy.

use super::arrivals::{Arrivals, NeverAnswer};
use super::popularity::PopularityModel;
use crate::learners::LearnerModel;
use crate::network::latency::LatencyModel;
use crate::privacy::mechanisms::Report;
use crate::protocols::stage::{Series, Stage, series};
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// A service learns the best arm from users who never show it their reward.
///
/// All series use the same function and the same users: user k has the same reward noise, the same privacy noise and
/// the same random numbers for its delay and its silence in every series. A round is one user who tries an arm; regret
/// counts every user who tries an arm, whether or not a report follows. Of more than 1,000 rounds only every k-th is
/// recorded, about 1,000 in all.
/// Source: Zhou and Tan 2021, "Local differential privacy for Bayesian optimization".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Name of the party that recommends and learns.
    pub service: String,
    /// Name of the party that represents all users; its links and availability are those of each of them.
    pub users: String,
    /// Users who try an arm, T.
    pub rounds: u64,
    /// When users come. Default: `OneByOne(patience: "5s")`.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// How long a user takes before it reports. Default: no time.
    #[serde(default)]
    pub answer_after: LatencyModel,
    /// Users who try an arm and never report. Default: `Independent(0)`, none.
    #[serde(default)]
    pub never_answer: NeverAnswer,
    /// Number of people. Each visit is by a person drawn at random, and the privacy loss is computed per person.
    /// Default: nobody comes twice, and the privacy loss is computed per reward.
    #[serde(default)]
    pub population: Option<NonZeroU64>,
    /// How often each of them comes, where `population` is given. Default: `Even()`, all alike.
    #[serde(default, skip_serializing_if = "PopularityModel::is_even")]
    pub popularity: PopularityModel,
    /// The series ends early after this many consecutive users without an answer. With `OneByOne`, a user does not answer
    /// if no report arrives (it may have tried the arm and kept silent); where users come on their own, if it gets no arm.
    /// Default: ten times `rounds`, and at least 10,000.
    #[serde(default)]
    pub give_up_after: Option<NonZeroU64>,
    /// The series that are compared.
    pub series: Vec<SeriesRecipe>,
}

/// One series: what a user reports, and how the service learns from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SeriesRecipe {
    /// Name in tables and figures.
    pub name: String,
    /// What a user sends to the service about its reward.
    pub report: Report,
    /// How the service chooses the next arm.
    pub learner: LearnerModel,
}

impl Series for SeriesRecipe {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Local {
    /// What is wrong with the recipe for these parties.
    pub(super) fn check(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(stage.party("service", &self.service).err());
        problems.extend(stage.party("users", &self.users).err());
        let parts = [self.service.as_str(), self.users.as_str()];
        problems.extend(series::same_party("users", "another party than the service", parts));
        problems.extend(series::no_rounds(self.rounds, "at least one user", "the paper has 10000"));
        problems.extend(self.arrival_problems());
        problems.extend(time_problems(&self.answer_after).into_iter().map(|p| p.below("answer_after")));
        let name = self.popularity.name();
        let found = self.popularity.as_dyn().problems();
        problems.extend(found.into_iter().map(|p| p.below(name).below("popularity")));
        if self.population.is_none() && !self.popularity.is_even() {
            let cure = "write population: how many people there are, or leave popularity out";
            let found = format!("{name}, and nobody comes twice");
            problems.push(Problem::wrong("popularity", "a population whose visits it divides", found, cure));
        }
        problems.extend(series::none(&self.series, "name: .., report: .., learner: .."));
        for (index, recipe) in self.series.iter().enumerate() {
            problems.extend(series::taken(&self.series, index));
            let (name, found) = (recipe.report.name(), recipe.report.as_dyn().problems());
            problems
                .extend(found.into_iter().map(|p| p.below(name).below(&format!("series[{index}].report"))));
            let learner = recipe.learner.as_dyn().problems();
            problems.extend(learner.into_iter().map(|p| p.below(&format!("series[{index}].learner"))));
        }
        problems
    }

    fn arrival_problems(&self) -> Vec<Problem> {
        let (field, span, cure) = match &self.arrivals {
            Arrivals::OneByOne { patience } => {
                ("arrivals.OneByOne.patience", *patience, "write at least as long as a message travels")
            }
            Arrivals::Poisson { every } => {
                ("arrivals.Poisson.every", *every, "write at least as long as a message travels")
            }
            Arrivals::Renewal { interval } => {
                let place = "arrivals.Renewal.interval";
                let found = time_problems(interval);
                if !found.is_empty() {
                    return found.into_iter().map(|problem| problem.below(place)).collect();
                }
                let mean = Span::from_seconds(interval.as_dyn().mean_seconds());
                (place, mean, "give it a mean above 0: else all users come at once")
            }
        };
        if span > Span::ZERO {
            return Vec::new();
        }
        vec![Problem::wrong(field, "a duration above 0", span.to_string(), cure)]
    }
}

/// What is wrong with a time that users take. Protocols read no files, so that measured times would all be 0.
fn time_problems(law: &LatencyModel) -> Vec<Problem> {
    let name = law.name();
    let mut found = law.as_dyn().problems();
    if let Some(file) = law.as_dyn().files().first() {
        let expected = "a law that reads no file: measured times are for links, parties and outages";
        let cure = "write a law with parameters that fit the file";
        found.push(Problem::wrong("", expected, file.display().to_string(), cure));
    }
    found
        .into_iter()
        .map(|problem| if problem.path.is_empty() { problem } else { problem.below(name) })
        .collect()
}
