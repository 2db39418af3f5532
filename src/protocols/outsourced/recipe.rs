//! What a scenario says about outsourced optimisation.

use crate::learners::LearnerModel;
use crate::privacy::mechanisms::{
    ClippedGaussian, ClippedLaplace, Gaussian, JohnsonLindenstrauss, Mechanism, MechanismError,
    NoisyProjection, NoisyRows,
};
use crate::protocols::stage::{Disclosed, Retry, Series, Stage, series};
use crate::vocab::{Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A curator outsources its search to a modeler who never sees the inputs themselves.
///
/// Every series is played on the same function, noise, initial points and network draws.
/// Source: Kharkovskii, Dai and Low 2020, "Private outsourced Bayesian optimization", Algorithms 1 and 2.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Outsourced {
    /// Name of the party that holds the inputs and measures outcomes.
    pub curator: String,
    /// Name of the party that searches.
    pub modeler: String,
    /// Rounds of the learner, T.
    pub rounds: u64,
    /// Random rows that are measured before the first round. Default: 1.
    #[serde(default = "one")]
    pub initial_points: u64,
    /// When the modeler asks again. Default: after 1 s, 100 times in all.
    #[serde(default)]
    pub retry: Retry,
    /// What is compared.
    pub series: Vec<SeriesRecipe>,
}

fn one() -> u64 {
    1
}

/// One way to do it: what is released, and who learns from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SeriesRecipe {
    /// Name in tables and figures.
    pub name: String,
    /// What the curator releases of its inputs.
    pub release: InputRelease,
    /// How outcomes are answered. Default: `Disclosure()`, as they are.
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

/// What the curator releases of its inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum InputRelease {
    /// A random projection, as PO-GP-UCB has it. The published claim is refuted for more than d + 1 rows.
    JohnsonLindenstrauss(JohnsonLindenstrauss),
    /// The inputs with Gaussian noise: (epsilon, delta)-DP for one row moved by a distance of at most 1.
    NoisyRows(NoisyRows),
    /// A random projection with Gaussian noise added after it: (epsilon, delta)-DP for the same neighbours.
    NoisyProjection(NoisyProjection),
    /// The inputs themselves: no privacy.
    Disclosure(Disclosed),
    /// Only how many rows there are; a learner can then only choose at random.
    Withheld(Withheld),
}

/// Nothing but the number of rows: `Withheld()`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Withheld {}

impl InputRelease {
    /// Whether anything of the inputs is shown, noisy or not.
    #[must_use]
    pub fn shows_inputs(&self) -> bool {
        !matches!(self, Self::Withheld(_))
    }

    /// What the ledger calls it.
    pub(super) fn what(&self) -> &'static str {
        match self {
            Self::JohnsonLindenstrauss(_) | Self::NoisyProjection(_) => "projected inputs Z",
            Self::NoisyRows(_) => "noisy inputs",
            Self::Disclosure(_) => "inputs X",
            Self::Withheld(_) => "number of rows",
        }
    }
}

/// How outcomes are answered.
///
/// A private outcome belongs to its row: its price is that of the row's outcome replaced by any other. A row that is
/// asked for again gets the answer it got before, which costs nothing more, so that no row ever costs more than its
/// one release. The modeler adds the variance of the noise, which is public, to the variance that its model assumes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum OutcomeRelease {
    /// As they are, measured anew in every round: no privacy.
    Disclosure(Disclosed),
    /// Clipped, with Laplace noise: epsilon-DP for the outcome of one row.
    ClippedLaplace(ClippedLaplace),
    /// Clipped, with Gaussian noise: (epsilon, delta)-DP for the outcome of one row.
    ClippedGaussian(ClippedGaussian),
}

impl Default for OutcomeRelease {
    fn default() -> Self {
        Self::Disclosure(Disclosed {})
    }
}

impl OutcomeRelease {
    /// The mechanism of a private release; none for outcomes as they are.
    pub(super) fn mechanism(&self) -> Option<&dyn Mechanism<Input = f64, Output = f64>> {
        match self {
            Self::Disclosure(_) => None,
            Self::ClippedLaplace(mechanism) => Some(mechanism),
            Self::ClippedGaussian(mechanism) => Some(mechanism),
        }
    }

    /// Variance of the noise that the release adds; public.
    pub(super) fn variance(&self) -> Result<f64, MechanismError> {
        match self {
            Self::Disclosure(_) => Ok(0.0),
            Self::ClippedLaplace(mechanism) => mechanism.variance(),
            Self::ClippedGaussian(mechanism) => mechanism.variance(),
        }
    }
}

impl Outsourced {
    /// What is wrong with the recipe in this world.
    pub(super) fn check(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(stage.party("curator", &self.curator).err());
        problems.extend(stage.party("modeler", &self.modeler).err());
        let parts = [self.curator.as_str(), self.modeler.as_str()];
        problems.extend(series::same_party("modeler", "another party than the curator", parts));
        problems.extend(self.retry.problems().into_iter().map(|problem| problem.below("retry")));
        problems.extend(series::none(&self.series, "name: .., release: .., learner: .."));
        problems.extend(series::no_rounds(self.rounds, "at least one round", "the papers use 50"));
        for (index, recipe) in self.series.iter().enumerate() {
            problems.extend(series::taken(&self.series, index));
            if matches!(recipe.release, InputRelease::Withheld(_)) && recipe.learner.as_dyn().needs_inputs() {
                problems.push(Problem::wrong(
                    format!("series[{index}].learner"),
                    "a learner that needs no inputs, since they are withheld",
                    "a learner with a model of the inputs",
                    "use Random(), or release something",
                ));
            }
            let promise = match &recipe.release {
                InputRelease::NoisyRows(rows) => Some((rows.epsilon, rows.delta)),
                InputRelease::NoisyProjection(rows) => Some((rows.epsilon, rows.delta)),
                _ => None,
            };
            let one = Positive::new(1.0).expect("1 is above 0");
            if let Some(Err(error)) = promise.map(|(epsilon, delta)| Gaussian::analytic(epsilon, delta, one))
            {
                problems.push(Problem::wrong(
                    format!("series[{index}].release"),
                    "noise of a finite size",
                    error.to_string(),
                    "raise epsilon or delta",
                ));
            }
            if let Err(error) = recipe.outcomes.variance() {
                problems.push(Problem::wrong(
                    format!("series[{index}].outcomes"),
                    "noise of a finite size",
                    error.to_string(),
                    "write a range such as Range(low: -3, high: 3), and an epsilon that is not vanishing",
                ));
            }
            let learner = recipe.learner.as_dyn().problems();
            problems.extend(learner.into_iter().map(|p| p.below(&format!("series[{index}].learner"))));
        }
        problems
    }
}
