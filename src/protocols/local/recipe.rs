//! What a scenario says about local differential privacy.

use super::arrivals::{Arrivals, NeverAnswer};
use crate::learners::LearnerModel;
use crate::network::latency::LatencyModel;
use crate::objectives::Instance;
use crate::privacy::mechanisms::{Ctl, MechanismError, NoiseArithmetic, Rewards};
use crate::protocols::stage::{Disclosed, Series, Stage, series};
use crate::vocab::{Delta, Epsilon, OutOfRange, Positive, Problem, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// A service learns the best arm from users who never show it their reward.
///
/// Every series is played on the same function and the same users: user k has the same noise, the same privacy noise,
/// and answers as late or never, whatever it is given. A round is one user who plays; regret counts every user who
/// plays, whether or not a report follows. Of more than 1,000 rounds, every so many are recorded.
/// Source: Zhou and Tan 2021, "Local differential privacy for Bayesian optimization".
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Local {
    /// Name of the party that recommends and learns.
    pub service: String,
    /// Name of the party that stands for all users; its links and availability are those of each of them.
    pub users: String,
    /// Users who play, T.
    pub rounds: u64,
    /// When users come. Default: `OneByOne(patience: "5s")`.
    #[serde(default)]
    pub arrivals: Arrivals,
    /// How long a user takes before it reports. Default: no time.
    #[serde(default)]
    pub answer_after: LatencyModel,
    /// Who plays and never reports. Default: `Independent(0)`, nobody.
    #[serde(default)]
    pub never_answer: NeverAnswer,
    /// How many people there are, each visit being one of a person drawn at random; privacy is then priced per person.
    /// Default: nobody comes twice, and privacy is priced per reward.
    #[serde(default)]
    pub population: Option<NonZeroU64>,
    /// Users in a row of whom nothing is heard before the series ends early. Users who come one by one are not heard of if
    /// no report comes (they may have played and kept silent); users who come on their own, if they get no arm.
    /// Default: ten times `rounds`, and at least 10,000.
    #[serde(default)]
    pub give_up_after: Option<NonZeroU64>,
    /// What is compared.
    pub series: Vec<SeriesRecipe>,
}

/// One way to do it: what a user reports, and who learns from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Series")]
pub struct SeriesRecipe {
    /// Name in tables and figures.
    pub name: String,
    /// What a user sends of its reward.
    pub report: Report,
    /// How the service chooses the next arm.
    pub learner: LearnerModel,
}

impl Series for SeriesRecipe {
    fn name(&self) -> &str {
        &self.name
    }
}

/// What a user sends of its reward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Report {
    /// Clipped and with Laplace noise.
    Ctl(CtlReport),
    /// The reward itself: no privacy.
    Disclosure(Disclosed),
}

/// Clipping to [-(B + R), B + R] and Laplace noise of scale 2 (B + R) / epsilon: each report is epsilon-LDP.
///
/// Source: Zhou and Tan 2021, curator CTL of Algorithm 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Ctl")]
pub struct CtlReport {
    /// epsilon of one report.
    pub epsilon: Epsilon,
    /// B + R, in units of the reward. Default: max |f| plus the bound on the noise, as the paper has it; required where
    /// the noise is unbounded. (The default is known to a simulator, not to a user: a real system must state it.)
    #[serde(default)]
    pub bound: Option<Positive>,
    /// Whether rewards beyond the bound are moved to it. Without clipping the certificate holds if no reward lies beyond the
    /// bound, and is void otherwise. Default: true.
    #[serde(default = "yes")]
    pub clip: bool,
    /// The paper's delta for unbounded noise, with `clip: false`: R is then the size that noise exceeds with this
    /// probability, by its law, and a report is (epsilon, delta)-LDP for the mean reward. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// How the noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

fn yes() -> bool {
    true
}

/// Why users cannot make their rewards private.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NoBound {
    /// The rewards' bound is no number above 0.
    #[error("no bound on the rewards: {0}")]
    OutOfRange(OutOfRange),
    /// Noise is unbounded, and the scenario states no bound.
    #[error(
        "expected bounded rewards, found unbounded noise: set report.Ctl.bound, beyond which rewards are clipped"
    )]
    Unbounded,
    /// The noise cannot be scaled to the bound.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// For callers that report in words.
impl From<NoBound> for String {
    fn from(error: NoBound) -> Self {
        error.to_string()
    }
}

impl CtlReport {
    /// What a user does to a reward of this objective.
    ///
    /// # Errors
    /// [`NoBound`], if no bound on the rewards is known or noise cannot be scaled to it.
    pub(super) fn curator(&self, instance: &Instance) -> Result<Ctl, NoBound> {
        let mean = instance.surrogate.mean;
        let values = || instance.values.iter();
        let bound = values().fold(0.0f64, |most, value| most.max((value - mean).abs()));
        let size = match self.delta {
            Some(delta) => instance.noise.tail(delta),
            None => instance.noise.bound(),
        };
        let largest = size.map(|size| mean.abs() + bound + size);
        let range = match (self.bound, largest) {
            (Some(bound), _) => bound,
            (None, Some(largest)) => Positive::new(largest).map_err(NoBound::OutOfRange)?,
            (None, None) => {
                return Err(NoBound::Unbounded);
            }
        };
        let reach = values().fold(0.0f64, |most, value| most.max(value.abs()));
        let rewards = match (self.clip, instance.noise.bound(), self.delta) {
            (true, ..) => Rewards::Clipped,
            (false, Some(noise), _) if reach + noise <= range.get() * (1.0 + 1e-12) => Rewards::Bounded,
            (false, _, Some(delta)) => Rewards::Likely(delta),
            (false, ..) => Rewards::Beyond,
        };
        let ctl = Ctl::new(self.epsilon, range, self.clip)?;
        Ok(ctl.assuming(rewards).with(self.arithmetic)?)
    }
}

impl Local {
    /// What is wrong with the recipe in this world.
    pub(super) fn check(&self, stage: &Stage) -> Vec<Problem> {
        let mut problems = Vec::new();
        problems.extend(stage.party("service", &self.service).err());
        problems.extend(stage.party("users", &self.users).err());
        let parts = [self.service.as_str(), self.users.as_str()];
        problems.extend(series::same_party("users", "another party than the service", parts));
        problems.extend(series::no_rounds(self.rounds, "at least one user", "the paper has 10000"));
        let (field, span) = match self.arrivals {
            Arrivals::OneByOne { patience } => ("arrivals.OneByOne.patience", patience),
            Arrivals::Poisson { every } => ("arrivals.Poisson.every", every),
        };
        if span == Span::ZERO {
            let cure = "write at least as long as a message travels";
            problems.push(Problem::wrong(field, "a duration above 0", span.to_string(), cure));
        }
        let name = self.answer_after.name();
        let found = self.answer_after.as_dyn().problems();
        problems.extend(found.into_iter().map(|p| p.below(name).below("answer_after")));
        problems.extend(series::none(&self.series, "name: .., report: .., learner: .."));
        for (index, recipe) in self.series.iter().enumerate() {
            problems.extend(series::taken(&self.series, index));
            if let Report::Ctl(CtlReport { clip, bound, delta: Some(delta), .. }) = recipe.report
                && (clip || bound.is_some())
            {
                problems.push(Problem::wrong(
                    format!("series[{index}].report.Ctl.delta"),
                    "no delta where rewards are clipped or their bound is stated",
                    delta.to_string(),
                    "leave out delta; or write clip: false and leave out bound, which then follows from the law of the \
                     noise",
                ));
            }
            let learner = recipe.learner.as_dyn().problems();
            problems.extend(learner.into_iter().map(|p| p.below(&format!("series[{index}].learner"))));
        }
        problems
    }
}
