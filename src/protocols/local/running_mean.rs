//! The mean of all rewards so far, which a registry that the users trust publishes again and again.

use crate::privacy::mechanisms::clipping::Range;
use crate::privacy::mechanisms::{Gaussian, MechanismError, NoiseArithmetic, SumEstimate, TreeAggregation};
use crate::vocab::{Delta, Epsilon, Positive, Problem, TreePlan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// The mean of all reported rewards so far, published after every reward (or every k-th) to readers. A registry that all
/// users trust adds up their clipped rewards by tree aggregation, so that all publications together have one privacy
/// cost.
///
/// The standard deviation of the noise of a sum grows with the logarithm of the number of rewards; with fresh noise for
/// each publication, it would have to grow with the square root of this number. Readers receive only the means. But the
/// rewards depend on the arms that users were given, and the arms depend on earlier reports. So the ledger lists the
/// reports for readers too, unless the learner ignores outcomes.
///
/// Example: `RunningMean(readers: ["public"], range: Range(low: -3, high: 3), epsilon: 1, delta: 1e-6)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunningMean {
    /// Names of the parties to whom the means are published.
    pub readers: Vec<String>,
    /// The public range to which rewards are clipped, in units of the objective.
    pub range: Range,
    /// Epsilon of all published means together, for one person.
    pub epsilon: Epsilon,
    /// The delta that belongs to `epsilon`.
    pub delta: Delta,
    /// Largest number of rewards of one person that count; further rewards of the person are left out of the mean.
    /// Default: the mean number of visits of a person, `rounds` divided by `population`, rounded up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contributions: Option<NonZeroU64>,
    /// Number of counted rewards from one publication to the next. Default: 1.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub every: NonZeroU64,
    /// Number of rewards after which a new tree begins. The trees are then smaller: each partial sum needs less noise for
    /// the same epsilon, but the sum of all rewards has the noise of more partial sums. Default: one tree for all rewards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restart: Option<NonZeroU64>,
    /// How a sum is computed from noisy partial sums. Default: `FewestPartialSums`.
    #[serde(default)]
    pub estimate: SumEstimate,
    /// How the noise is sampled. Default: `Exact`.
    #[serde(default)]
    pub arithmetic: NoiseArithmetic,
}

const fn one() -> NonZeroU64 {
    NonZeroU64::MIN
}

const fn is_one(number: &NonZeroU64) -> bool {
    number.get() == 1
}

/// The condition under which the privacy loss of published means holds, besides the conditions of all releases and those of
/// the mechanism.
pub(super) const TRUSTED: &str = "users trusting the registry that adds up their rewards";

impl RunningMean {
    /// The mechanism for at most `rounds` rewards of `population` people.
    ///
    /// # Errors
    /// [`MechanismError`] if the width of the range is not a finite number above 0, or if no finite noise gives this epsilon
    /// and delta.
    pub fn mechanism(&self, rounds: u64, population: u64) -> Result<TreeAggregation, MechanismError> {
        let steps = NonZeroU64::new(rounds).unwrap_or(NonZeroU64::MIN);
        let visits = NonZeroU64::new(rounds.div_ceil(population.max(1))).unwrap_or(NonZeroU64::MIN);
        let plan =
            TreePlan { steps, contributions: self.contributions.unwrap_or(visits), restart: self.restart };
        let width = self.range.width()?;
        let unit = Positive::new(1.0).map_err(MechanismError::out_of_range)?;
        let multiplier = Gaussian::analytic(self.epsilon, self.delta, unit)?.standard_deviation();
        let sd = multiplier * self.estimate.sensitivity_squared(&plan).sqrt() * width.get();
        let sd = Positive::new(sd).map_err(MechanismError::out_of_range)?;
        Ok(TreeAggregation::new(plan, sd, width).estimated_by(self.estimate).with(self.arithmetic))
    }

    /// The problems of these settings, given the settings of the protocol.
    pub(super) fn problems(&self, protocol: &ProtocolSettings<'_>) -> Vec<Problem> {
        let mut problems = Vec::new();
        let mut refuse = |field: &str, expected: &str, found: String, cure: &str| {
            problems.push(Problem::wrong(field, expected, found, cure));
        };
        if self.readers.is_empty() {
            refuse("readers", "at least one party", "none".to_owned(), "write readers: [\"public\"]");
        }
        for (index, reader) in self.readers.iter().enumerate() {
            let field = format!("readers[{index}]");
            if self.readers[..index].contains(reader) {
                refuse(&field, "another party", format!("{reader} again"), "name each party once");
            }
            if reader == protocol.users {
                let cure = "name a party that only reads";
                refuse(&field, "a party other than the users", reader.clone(), cure);
            }
        }
        let Some(population) = protocol.population else {
            let expected =
                "`population`, since the privacy cost of all means together is stated for one person";
            let cure = "write population: how many people there are, in the protocol";
            refuse("", expected, "none".to_owned(), cure);
            return problems;
        };
        if protocol.differ {
            let expected =
                "users who are all alike, since the means have one privacy cost, the same for all users";
            let found = "cohorts, or an epsilon for each user".to_owned();
            refuse("", expected, found, "leave out `running_mean`, or leave out `cohorts` and `epsilons`");
        }
        if protocol.silence_is_informative {
            let expected =
                "silence that does not depend on the reward, since the number of rewards so far is published";
            let found = "never_answer that depends on it".to_owned();
            refuse("", expected, found, "write never_answer: Independent(0.1)");
        }
        match self.range.width().and_then(|_| self.mechanism(protocol.rounds, population)) {
            Ok(_) => {}
            Err(error) => refuse(
                "",
                "noise for this range, epsilon and delta",
                error.to_string(),
                "raise epsilon or delta",
            ),
        }
        problems
    }
}

/// The settings of the protocol on which published means depend.
pub(super) struct ProtocolSettings<'a> {
    pub(super) users: &'a str,
    pub(super) rounds: u64,
    pub(super) population: Option<u64>,
    /// Whether there are cohorts or personal epsilons.
    pub(super) differ: bool,
    pub(super) silence_is_informative: bool,
}
