//! The network of a scenario: a topology, a default link, rules for particular links, and outages.

use super::bandwidth::Bandwidth;
use super::latency::{LatencyModel, LinkEnd};
use super::loss::LossModel;
use super::outage::OutageModel;
use super::population::{PartyTraits, Population};
use super::topology::{Routes, TopologyModel};
use crate::vocab::{DataFolders, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Whether messages may overtake each other on a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Order {
    /// A message with a shorter delay may arrive before one that was sent earlier.
    #[default]
    Reordering,
    /// Messages arrive in the order in which they were sent; a message that would overtake others waits for them.
    Fifo,
}

/// The properties of a link in one direction: from one party to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// How long a message takes to cross the link. Default: no time.
    #[serde(default)]
    pub latency: LatencyModel,
    /// Which messages are lost. Default: none.
    #[serde(default)]
    pub loss: LossModel,
    /// Capacity of the link; messages beyond it wait in a queue. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Whether messages may overtake each other: `Reordering` (they may) or `Fifo` (they may not). Default: Reordering.
    #[serde(default)]
    pub order: Order,
    /// Probability that a message arrives twice; the delay of the copy is drawn separately. Default: 0.
    #[serde(default = "never")]
    pub duplication: Probability,
}

/// Properties of the links from one party or group to another, in this direction only. If several rules name a link, the
/// last of them applies. Properties that a rule does not state have the defaults below; they are not taken from the
/// network's `default`.
///
/// Example: `LinkRule(from: "server", to: "client", latency: Constant("90ms"))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkRule {
    /// Sender: a party, or every party of a group.
    #[schemars(with = "crate::vocab::PartyOrGroup")]
    pub from: String,
    /// Addressee: a party, or every party of a group.
    #[schemars(with = "crate::vocab::PartyOrGroup")]
    pub to: String,
    /// How long a message takes to cross the link. Default: no time.
    #[serde(default)]
    pub latency: LatencyModel,
    /// Which messages are lost. Default: none.
    #[serde(default)]
    pub loss: LossModel,
    /// Capacity of the link; messages beyond it wait in a queue. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Bandwidth>,
    /// Whether messages may overtake each other: `Reordering` (they may) or `Fifo` (they may not). Default: Reordering.
    #[serde(default)]
    pub order: Order,
    /// Probability that a message arrives twice; the delay of the copy is drawn separately. Default: 0.
    #[serde(default = "never")]
    pub duplication: Probability,
}

fn never() -> Probability {
    Probability::new(0.0).expect("0 is a probability")
}

impl Default for Link {
    fn default() -> Self {
        Self {
            latency: LatencyModel::default(),
            loss: LossModel::default(),
            bandwidth: None,
            order: Order::default(),
            duplication: never(),
        }
    }
}

impl LinkRule {
    /// A rule that gives the links from `from` to `to` the properties of `link`.
    #[must_use]
    pub fn new(from: &str, to: &str, link: Link) -> Self {
        let Link { latency, loss, bandwidth, order, duplication } = link;
        Self { from: from.to_owned(), to: to.to_owned(), latency, loss, bandwidth, order, duplication }
    }

    fn link(&self) -> Link {
        Link {
            latency: self.latency.clone(),
            loss: self.loss.clone(),
            bandwidth: self.bandwidth.clone(),
            order: self.order,
            duplication: self.duplication,
        }
    }
}

/// Whether a relay can read the messages that pass through it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Encryption {
    /// Messages are encrypted from sender to addressee. A relay sees the sender, addressee, time and size of a message, but
    /// not its contents.
    #[default]
    EndToEnd,
    /// Messages are not encrypted, or only on each link separately: a relay can read the messages that it relays, and
    /// is an observer of their contents.
    None,
}

impl Encryption {
    /// Whether this is the default value.
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// The network between the parties.
///
/// Example: `Network(topology: Star(hub: "server"), default: Link(latency: Constant("40ms")))`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Network {
    /// Which parties have a link.
    pub topology: TopologyModel,
    /// Properties of every link that no entry of `links` names. Default: no delay, no loss.
    #[serde(default)]
    pub default: Link,
    /// Links that differ from `default`. Default: none.
    #[serde(default)]
    pub links: Vec<LinkRule>,
    /// Outages of groups of parties. Default: none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outages: Vec<OutageModel>,
    /// Whether a relay can read the messages that it relays: `EndToEnd` (it cannot) or `None` (it can, and is an observer
    /// of their contents). Default: `EndToEnd`.
    #[serde(default, skip_serializing_if = "Encryption::is_default")]
    pub encryption: Encryption,
}

impl Network {
    /// A network without link rules and outages, encrypted end to end.
    #[must_use]
    pub fn new(topology: TopologyModel, default: Link) -> Self {
        Self { topology, default, links: Vec::new(), outages: Vec::new(), encryption: Encryption::default() }
    }

    /// What is wrong with the network, given the parties. The paths of the problems are relative to `network`.
    #[must_use]
    pub fn problems(&self, names: &[String], traits: &[PartyTraits]) -> Vec<Problem> {
        let population = Population { names, traits };
        let groups = population.groups();
        let below = |place: String| move |problem: Problem| problem.below(&place);
        let mut problems: Vec<Problem> = self
            .topology
            .as_dyn()
            .problems(&population)
            .into_iter()
            .map(below("topology".to_owned()))
            .collect();
        let known: Vec<String> = names.iter().chain(&groups).cloned().collect();
        for (index, rule) in self.links.iter().enumerate() {
            for (field, name) in [("from", &rule.from), ("to", &rule.to)] {
                if !known.contains(name) {
                    problems.push(Problem::unknown(
                        format!("links[{index}].{field}"),
                        if groups.is_empty() { "party" } else { "party or group" },
                        name,
                        &known,
                    ));
                }
            }
        }
        problems.extend(self.bandwidths().flat_map(|(place, bandwidth)| {
            let found = bandwidth.rate.problems().into_iter();
            found.map(move |problem| problem.below(&format!("{place}.bandwidth.rate"))).collect::<Vec<_>>()
        }));
        problems.extend(link_problems(&self.default.latency, &self.default.loss, "default"));
        let ends: Vec<LinkEnd<'_>> = (0..names.len()).map(|index| end(&population, index)).collect();
        let default = std::iter::once(("default.latency".to_owned(), &self.default.latency, ends.clone()));
        let rules = self.links.iter().enumerate().map(|(index, rule)| {
            let known = [&rule.from, &rule.to].map(|name| (name, names.contains(name)));
            let named =
                |end: &LinkEnd<'_>| known.iter().any(|&(name, is_party)| means(name, *end, || is_party));
            let ends = ends.iter().copied().filter(named).collect();
            (format!("links[{index}].latency"), &rule.latency, ends)
        });
        for (place, latency, ends) in default.chain(rules) {
            problems.extend(latency.as_dyn().problems_between(&ends).into_iter().map(below(place)));
        }
        for (index, rule) in self.links.iter().enumerate() {
            problems.extend(link_problems(&rule.latency, &rule.loss, &format!("links[{index}]")));
        }
        for (index, outage) in self.outages.iter().enumerate() {
            let place = format!("outages[{index}]");
            for (field, group) in outage.as_dyn().groups() {
                if !groups.iter().any(|known| known == group) {
                    problems.push(Problem::unknown(field, "group", group, &groups).below(&place));
                }
            }
            problems.extend(outage.as_dyn().problems().into_iter().map(below(place)));
        }
        problems
    }

    /// Reads the files that the network's models name; relative paths are looked up in the folders of `base`.
    pub fn load(&mut self, base: &DataFolders) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let mut load = |place: String, found: Vec<Problem>| {
            problems.extend(found.into_iter().map(|problem| problem.below(&place)));
        };
        load("topology".to_owned(), self.topology.as_dyn_mut().load(base));
        load("default.latency".to_owned(), self.default.latency.as_dyn_mut().load(base));
        load("default.loss".to_owned(), self.default.loss.as_dyn_mut().load(base));
        if let Some(bandwidth) = &mut self.default.bandwidth {
            load("default.bandwidth.rate".to_owned(), bandwidth.rate.load(base));
        }
        for (index, rule) in self.links.iter_mut().enumerate() {
            load(format!("links[{index}].latency"), rule.latency.as_dyn_mut().load(base));
            load(format!("links[{index}].loss"), rule.loss.as_dyn_mut().load(base));
            if let Some(bandwidth) = &mut rule.bandwidth {
                load(format!("links[{index}].bandwidth.rate"), bandwidth.rate.load(base));
            }
        }
        for (index, outage) in self.outages.iter_mut().enumerate() {
            load(format!("outages[{index}]"), outage.as_dyn_mut().load(base));
        }
        problems
    }

    /// The files that the network's models name.
    #[must_use]
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = self.topology.as_dyn().files();
        let rules = self.links.iter().map(|rule| (&rule.latency, &rule.loss));
        for (latency, loss) in rules.chain([(&self.default.latency, &self.default.loss)]) {
            files.extend(latency.as_dyn().files());
            files.extend(loss.as_dyn().files());
        }
        files.extend(self.bandwidths().flat_map(|(_, bandwidth)| bandwidth.rate.files()));
        files.extend(self.outages.iter().flat_map(|outage| outage.as_dyn().files()));
        files
    }

    /// The bandwidths that the network states, each with the path of its link: `default` or `links[..]`.
    fn bandwidths(&self) -> impl Iterator<Item = (String, &Bandwidth)> {
        let default = self.default.bandwidth.iter().map(|bandwidth| ("default".to_owned(), bandwidth));
        let rules = self.links.iter().enumerate();
        default.chain(rules.filter_map(|(k, rule)| Some((format!("links[{k}]"), rule.bandwidth.as_ref()?))))
    }

    /// True only if every message between these parties takes the same route in both networks, and so passes the same
    /// relays. The result may be false even if all routes are equal.
    #[must_use]
    pub fn same_routes(&self, other: &Self, names: &[String], traits: &[PartyTraits]) -> bool {
        let alike = self.topology == other.topology
            && self.default.latency == other.default.latency
            && self.links == other.links;
        let population = Population { names, traits };
        alike || self.routes(&population).provably_same_routes(&other.routes(&population))
    }

    pub(super) fn routes(&self, population: &Population<'_>) -> Routes {
        // The mean of each latency distribution is computed once, not for each link: the mean of a truncated distribution
        // is an integral, and there can be a link for each pair of parties.
        let default = self.default.latency.as_dyn().mean_seconds();
        let means: Vec<f64> = self.links.iter().map(|rule| rule.latency.as_dyn().mean_seconds()).collect();
        // The parties' names are kept in a set: for each link, the names in the rules are looked up in this set, and there
        // can be a link for each pair of parties.
        let named: &[String] = if self.links.is_empty() { &[] } else { population.names };
        let parties: BTreeSet<&str> = named.iter().map(String::as_str).collect();
        let uniform = self.links.is_empty() && !self.default.latency.as_dyn().differs_between_links();
        Routes::new(&self.topology, population, uniform, |from, to| {
            let is_party = |name: &str| parties.contains(name);
            let rule = self.rule(population, is_party, from, to);
            let latency = rule.map_or(&self.default.latency, |index| &self.links[index].latency);
            match latency.as_dyn().between(end(population, from), end(population, to)) {
                Some(own) => own.as_dyn().mean_seconds(),
                None => rule.map_or(default, |index| means[index]),
            }
        })
    }

    /// The index in `links` of the rule for the link from the party at position `from` to the party at position `to`; `None`
    /// if the default applies. `is_party` says whether a name is that of a party.
    fn rule(
        &self,
        population: &Population<'_>,
        is_party: impl Fn(&str) -> bool,
        from: usize,
        to: usize,
    ) -> Option<usize> {
        let means = |name: &str, index: usize| means(name, end(population, index), || is_party(name));
        self.links.iter().rposition(|rule| means(&rule.from, from) && means(&rule.to, to))
    }

    /// The link from the party at position `from` to the party at position `to`. In a rule, a name that both a party and a
    /// group have means the party.
    #[must_use]
    pub fn link(&self, population: &Population<'_>, from: usize, to: usize) -> Link {
        let is_party = |name: &str| population.position(name).is_some();
        let rule = self.rule(population, is_party, from, to).map(|index| &self.links[index]);
        let mut link = rule.map_or_else(|| self.default.clone(), LinkRule::link);
        if let Some(own) = link.latency.as_dyn().between(end(population, from), end(population, to)) {
            link.latency = own;
        }
        link
    }
}

/// Whether `name`, in a rule, is the name of the party `end` or of its group. A name that both a party and a group have is
/// taken for the party; `is_party` says whether the name is that of a party.
fn means(name: &str, end: LinkEnd<'_>, is_party: impl FnOnce() -> bool) -> bool {
    end.name == name || (end.group == Some(name) && !is_party())
}

/// The party at a position, as an end of a link.
fn end<'a>(population: &Population<'a>, index: usize) -> LinkEnd<'a> {
    let number = population.traits.get(index).map_or(0, |party| party.number);
    LinkEnd { name: &population.names[index], group: population.group(index), number }
}

fn link_problems(latency: &LatencyModel, loss: &LossModel, place: &str) -> Vec<Problem> {
    let latency = latency.as_dyn().problems().into_iter().map(|problem| problem.below("latency"));
    let loss = loss.as_dyn().problems().into_iter().map(|problem| problem.below("loss"));
    latency.chain(loss).map(|problem| problem.below(place)).collect()
}
