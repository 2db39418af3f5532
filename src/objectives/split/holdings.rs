//! The numbers of records that the agents of a federation hold, and distances between their holdings.

use crate::objectives::scaling::spread;
use serde::{Deserialize, Serialize};

/// The records of the agents of a federation: counts by agent and class, and three distances between agents.
///
/// These numbers are for the reader of the report only: an agent's counts are protected data of
/// that agent, and no party of the protocol receives them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holdings {
    /// The classes in alphabetical order; for the objective `Table`, which has no classes, the four ranges into which the
    /// quartiles divide the values of its output.
    pub classes: Vec<String>,
    /// Number of agents.
    pub agents: u64,
    /// At most [`Holdings::MAX_LISTED`] agents: all, or the first ones by number.
    pub listed: Vec<AgentHoldings>,
    /// Number of records by class, summed over the agents that are not listed.
    pub others: Vec<u64>,
    /// Smallest, median and largest number of records of an agent; with an even number of agents, the median is the
    /// larger of the two middle numbers.
    pub sizes: [u64; 3],
    /// Distances between agents.
    pub distances: HoldingDistances,
}

/// The records of one agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentHoldings {
    /// The name under which the agent's records are listed.
    pub name: String,
    /// Number of records by class, held-out records included.
    pub records: Vec<u64>,
}

/// How much the holdings of two agents differ: means over all pairs of agents, 0 if there is only
/// one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HoldingDistances {
    /// Total variation distance of the shares of the classes: half the sum of the absolute differences, 0 to 1.
    pub total_variation: f64,
    /// Jensen-Shannon distance of the shares of the classes: the root of the Jensen-Shannon divergence in bits, 0 to 1
    /// (Endres and Schindelin 2003).
    pub jensen_shannon: f64,
    /// Standardised difference of the means of a feature, averaged over the features that vary: the absolute difference of
    /// the two agents' means, divided by the standard deviation of the feature over all records.
    pub standardised_means: f64,
}

/// The records of one agent, to be counted.
#[derive(Clone, Copy, Debug)]
pub(in crate::objectives) struct Held<'a> {
    pub(in crate::objectives) name: &'a str,
    /// Class of each record.
    pub(in crate::objectives) classes: &'a [usize],
    /// Number of features.
    pub(in crate::objectives) d: usize,
    /// Features, row-major.
    pub(in crate::objectives) features: &'a [f64],
}

impl<'a> Held<'a> {
    /// Features of one record.
    pub(super) fn row(&self, index: usize) -> &'a [f64] {
        &self.features[index * self.d..][..self.d]
    }
}

impl Holdings {
    /// Largest number of agents whose records are listed one by one.
    pub const MAX_LISTED: usize = 40;

    /// The holdings of these agents.
    pub(in crate::objectives) fn of(agents: &[Held<'_>], classes: &[String]) -> Self {
        let counts: Vec<Vec<u64>> = agents.iter().map(|agent| by_class(agent, classes.len())).collect();
        let mut others = vec![0; classes.len()];
        for counts in counts.iter().skip(Self::MAX_LISTED) {
            others.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let mut sizes: Vec<u64> = counts.iter().map(|counts| counts.iter().sum()).collect();
        sizes.sort_unstable();
        let size = |place: usize| sizes.get(place).copied().unwrap_or_default();
        let listed = agents.iter().zip(&counts).take(Self::MAX_LISTED);
        Self {
            classes: classes.to_vec(),
            agents: agents.len() as u64,
            listed: listed
                .map(|(agent, counts)| AgentHoldings { name: agent.name.to_owned(), records: counts.clone() })
                .collect(),
            others,
            sizes: [size(0), size(sizes.len() / 2), size(sizes.len().saturating_sub(1))],
            distances: distances(agents, &counts),
        }
    }
}

/// The number of records of each agent.
pub(in crate::objectives) fn records_of(agents: &[Held<'_>]) -> Vec<u64> {
    agents.iter().map(|agent| agent.classes.len() as u64).collect()
}

fn by_class(agent: &Held<'_>, classes: usize) -> Vec<u64> {
    let mut counts = vec![0; classes];
    agent.classes.iter().for_each(|&class| counts[class] += 1);
    counts
}

fn distances(agents: &[Held<'_>], counts: &[Vec<u64>]) -> HoldingDistances {
    let share = |counts: &Vec<u64>| {
        let all = counts.iter().sum::<u64>().max(1) as f64;
        counts.iter().map(|&count| count as f64 / all).collect::<Vec<f64>>()
    };
    let shares: Vec<Vec<f64>> = counts.iter().map(share).collect();
    let means = standardised_means(agents);
    let apart = |a: &[f64], b: &[f64]| {
        let sum: f64 = a.iter().zip(b).map(|(x, y)| (x - y).abs()).sum();
        sum / a.len().max(1) as f64
    };
    HoldingDistances {
        total_variation: mean_of_pairs(&shares, total_variation),
        jensen_shannon: mean_of_pairs(&shares, jensen_shannon),
        standardised_means: mean_of_pairs(&means, apart),
    }
}

/// The mean of a distance over all pairs; 0 if there is no pair.
fn mean_of_pairs(all: &[Vec<f64>], distance: impl Fn(&[f64], &[f64]) -> f64) -> f64 {
    let n = all.len();
    let of = |i: usize| (0..i).map(|j| distance(&all[i], &all[j])).sum::<f64>();
    let sum: f64 = (0..n).map(of).sum();
    if n < 2 { 0.0 } else { 2.0 * sum / (n as f64 * (n - 1) as f64) }
}

fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>()
}

fn jensen_shannon(p: &[f64], q: &[f64]) -> f64 {
    // The term of one class in the Kullback-Leibler divergence of one agent's shares from the mean shares of both
    // agents: x is the agent's share of the class, m the mean share.
    let part = |x: f64, m: f64| if x > 0.0 { x * libm::log2(x / m) } else { 0.0 };
    let of = |(&p, &q): (&f64, &f64)| 0.5 * (part(p, 0.5 * (p + q)) + part(q, 0.5 * (p + q)));
    p.iter().zip(q).map(of).sum::<f64>().max(0.0).sqrt()
}

/// For each agent, the mean of every feature that varies, divided by the standard deviation of the feature over all records.
fn standardised_means(agents: &[Held<'_>]) -> Vec<Vec<f64>> {
    let d = agents.first().map_or(0, |agent| agent.d);
    let mut means = vec![Vec::new(); agents.len()];
    for feature in 0..d {
        let of =
            |agent: &Held<'_>| -> Vec<f64> { agent.features[feature..].iter().step_by(d).copied().collect() };
        let all: Vec<f64> = agents.iter().flat_map(of).collect();
        let Some((_, sd)) = spread(all.iter().copied()) else { continue };
        for (means, agent) in means.iter_mut().zip(agents) {
            let own = of(agent);
            means.push(own.iter().sum::<f64>() / own.len().max(1) as f64 / sd);
        }
    }
    means
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent<'a>(name: &'a str, classes: &'a [usize], features: &'a [f64]) -> Held<'a> {
        Held { name, classes, d: 1, features }
    }

    /// Shares (3/4, 1/4), (0, 1) and (1/2, 1/2). By hand, for the pairs ab, ac and bc: total variations 3/4, 1/4 and 1/2;
    /// Jensen-Shannon divergences in bits h(3/8) - h(1/4) / 2, h(5/8) - (h(1/4) + 1) / 2 and h(1/4) - 1/2. These are
    /// h(m) - (h(p) + h(q)) / 2, where h is the binary entropy, p and q are the two shares of the first class, and m is
    /// their mean.
    #[test]
    fn distances_by_hand() {
        let agents = [
            agent("a", &[0, 0, 0, 1], &[0.0, 2.0, 0.0, 2.0]),
            agent("b", &[1, 1], &[4.0, 4.0]),
            agent("c", &[0, 1], &[0.0, 2.0]),
        ];
        let found = Holdings::of(&agents, &["x".to_owned(), "y".to_owned()]);
        assert_eq!(found.listed[0].records, [3, 1]);
        assert_eq!((found.sizes, &found.others[..]), ([2, 2, 4], &[0, 0][..]));
        let h = |p: f64| -p * p.log2() - (1.0 - p) * (1.0 - p).log2();
        let divergences = [h(0.375) - h(0.25) / 2.0, h(0.625) - (h(0.25) + 1.0) / 2.0, h(0.25) - 0.5];
        let expected = divergences.into_iter().map(f64::sqrt).sum::<f64>() / 3.0;
        assert!((found.distances.total_variation - 0.5).abs() < 1e-12);
        assert!((found.distances.jensen_shannon - expected).abs() < 1e-12, "{:?}", found.distances);
        // The agents' means are 1, 4 and 1, so the mean difference of a pair is 2. The records 0 2 0 2 4 4 0 2 have mean
        // 1.75 and variance 2.4375.
        let expected = 2.0 / 2.437_5f64.sqrt();
        assert!((found.distances.standardised_means - expected).abs() < 1e-12, "{:?}", found.distances);
        let one = Holdings::of(&agents[..1], &["x".to_owned(), "y".to_owned()]);
        assert_eq!(one.distances, HoldingDistances::default());
    }

    #[test]
    fn agents_beyond_the_fortieth_are_counted_together() {
        let classes: Vec<[usize; 2]> = (0..45).map(|k| [0, k % 2]).collect();
        let agents: Vec<Held<'_>> = classes.iter().map(|own| agent("one", own, &[0.0, 1.0])).collect();
        let found = Holdings::of(&agents, &["x".to_owned(), "y".to_owned()]);
        assert_eq!((found.listed.len(), found.agents), (40, 45));
        // Agents 40 to 44: 40, 42 and 44 hold two of the first class.
        assert_eq!(found.others, [8, 2]);
    }
}
