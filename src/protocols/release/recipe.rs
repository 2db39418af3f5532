//! The settings of private release in a scenario, and their checks.

use super::publication::{PublicationModel, RandomRepetitions, TaskOutline};
use crate::objectives::Objective;
use crate::privacy::mechanisms::{Informative, NoiseArithmetic, SilenceBy};
use crate::protocols::stage::{ReplicationSetup, Retry, Series, series};
use crate::vocab::{Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A data owner tunes on a sensitive validation set and publishes a setting, its performance, or both.
///
/// All series use the same function, the same noise in trial k, and the same random numbers of the network. Regret is
/// that of the owner's trials; the quality of what a reader gets is in the report under "Outcomes".
/// Source: Kusner, Gardner, Garnett and Weinberger 2015, "Differentially private Bayesian optimization".
///
/// Example: `Release(owner: "owner", readers: ["reader"], rounds: 5, series: [Series(name: "in the open",
/// publication: NonPrivate(learner: GpUcb()))])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Name of the party that holds the validation set.
    #[schemars(with = "crate::vocab::PartyName")]
    pub owner: String,
    /// Names of the parties that get the publication. Results are reported for the reader that receives it first.
    #[schemars(with = "Vec<crate::vocab::PartyName>")]
    pub readers: Vec<String>,
    /// Names of the owner's machines; each machine trains one model at a time. Default: none, the owner trains the
    /// models itself, in no virtual time.
    #[serde(default)]
    #[schemars(with = "Vec<crate::vocab::PartyName>")]
    pub workers: Vec<String>,
    /// Number of trials of a learner, T.
    pub rounds: u64,
    /// When a trial goes to another worker, and when a publication is sent again. Default: after 10 min, then after waits
    /// that double up to 320 min, minus a random part of up to one half; a request is sent at most 100 times in all.
    #[serde(default = "default_retry")]
    pub retry: Retry,
    /// Outcomes of trials that the owner never learns, because of their value or regret, such as outcomes of jobs that fail
    /// where a model does badly. Such a trial counts, and the search goes on without its outcome. What is published depends
    /// on which outcomes are known, so whether an outcome is known counts as a release to the readers, with an entry in the
    /// ledger. Allowed only for publications whose proofs hold for any set of known outcomes (`FixedGrid`, `EverySetting`),
    /// or that have no proof (`NonPrivate`, `Blind`). Default: none, every outcome is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Informative>,
    /// The series that are compared.
    pub series: Vec<ReleaseSeries>,
}

fn default_retry() -> Retry {
    Retry { timeout: Span::from_millis(600_000), ..Retry::default() }
}

/// One series: one way to publish.
///
/// Example: `Series(name: "in the open", publication: NonPrivate(learner: GpUcb()))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct ReleaseSeries {
    /// Name in tables and figures.
    pub name: String,
    /// What is published and how it is made private.
    pub publication: PublicationModel,
}

impl Series for ReleaseSeries {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Release {
    /// The problems of publications that assume a larger correlation of neighbours than the objective states: their proofs
    /// are about functions with the larger correlation, not about the objective's.
    pub(super) fn check_neighbours(&self, objective: &dyn Objective) -> Vec<Problem> {
        let Some(stated) = objective.neighbour_correlation() else { return Vec::new() };
        let assumed = self.series.iter().enumerate().filter_map(|(index, series)| {
            let assumed = series.publication.as_dyn().neighbour_correlation()?;
            (assumed.get() > stated.get()).then(|| {
                Problem::wrong(
                    format!("series[{index}].publication.{}.neighbour_correlation", series.publication.name()),
                    format!("at most {stated}, the correlation of neighbouring data sets (k1) that the objective states in `correlation`"),
                    assumed.to_string(),
                    format!("write at most {stated}: the sensitivity is proven for functions that are no less correlated"),
                )
            })
        });
        assumed.collect()
    }

    /// What is wrong with the recipe for the noise and the loss that the objective states.
    pub(super) fn check_outcomes(&self, objective: &dyn Objective) -> Vec<Problem> {
        let stated = objective.stated();
        let mut problems = Vec::new();
        if stated.noise.is_normal() == Some(false) {
            let expected = "an objective with normal noise, for which releases are analysed";
            let cure = "take an objective with normal noise: GpSample(..), Table(..), Tuning(..)";
            problems.push(Problem::wrong("", expected, stated.noise.words(), cure));
        }
        let (noise_variance, loss) = (stated.noise.variance(), stated.loss);
        let foreseen = TaskOutline { noise_variance, loss, rounds: self.rounds };
        for (index, series) in self.series.iter().enumerate() {
            let place = format!("series[{index}].publication.{}", series.publication.name());
            let found = series.publication.as_dyn().problems_with(foreseen).into_iter();
            problems.extend(found.map(|problem| problem.below(&place)));
        }
        problems
    }

    /// What is wrong with the recipe for an objective whose queries are the points of a box.
    pub(super) fn check_box(&self, objective: &dyn Objective) -> Vec<Problem> {
        if objective.domain().is_none() {
            return Vec::new();
        }
        let mut problems = Vec::new();
        if !objective.best_is_known() && self.silence.is_some_and(|silence| silence.by == SilenceBy::Regret) {
            let expected =
                "silence by value: silence by regret needs the objective's largest value, which is not known";
            let cure = "write by: Value, or state `best` in the objective";
            problems.push(Problem::wrong("silence", expected, "by: Regret", cure));
        }
        for (index, series) in self.series.iter().enumerate() {
            let (publication, name) = (series.publication.as_dyn(), series.publication.name());
            if let Some(reason) = publication.needs_finite_set() {
                problems.push(Problem::wrong(
                    format!("series[{index}].publication"),
                    "a publication for the points of a box: RandomRepetitions, Lipschitz, NonPrivate or Blind",
                    format!("{name}: {reason}"),
                    "take one of these, or a finite set of arms, `points: Sobol(1024)` in the objective",
                ));
            }
            let domain = objective.domain();
            let on_box = domain.as_ref().and_then(|domain| publication.problem_on_box(domain));
            let place = format!("series[{index}].publication.{name}");
            problems.extend(on_box.map(|problem| problem.below(&place)));
            let learner = publication.learner().filter(|learner| !learner.as_dyn().searches_boxes());
            problems.extend(learner.map(|learner| {
                Problem::wrong(
                    format!("series[{index}].publication.{name}.learner"),
                    "a learner that searches a box",
                    format!("{}, which needs a finite set of arms", learner.name()),
                    "use a finite set of arms, `points: Sobol(1024)` in the objective, or the learner Acquisition()",
                )
            }));
        }
        problems
    }

    /// What is wrong with the recipe for these parties.
    pub(super) fn check(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let mut problems: Vec<Problem> = stage.party("owner", &self.owner).err().into_iter().collect();
        let mut taken = BTreeSet::from([self.owner.as_str()]);
        for (field, names) in [("readers", &self.readers), ("workers", &self.workers)] {
            for (index, name) in names.iter().enumerate() {
                let path = format!("{field}[{index}]");
                problems.extend(stage.party(&path, name).err());
                if !taken.insert(name) {
                    let cure = "name another party of `parties`";
                    problems.push(Problem::wrong(path, "a party that has no other role", name, cure));
                }
            }
        }
        if self.readers.is_empty() {
            let cure = "name a party of `parties` that receives the publication";
            problems.push(Problem::wrong("readers", "at least one reader", "none", cure));
        }
        problems.extend(self.retry.problems().into_iter().map(|problem| problem.below("retry")));
        problems.extend(series::no_rounds(self.rounds, "at least one round", "write 50, for example"));
        problems.extend(series::none(&self.series, "name: .., publication: .."));
        let silence = self.silence.as_ref().map_or_else(Vec::new, Informative::problems);
        problems.extend(silence.into_iter().map(|problem| problem.below("silence")));
        for (index, recipe) in self.series.iter().enumerate() {
            let place = format!("series[{index}]");
            if self.silence.is_some() && !recipe.publication.as_dyn().allows_missing_outcomes() {
                problems.push(Problem::wrong(
                    format!("{place}.publication"),
                    "a publication whose proof holds for any set of known outcomes, together with `silence`",
                    format!("{}, whose proof needs the outcome of every trial", recipe.publication.name()),
                    "take FixedGrid, EverySetting, NonPrivate or Blind, or leave `silence` out",
                ));
            }
            if !self.workers.is_empty() && recipe.publication.get::<RandomRepetitions>().is_some() {
                problems.push(Problem::wrong(
                    format!("{place}.publication"),
                    "a publication with a fixed number of trials, together with `workers`: the time of training and the \
                     messages to machines tell the number of trials, which nobody may learn",
                    "RandomRepetitions",
                    "leave `workers` out: the owner then trains in no virtual time",
                ));
            }
            problems.extend(series::taken(&self.series, index));
            let found = recipe.publication.as_dyn().problems().into_iter().chain(too_noisy(recipe));
            let below = |problem: Problem| {
                problem.below(recipe.publication.name()).below("publication").below(&place)
            };
            problems.extend(found.map(below));
        }
        problems
    }
}

/// Least epsilon of a Laplace release with exact arithmetic. The lattice on which exact noise is drawn has room for noise
/// of 5e8 times the sensitivity, and rounding may double the sensitivity.
const LEAST_EPSILON: f64 = 4e-9;

/// The problem of an epsilon that needs more noise than exact arithmetic has room for.
fn too_noisy(series: &ReleaseSeries) -> Option<Problem> {
    let (epsilon, arithmetic) = series.publication.as_dyn().laplace_epsilon()?;
    (arithmetic == NoiseArithmetic::Exact && epsilon < LEAST_EPSILON).then(|| {
        Problem::wrong(
            "epsilon",
            format!("at least {LEAST_EPSILON:e} for each release with exact arithmetic"),
            format!("{epsilon:e}"),
            "raise it, or write `arithmetic: Ideal`",
        )
    })
}
