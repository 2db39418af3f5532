//! The typed form of a scenario as written, before it is checked.

use crate::network::availability::AvailabilityModel;
use crate::network::compute::ComputeModel;
use crate::network::{Access, Network, PartyQuantity, PartyTraits, Together};
use crate::objectives::ObjectiveModel;
use crate::privacy::ledger::Budget;
use crate::protocols::{ForkPoint, ProtocolModel};
use crate::vocab::{Delta, Finite, NonNegative, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::path::PathBuf;
use std::sync::Arc;

/// A scenario: the parties, the network between them, the objective, and the protocol.
///
/// Example: `Scenario(name: "smallest", seed: 1, parties: { "server": Party(), "client": Party() }, network:
/// Network(topology: Mesh()), protocol: Echo(caller: "client", rounds: 3))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Scenario")]
pub struct Draft {
    /// A short name; the name of the run folder begins with it.
    pub name: String,
    /// What the scenario shows, in a sentence or two. Default: empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The seed of all random numbers.
    pub seed: u64,
    /// Number of independent replications of every cell, at most 1000000. Default: 1.
    #[serde(default = "one")]
    pub replications: NonZeroU64,
    /// The parties, by name.
    pub parties: BTreeMap<String, PartyDraft>,
    /// The network between the parties.
    pub network: Network,
    /// What is to be optimised. Protocols that optimise nothing (`Echo`) need none. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveModel>,
    /// The protocol: what the parties do.
    pub protocol: ProtocolModel,
    /// Settings of the privacy report. Default: `Privacy()`.
    #[serde(default)]
    pub privacy: PrivacyDraft,
    /// Names of series that all other series are compared with: reports show the means of the differences, which are
    /// computed replication by replication, with their standard errors. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<crate::vocab::SeriesName>")]
    pub compared_with: Vec<String>,
    /// Results from a paper, printed beside the measured ones. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<Published>,
    /// Privacy losses from a paper, printed beside those of the accountants. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published_losses: Vec<PublishedLoss>,
    /// A fork: the first part of the run is simulated once and then continued in several branches. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork: Option<ForkDraft>,
}

fn one() -> NonZeroU64 {
    NonZeroU64::MIN
}

/// One party.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Party")]
pub struct PartyDraft {
    /// Number of parties that this entry describes. With a count they are called `name-1`, `name-2`, .., and belong to the
    /// group `name` unless another group is given. Default: one, called `name`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<NonZeroU32>,
    /// When the party is connected. Default: always.
    #[serde(default)]
    pub availability: AvailabilityModel,
    /// The group of the party, for link rules, outages, delays between sites and the topology `Clusters`.
    /// Default: none; for an entry with a `count`, the name of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Compute time for each message that the party receives. Default: no time.
    #[serde(default)]
    pub compute: ComputeModel,
    /// The party's access line to the network, shared by all its links. Default: no limit.
    #[serde(default)]
    pub access: Access,
    /// Which quantities of these parties depend on each other, such as speed and heterogeneity. Default: none, all are
    /// independent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub together: Option<Together>,
}

impl PartyDraft {
    /// The parties that an entry called `name` describes.
    #[must_use]
    pub fn named(&self, name: &str) -> Vec<(String, PartyTraits)> {
        let Some(count) = self.count else { return vec![(name.to_owned(), self.traits())] };
        let mut traits = self.traits();
        traits.group.get_or_insert_with(|| name.to_owned());
        let numbered = |k: u32| PartyTraits { number: u64::from(k - 1), ..traits.clone() };
        (1..=count.get()).map(|k| (format!("{name}-{k}"), numbered(k))).collect()
    }

    /// The network properties of a party.
    #[must_use]
    pub fn traits(&self) -> PartyTraits {
        PartyTraits {
            group: self.group.clone(),
            number: 0,
            availability: self.availability.clone(),
            compute: self.compute.clone(),
            access: self.access.clone(),
            together: self.together.clone().map(Arc::new),
        }
    }

    /// The problems of the party's models, each checked on its own, and of `together`.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let availability = self.availability.as_dyn().problems().into_iter().map(|p| p.below("availability"));
        let compute = self.compute.as_dyn().problems().into_iter().map(|p| p.below("compute"));
        let access = self.access.problems().into_iter().map(|p| p.below("access"));
        let together = self.together_problems().into_iter().map(|p| p.below("together"));
        availability.chain(compute).chain(access).chain(together).collect()
    }

    /// The problems of the field `together`, except those that depend on the protocol: heterogeneity, data size and noise
    /// are properties of a protocol's agents, so the module `dependence` checks whether agents differ in them.
    fn together_problems(&self) -> Vec<Problem> {
        let Some(together) = &self.together else { return Vec::new() };
        let mut problems = together.problems();
        if self.count.is_none_or(|count| count.get() < 2) {
            let found = if self.count.is_none() { "one party" } else { "count: 1" };
            let cure = "write count: 20, or leave `together` out";
            problems.push(Problem::wrong(
                "",
                "a group of parties that differ (count: 2 or more)",
                found,
                cure,
            ));
        }
        let mut constant = |of: PartyQuantity, model: &str, cure: &str| {
            if let Some(index) = together.of.iter().position(|named| *named == of) {
                let expected =
                    format!("a quantity that differs between these parties; their {} does not", of.words());
                problems.push(Problem::wrong(format!("of[{index}]"), expected, model, cure));
            }
        };
        if !self.compute.as_dyn().differs() {
            let cure = "take a compute model with a factor per party: Heterogeneous(..), or Devices(..)";
            constant(PartyQuantity::Speed, &format!("compute: {}", self.compute.name()), cure);
        }
        if !self.availability.as_dyn().differs() {
            let cure = "take an availability that differs per party: BetaPerMessage(..), OnOff(.., sigma: 0.5), or a Trace(..) without `device`";
            constant(
                PartyQuantity::Availability,
                &format!("availability: {}", self.availability.name()),
                cure,
            );
        }
        problems
    }
}

impl Draft {
    /// The files that the models of parties and network name, each once.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = self.network.files();
        for party in self.parties.values() {
            files.extend(party.availability.as_dyn().files());
            files.extend(party.compute.as_dyn().files());
            files.extend(party.access.files());
        }
        files.sort_unstable();
        files.dedup();
        files
    }
}

/// A fork: the first part of the run is simulated once and then continued in several branches.
///
/// Example: `Fork(at: Round(2), branches: { "lossy": ["network.default.loss=Independent(0.5)"] })`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Fork")]
pub struct ForkDraft {
    /// Where the branches begin: `Round(20)`, after the end of that round, or `At("5min")`, before all events of that
    /// virtual time.
    pub at: ForkPoint,
    /// The changes of each branch, by its name: overrides `path=VALUE` as on the command line. The unchanged
    /// continuation is always simulated as well.
    pub branches: BTreeMap<String, Vec<String>>,
}

/// Settings of the privacy report.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename = "Privacy")]
pub struct PrivacyDraft {
    /// The delta at which every accountant states its epsilon.
    /// Default: for the epsilons of one run, the sum of the deltas that are claimed for the releases about one unit to one
    /// observer if this sum is above 0 and below 1, and otherwise 1e-5; for the epsilons of all runs together, 1e-5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// A limit on the privacy loss of each unit towards each observer in one run. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<Budget>,
}

/// A metric that a paper reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Metric {
    /// Simple regret at the end of the run.
    SimpleRegret,
    /// Cumulative regret at the end of the run.
    CumulativeRegret,
}

impl Metric {
    /// Its name for tables.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::SimpleRegret => "simple regret",
            Self::CumulativeRegret => "cumulative regret",
        }
    }
}

/// A result stated in a paper.
///
/// Example: `Published(series: "open", value: 0.1, source: "Table 1")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Name of the series that the result is for.
    #[schemars(with = "crate::vocab::SeriesName")]
    pub series: String,
    /// The cells that the result is for, by the value of each named `Each`: `{"r": 3}`. Default: every cell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, Finite>,
    /// What was measured. Default: simple regret.
    #[serde(default = "simple_regret")]
    pub metric: Metric,
    /// The value.
    pub value: Finite,
    /// Where the paper states it ("Table 1").
    pub source: String,
}

fn simple_regret() -> Metric {
    Metric::SimpleRegret
}

/// A privacy loss stated in a paper, of one run, at the scenario's delta.
///
/// Example: `PublishedLoss(series: "open", epsilon: 1, source: "Figure 2")`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishedLoss {
    /// Name of the series that the loss is for.
    #[schemars(with = "crate::vocab::SeriesName")]
    pub series: String,
    /// The cells that the loss is for, by the value of each named `Each`: `{"r": 3}`. Default: every cell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub at: BTreeMap<String, Finite>,
    /// The epsilon.
    pub epsilon: NonNegative,
    /// Where the paper states it ("Figure 2c").
    pub source: String,
}
