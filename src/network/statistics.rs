//! Measurements of a network: latencies and losses, per link and in total.

use super::population::Population;
use super::topology::{Shape, TopologyModel};
use crate::vocab::PartyId;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Relative resolution of the latency histograms: two significant digits.
const SIGNIFICANT_DIGITS: u8 = 2;

/// Latencies and losses of one direction of a link, or of all links from one group of parties to another.
#[derive(Clone, Debug, Default)]
pub struct LinkStatistics {
    latency: Latencies,
    lost: u64,
}

/// Number of messages for each latency in nanoseconds, as a list or as a histogram. A histogram takes tens of kilobytes
/// even for a few messages, and there may be many replications. So statistics that are read from a file stay a list until
/// messages are added.
#[derive(Clone, Debug)]
enum Latencies {
    Listed(Box<[(u64, u64)]>),
    Counted(Histogram<u64>),
}

impl Default for Latencies {
    fn default() -> Self {
        Self::Listed(Box::default())
    }
}

fn histogram(listed: &[(u64, u64)]) -> Histogram<u64> {
    let mut latency = Histogram::new(SIGNIFICANT_DIGITS).expect("two significant digits are within 0 to 5");
    add(&mut latency, listed);
    latency
}

fn add(latency: &mut Histogram<u64>, listed: &[(u64, u64)]) {
    for &(value, count) in listed {
        // The histogram extends its range automatically, so every value fits.
        latency.record_n(value, count).expect("a growing histogram takes every value");
    }
}

impl Latencies {
    /// The histogram to which messages can be added.
    #[inline]
    fn counted(&mut self) -> &mut Histogram<u64> {
        if let Self::Listed(listed) = self {
            *self = Self::Counted(histogram(listed));
        }
        match self {
            Self::Counted(latency) => latency,
            Self::Listed(_) => unreachable!("it has just been replaced"),
        }
    }

    /// The result of `of` for the histogram.
    fn find<T>(&self, of: impl FnOnce(&Histogram<u64>) -> T) -> T {
        match self {
            Self::Listed(listed) => of(&histogram(listed)),
            Self::Counted(latency) => of(latency),
        }
    }
}

impl LinkStatistics {
    /// Records a message that took this many nanoseconds.
    pub fn took(&mut self, nanos: u64) {
        self.latency.counted().record(nanos).expect("a growing histogram takes every value");
    }

    /// Records a message that the link lost.
    pub fn lost(&mut self) {
        self.lost += 1;
    }

    /// Number of messages that the link delivered.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        match &self.latency {
            Latencies::Listed(listed) => listed.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count)),
            Latencies::Counted(latency) => latency.len(),
        }
    }

    /// Number of messages that the link lost.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.lost
    }

    /// The latency at quantile `q` in [0, 1], in seconds; `None` if no message was delivered.
    #[must_use]
    pub fn latency_seconds(&self, q: f64) -> Option<f64> {
        self.latency.find(|latency| (!latency.is_empty()).then(|| latency.value_at_quantile(q) as f64 / 1e9))
    }

    /// Adds the measurements of another replication for the same link. Counts are whole numbers, so the order in which
    /// measurements are added has no effect.
    pub fn merge(&mut self, other: &Self) {
        match &other.latency {
            Latencies::Listed(listed) if listed.is_empty() => {}
            Latencies::Listed(listed) => add(self.latency.counted(), listed),
            Latencies::Counted(latency) => {
                self.latency
                    .counted()
                    .add(latency)
                    .expect("a growing histogram takes in any other of its resolution");
            }
        }
        self.lost += other.lost;
    }
}

/// The form that is written to a file: the number of messages for each latency, and the number of losses.
#[derive(Serialize, Deserialize)]
struct Plain {
    latency_nanos: Vec<(u64, u64)>,
    lost: u64,
}

impl Serialize for LinkStatistics {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let latency_nanos = self.latency.find(|latency| {
            let steps = latency.iter_recorded();
            steps.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
        });
        Plain { latency_nanos, lost: self.lost }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LinkStatistics {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let plain = Plain::deserialize(deserializer)?;
        Ok(Self { latency: Latencies::Listed(plain.latency_nanos.into()), lost: plain.lost })
    }
}

/// Statistics of all links, in the order of the parties or groups; links that [`Self::merge`] has added are last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct NetworkStatistics {
    /// Sender, receiver, and the statistics of the link between them. In networks of more than 32 parties, the parties of a
    /// group are counted together under the group's name, and the parties without a group under "others"; only the hub of a
    /// star keeps its own name. If a group is called "others", the label of the parties without a group is "others (no
    /// group)"; if a group has the name of the hub, the hub's label is "NAME (hub)".
    pub links: Vec<(String, String, LinkStatistics)>,
}

impl NetworkStatistics {
    /// All links taken together.
    #[must_use]
    pub fn total(&self) -> LinkStatistics {
        let mut total = LinkStatistics::default();
        for (_, _, link) in &self.links {
            total.merge(link);
        }
        total
    }

    /// Adds the measurements of another replication for the same network, link by link.
    pub fn merge(&mut self, other: &Self) {
        for (from, to, statistics) in &other.links {
            match self.links.iter_mut().find(|(f, t, _)| f == from && t == to) {
                Some((_, _, mine)) => mine.merge(statistics),
                None => self.links.push((from.clone(), to.clone(), statistics.clone())),
            }
        }
    }
}

/// Largest number of parties of a network that is reported party by party; a larger network is reported by groups.
const NAMED_PARTIES: usize = 32;

/// The name under which each party is reported: its own name, or its group's name if there are many parties.
#[derive(Clone, Debug)]
pub(super) struct Labels {
    names: Vec<String>,
    of: Vec<usize>,
}

impl Labels {
    pub(super) fn new(topology: &TopologyModel, population: &Population<'_>) -> Self {
        let own = population.names;
        if own.len() <= NAMED_PARTIES {
            return Self { names: own.to_vec(), of: (0..own.len()).collect() };
        }
        let mut names = population.groups();
        let others = names.len();
        names.push(unused(&names, "others", "no group"));
        let mut of: Vec<usize> = (0..own.len())
            .map(|party| {
                let group = population.group(party);
                group.and_then(|group| names.iter().position(|name| name == group)).unwrap_or(others)
            })
            .collect();
        if let Shape::Star(hub) = topology.as_dyn().shape(population) {
            of[hub] = names.len();
            names.push(unused(&names, &own[hub], "hub"));
        }
        Self { names, of }
    }
}

/// A name that is not among `names`: `wanted`, to which `word` in brackets is appended as often as needed.
fn unused(names: &[String], wanted: &str, word: &str) -> String {
    let mut name = wanted.to_owned();
    while names.contains(&name) {
        name = format!("{name} ({word})");
    }
    name
}

/// Statistics during a run, with one row for each pair of labels.
#[derive(Clone, Debug)]
pub(crate) struct StatisticsTable {
    labels: Labels,
    rows: Vec<((usize, usize), LinkStatistics)>,
    places: BTreeMap<(usize, usize), usize>,
}

impl StatisticsTable {
    pub(super) fn new(labels: Labels) -> Self {
        Self { labels, rows: Vec::new(), places: BTreeMap::new() }
    }

    /// The row of a link. The row is added when it is first needed; links between parties with the same labels share a row.
    pub(super) fn row(&mut self, from: PartyId, to: PartyId) -> usize {
        let pair = (self.labels.of[from.index()], self.labels.of[to.index()]);
        *self.places.entry(pair).or_insert_with(|| {
            self.rows.push((pair, LinkStatistics::default()));
            self.rows.len() - 1
        })
    }

    pub(super) fn at(&mut self, row: usize) -> &mut LinkStatistics {
        &mut self.rows[row].1
    }

    /// The statistics with names, in the order of the parties or groups.
    pub(super) fn named(&self) -> NetworkStatistics {
        let name = |label: usize| self.labels.names[label].clone();
        let links = self.places.iter();
        let links =
            links.map(|(&(from, to), &row)| (name(from), name(to), self.rows[row].1.clone())).collect();
        NetworkStatistics { links }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_trip_through_a_file_keeps_every_quantile() {
        let mut statistics = LinkStatistics::default();
        for k in 1..5000u64 {
            statistics.took(k * k * 1000);
        }
        statistics.lost();
        let text = serde_json::to_string(&statistics).unwrap();
        let mut back: LinkStatistics = serde_json::from_str(&text).unwrap();
        for q in [0.0, 0.1, 0.5, 0.9, 0.99, 1.0] {
            assert_eq!(statistics.latency_seconds(q), back.latency_seconds(q));
        }
        assert_eq!((back.delivered(), back.losses()), (4999, 1));
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
        // Statistics that were stored and read again count further messages, and can be merged,
        // like those that were never stored.
        statistics.took(77);
        back.took(77);
        let mut both = LinkStatistics::default();
        both.merge(&serde_json::from_str(&text).unwrap());
        both.took(77);
        for other in [&back, &both] {
            assert_eq!(serde_json::to_string(other).unwrap(), serde_json::to_string(&statistics).unwrap());
        }
    }

    #[test]
    fn all_rows_have_different_names() {
        use crate::network::population::PartyTraits;
        use crate::network::topology::Star;
        // 40 parties: a hub with the name of a group, parties of two groups, and parties without a group.
        let names: Vec<String> =
            (0..40).map(|k| if k == 0 { "east".to_owned() } else { format!("p{k}") }).collect();
        let group = |k: usize| [None, Some("east"), Some("others")][k % 3].map(str::to_owned);
        let traits: Vec<PartyTraits> =
            (0..40).map(|k| PartyTraits { group: group(k), ..PartyTraits::default() }).collect();
        let population = Population { names: &names, traits: &traits };
        let labels = Labels::new(&Star { hub: "east".to_owned() }.into(), &population);
        assert_eq!(labels.names, ["east", "others", "others (no group)", "east (hub)"]);
        assert_eq!(labels.of[..4], [3, 0, 1, 2]);
    }
}
