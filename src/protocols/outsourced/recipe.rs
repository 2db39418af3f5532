//! The settings of outsourced optimisation in a scenario, and their checks.

use crate::learners::{LearnerModel, ProblemConstants};
use crate::objectives::Instance;
use crate::privacy::mechanisms::{
    Informative, InputRelease, JohnsonLindenstrauss, MechanismError, OutcomeRelease, Rows, sigma_min,
};
use crate::protocols::stage::{ReplicationSetup, Retry, Series, series};
use crate::vocab::Problem;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU64, NonZeroUsize};

/// A curator lets a modeler search its records; the modeler sees only the inputs and outcomes that the curator releases.
///
/// All series use the same function, noise, initial points and random numbers of the network.
/// Source: Kharkovskii, Dai and Low 2020, "Private outsourced Bayesian optimization", Algorithms 1 and 2.
///
/// Example: `Outsourced(curator: "curator", modeler: "modeler", rounds: 5, series: [Series(name: "open", release:
/// Disclosure(), learner: GpUcb())])`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outsourced {
    /// Name of the party that holds the inputs and measures outcomes.
    #[schemars(with = "crate::vocab::PartyName")]
    pub curator: String,
    /// Name of the party that searches.
    #[schemars(with = "crate::vocab::PartyName")]
    pub modeler: String,
    /// Number of rounds of the learner, T.
    pub rounds: u64,
    /// Number of random rows that are measured before the first round. Default: 1.
    #[serde(default = "one")]
    pub initial_points: u64,
    /// Largest number of queries that wait for their answers at the same time: the modeler asks the next one as soon as an
    /// answer arrives. Each answer is released in the same way and at the same privacy cost for every value of this field,
    /// but which rows are queried may differ. The curator works on several queries at once if its `compute` is
    /// `Servers(..)`. `Parallel(..)` and `Acquisition()` take the open queries into account, and `ThompsonSampling()` makes
    /// a new draw for each query. Other learners choose as if the open queries had not been asked, so they may choose the
    /// same rows again. Above 1, the report shows no theorem's bound on the regret.
    /// Default: 1.
    #[serde(default = "one_query")]
    pub queries_at_once: NonZeroU64,
    /// When the modeler repeats a request. Default: after 1 s, then after waits that double up to 32 s, minus a random part
    /// of up to one half; a request is sent at most 100 times in all.
    #[serde(default)]
    pub retry: Retry,
    /// Answers that are missing because of the outcome's value or regret, such as answers about patients who do badly. The
    /// modeler is told that there is no answer and goes on with its next query, which may be for the same row. Whether a
    /// query is answered is decided anew each time, unless a private mechanism has already answered for its row. If this
    /// decision depends on the outcome, it is a release, with an entry in the ledger. Default: none, every query is
    /// answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silence: Option<Informative>,
    /// The series that are compared.
    pub series: Vec<SeriesRecipe>,
}

fn one() -> u64 {
    1
}

fn one_query() -> NonZeroU64 {
    NonZeroU64::MIN
}

/// One series: how the curator releases inputs and outcomes, and how the modeler chooses rows.
///
/// Example: `Series(name: "open", release: Disclosure(), learner: GpUcb())`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SeriesRecipe {
    /// Name in tables and figures.
    pub name: String,
    /// How the curator releases its inputs.
    pub release: InputRelease,
    /// How the curator releases outcomes. Default: `Disclosure()`, without protection.
    #[serde(default)]
    pub outcomes: OutcomeRelease,
    /// How the modeler chooses the next row.
    pub learner: LearnerModel,
}

impl Series for SeriesRecipe {
    fn name(&self) -> &str {
        &self.name
    }
}

/// The result of PO-GP-UCB's design rule for one series that releases its inputs by [`JohnsonLindenstrauss`].
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnsRow {
    /// The series.
    pub series: String,
    /// r, the number of columns of the series' projection.
    pub r: usize,
    /// omega at `r`: singular values are raised ("lifted") before the projection unless the smallest of them reaches omega.
    pub omega: f64,
    /// The smallest singular value of the centred inputs.
    pub sigma_min: f64,
    /// The largest r at which singular values are not lifted, because `sigma_min` reaches omega at the series' epsilon and
    /// delta; `None` if they are lifted at every r.
    pub largest_r: Option<usize>,
    /// omega at `largest_r`.
    pub omega_at_largest: Option<f64>,
    /// omega at the next larger r, or at r = 1 if `largest_r` is `None`; `sigma_min` is below this omega.
    pub omega_at_next: f64,
}

impl Outsourced {
    /// The design rule (Kharkovskii, Dai and Low 2020, section 3.4) for each series that releases its inputs by
    /// [`JohnsonLindenstrauss`]. The result is computed from the inputs without noise, so it is as sensitive as they are.
    ///
    /// # Errors
    /// [`MechanismError`] if the singular values cannot be computed.
    pub fn columns(&self, instance: &Instance) -> Result<Vec<ColumnsRow>, MechanismError> {
        let mut rows = Vec::new();
        let mut smallest = None;
        for series in &self.series {
            let Some(release) = series.release.get::<JohnsonLindenstrauss>() else { continue };
            let sigma_min = match smallest {
                Some(known) => known,
                None => *smallest.insert(sigma_min(&Rows::of(&instance.inputs)?)?),
            };
            let largest = release.largest_unlifted(sigma_min);
            let at = |r: NonZeroUsize| JohnsonLindenstrauss { r, ..release.clone() }.omega();
            let next = largest.map_or(NonZeroUsize::MIN, |r| r.saturating_add(1));
            rows.push(ColumnsRow {
                series: series.name.clone(),
                r: release.r.get(),
                omega: release.omega(),
                sigma_min,
                largest_r: largest.map(NonZeroUsize::get),
                omega_at_largest: largest.map(at),
                omega_at_next: at(next),
            });
        }
        Ok(rows)
    }

    /// What is wrong with the recipe for these parties.
    pub(super) fn check(&self, stage: &ReplicationSetup) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(stage.party("curator", &self.curator).err());
        problems.extend(stage.party("modeler", &self.modeler).err());
        let parts = [self.curator.as_str(), self.modeler.as_str()];
        problems.extend(series::same_party("modeler", "a party other than the curator", parts));
        problems.extend(self.retry.problems().into_iter().map(|problem| problem.below("retry")));
        let silence = self.silence.as_ref().map_or_else(Vec::new, Informative::problems);
        problems.extend(silence.into_iter().map(|problem| problem.below("silence")));
        problems.extend(series::none(&self.series, "name: .., release: .., learner: .."));
        problems.extend(series::no_rounds(self.rounds, "at least one round", "write 50, for example"));
        for (index, recipe) in self.series.iter().enumerate() {
            problems.extend(series::taken(&self.series, index));
            if !recipe.release.shows_inputs() && recipe.learner.as_dyn().needs_inputs() {
                problems.push(Problem::wrong(
                    format!("series[{index}].learner"),
                    "a learner that needs no inputs, since they are withheld",
                    "a learner with a model of the inputs",
                    "use Random(), or release something",
                ));
            }
            let facts = ProblemConstants { horizon: Some(self.rounds), ..ProblemConstants::default() };
            let place = format!("series[{index}].learner");
            problems.extend(recipe.learner.missing_quantity(facts).map(|problem| problem.below(&place)));
            let release = recipe.release.as_dyn().problems();
            problems.extend(release.into_iter().map(|p| p.below(&format!("series[{index}].release"))));
            let outcomes = recipe.outcomes.as_dyn().problems();
            problems.extend(outcomes.into_iter().map(|p| p.below(&format!("series[{index}].outcomes"))));
            let learner = recipe.learner.as_dyn().problems();
            problems.extend(learner.into_iter().map(|p| p.below(&format!("series[{index}].learner"))));
        }
        problems
    }
}
