//! The stated division of a file's records among agents: label skew, quantity skew, feature shift and noise.

use crate::vocab::{NonNegative, Origin, Positive, Problem, PublicFact};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// Agents among which records of the file are divided at random, once per study. Every record has one holder. With
/// several splits, the records of each class are first divided among the splits in proportion to their numbers of
/// agents, so that each group of agents can have a split of its own.
///
/// The kinds of skew are independent of each other; without any, the records of each class are divided equally among the
/// agents, up to rounding. Every agent needs one record for training and one that is held out, so an agent that would hold
/// fewer than two gets random records of the agent with the most. Sources: Yurochkin et al. 2019 and Li et al. 2022
/// (`Dirichlet` of labels and of sizes, feature noise).
///
/// Example: `Split(agents: 20, labels: Dirichlet(0.3))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Number of agents. All splits together must have exactly as many agents as take part.
    pub agents: NonZeroU32,
    /// Label skew: how the records of each class are divided. Default: `Alike`.
    #[serde(default)]
    pub labels: Labels,
    /// Quantity skew: the numbers of records. Default: `Alike`.
    #[serde(default)]
    pub sizes: Sizes,
    /// Feature shift: how the ranges of a feature are divided. Default: none, records are not divided by ranges.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<FeatureShift>,
    /// Standard deviation of the feature noise of the split's last agent, in standard deviations of the feature over the
    /// file. Agent k of the split's K agents, counted from 1, gets normal noise added to every feature of each of its
    /// records. The standard deviation of this noise is the product of k/K, `feature_noise`, and the feature's standard
    /// deviation over the file. Default: 0.
    #[serde(default = "zero")]
    pub feature_noise: NonNegative,
}

/// The records of each class are divided also by ranges of a feature, so that agents hold different ranges. The ranges
/// have equal numbers of the file's records, up to ties. The agents' shares of each range are drawn from a Dirichlet
/// distribution, in which an agent has the concentration alpha times the agent's size over the mean size. An agent's share
/// of the records of one class in one range is proportional to a b / s. Here a is the agent's share of the class, b the
/// agent's share of the range, and s the agent's expected share of all records.
///
/// Example: `FeatureShift(column: "ax_std", alpha: 0.3)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FeatureShift {
    /// Name of the feature, one of the `inputs` that are numbers.
    pub column: String,
    /// Concentration, 0.01 to 1e6. The smaller it is, the fewer agents hold most of a range.
    pub alpha: Positive,
    /// Number of ranges, 2 to 100. Default: 4.
    #[serde(default = "four")]
    pub ranges: NonZeroU32,
}

fn four() -> NonZeroU32 {
    const FOUR: NonZeroU32 = NonZeroU32::new(4).expect("4 is not zero");
    FOUR
}

/// How the records of each class are divided among the agents of a split.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Labels {
    /// In proportion to the agents' sizes.
    #[default]
    Alike,
    /// By shares that are drawn for each class from a Dirichlet distribution. In it, an agent has the concentration alpha,
    /// 0.01 to 1e6, times the agent's size over the mean size. The smaller alpha is, the fewer agents hold most of a class.
    ///
    /// Example: `Dirichlet(0.3)`.
    Dirichlet(Positive),
}

/// How many records the agents of a split have, before label skew and feature shift.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub enum Sizes {
    /// Equally many each.
    #[default]
    Alike,
    /// Shares from a Dirichlet distribution with concentration alpha, 0.01 to 1e6, for each agent.
    ///
    /// Example: `Dirichlet(0.5)`.
    Dirichlet(Positive),
    /// In proportion to exp(sigma z), where z is drawn from the standard normal distribution for each agent
    /// and sigma is from 0 to 3.
    ///
    /// Example: `LogNormal(0.5)`.
    LogNormal(NonNegative),
}

fn zero() -> NonNegative {
    NonNegative::new(0.0).expect("0 is not below 0")
}

/// The concentrations allowed. With smaller ones, all shares may be 0 in floating point; with larger ones,
/// the shares are almost those of `Alike`.
const CONCENTRATIONS: std::ops::RangeInclusive<f64> = 0.01..=1e6;
const MAX_SIGMA: f64 = 3.0;
/// Largest feature noise, in standard deviations of a feature.
const MAX_NOISE: f64 = 100.0;
/// The numbers of ranges of a feature that are allowed.
const RANGES: std::ops::RangeInclusive<u32> = 2..=100;
/// Smallest number of records of an agent: one for training, one that is held out.
pub(super) const MIN_RECORDS: usize = 2;

impl Split {
    /// What is wrong with the values.
    pub(super) fn problems(&self, inputs: &[String]) -> Vec<Problem> {
        let concentration = |path: &str, alpha: Positive| {
            (!CONCENTRATIONS.contains(&alpha.get())).then(|| {
                let expected =
                    format!("a concentration from {} to {:e}", CONCENTRATIONS.start(), CONCENTRATIONS.end());
                Problem::wrong(path, expected, alpha.to_string(), "write 0.3, for example")
            })
        };
        let labels = match self.labels {
            Labels::Alike => None,
            Labels::Dirichlet(alpha) => concentration("labels.Dirichlet", alpha),
        };
        let sizes = match self.sizes {
            Sizes::Alike => None,
            Sizes::Dirichlet(alpha) => concentration("sizes.Dirichlet", alpha),
            Sizes::LogNormal(sigma) => (sigma.get() > MAX_SIGMA).then(|| {
                let expected = format!("a sigma of at most {MAX_SIGMA}");
                Problem::wrong("sizes.LogNormal", expected, sigma.to_string(), "write 0.5, for example")
            }),
        };
        let noise = (self.feature_noise.get() > MAX_NOISE).then(|| {
            let expected = format!("at most {MAX_NOISE} standard deviations");
            let found = self.feature_noise.to_string();
            Problem::wrong("feature_noise", expected, found, "write 0.5, for example")
        });
        let mut problems: Vec<Problem> = labels.into_iter().chain(sizes).chain(noise).collect();
        if let Some(shift) = &self.features {
            problems.extend(concentration("features.alpha", shift.alpha));
            if !inputs.contains(&shift.column) {
                problems.push(Problem::unknown(
                    "features.column",
                    "column of `inputs`",
                    &shift.column,
                    inputs,
                ));
            }
            if !RANGES.contains(&shift.ranges.get()) {
                let expected = format!("{} to {} ranges", RANGES.start(), RANGES.end());
                let found = shift.ranges.to_string();
                problems.push(Problem::wrong("features.ranges", expected, found, "write 4, for example"));
            }
        }
        problems
    }

    /// Number of agents.
    pub(super) fn count(&self) -> usize {
        self.agents.get() as usize
    }
}

/// The field of the scenario that names this column, such as `agent[0]`; `None` if `agent` does not list the column.
pub(in crate::objectives) fn field(agent: &[String], column: &str) -> Option<String> {
    let index = agent.iter().position(|name| name == column)?;
    Some(format!("agent[{index}]"))
}

/// What is wrong with the fields `agent` and `split` of an objective with these inputs. An objective may state at most one
/// of the two fields.
pub(in crate::objectives) fn problems(agent: &[String], splits: &[Split], inputs: &[String]) -> Vec<Problem> {
    let mut problems = Vec::new();
    if !agent.is_empty() && !splits.is_empty() {
        let expected = "no columns together with `split`, which divides the records at random";
        problems.push(Problem::wrong("agent", expected, agent.join(", "), "leave one of the two out"));
    }
    for (index, split) in splits.iter().enumerate() {
        let place = format!("split[{index}]");
        problems.extend(split.problems(inputs).into_iter().map(|problem| problem.below(&place)));
    }
    problems
}

/// The facts that are taken as public about the division of records. What each agent holds is not
/// among these facts.
pub(in crate::objectives) fn facts(splits: &[Split]) -> Vec<PublicFact> {
    let mut facts = vec![PublicFact::new("number of agents", Origin::Shape)];
    if !splits.is_empty() {
        let law = "the law by which records are divided among agents, but not what each agent holds";
        facts.push(PublicFact::new(law, Origin::Stated));
    }
    facts
}

/// The number of agents of these splits.
pub(in crate::objectives) fn agents(splits: &[Split]) -> usize {
    splits.iter().fold(0usize, |sum, split| sum.saturating_add(split.count()))
}

/// The problem of splits that need more records than there are.
pub(in crate::objectives) fn too_few(splits: &[Split], records: usize) -> Option<Problem> {
    let agents = agents(splits);
    (agents.saturating_mul(MIN_RECORDS) > records).then(|| {
        let expected = format!(
            "at most {} agents in all, with two of the {records} records each",
            records / MIN_RECORDS
        );
        Problem::wrong("split[0].agents", expected, agents.to_string(), "write fewer agents")
    })
}
