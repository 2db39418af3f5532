//! Which agents share masks with each other, and which hold shares of whose secrets.
//!
//! With full masks, all agents share masks with each other, and a majority of all shares of a secret recovers the
//! secret. With few neighbours, k for each agent, agents are placed on a ring in random order, and the neighbours of an
//! agent are the k / 2 nearest agents on each side (a Harary graph). An agent shares masks with its neighbours, and
//! distributes the shares of its secrets among its neighbours; t = k / 2 + 1 of the shares of a secret recover the
//! secret. Source: Bell, Bonawitz, Gascon, Lepoint and Raykova 2020, "Secure single-server aggregation with
//! (poly)logarithmic overhead", section 3 (SecAgg+ with a semi-honest server, which follows the protocol).

use crate::rng::Stream;

/// Number of shares that recover a secret of which `holders` agents hold one share each: a majority of the shares.
pub(super) const fn threshold(holders: usize) -> usize {
    holders / 2 + 1
}

/// The graph of masks between agents.
#[derive(Clone, Debug)]
pub(super) enum MaskGraph {
    /// All pairs of this many agents.
    Complete(usize),
    /// By agent: its neighbours, in ascending order.
    Regular(Vec<Vec<usize>>),
}

impl MaskGraph {
    /// The graph of `agents` agents with `k` neighbours each; `k` is an even number below the number of agents.
    pub(super) fn regular(agents: usize, k: usize, stream: &mut Stream) -> Self {
        let ring = stream.distinct(agents, agents);
        let mut of = vec![Vec::with_capacity(k); agents];
        for (place, &agent) in ring.iter().enumerate() {
            for step in 1..=k / 2 {
                of[agent].push(ring[(place + step) % agents]);
                of[agent].push(ring[(place + agents - step) % agents]);
            }
            of[agent].sort_unstable();
        }
        Self::Regular(of)
    }

    /// Number of shares that recover a secret.
    pub(super) fn threshold(&self) -> usize {
        match self {
            Self::Complete(agents) => threshold(*agents),
            Self::Regular(of) => threshold(of.first().map_or(0, Vec::len)),
        }
    }

    /// The agents with which an agent shares masks.
    pub(super) fn pairs(&self, agent: usize) -> Vec<usize> {
        match self {
            Self::Complete(agents) => (0..*agents).filter(|other| *other != agent).collect(),
            Self::Regular(of) => of[agent].clone(),
        }
    }

    /// The agents of whose secrets an agent holds shares, in order. With full masks, these are all agents, the holder
    /// included.
    pub(super) fn held_by(&self, agent: usize) -> Vec<usize> {
        match self {
            Self::Complete(agents) => (0..*agents).collect(),
            Self::Regular(of) => of[agent].clone(),
        }
    }

    /// The position of the share of `owner`'s secret among the shares that `holder` sends; `None` if `holder` has no
    /// share of this secret.
    pub(super) fn place(&self, holder: usize, owner: usize) -> Option<usize> {
        match self {
            Self::Complete(_) => Some(owner),
            Self::Regular(of) => of[holder].binary_search(&owner).ok(),
        }
    }

    /// What an agent sees of `all`, which has one value for each agent. With full masks, the agent sees all values. With
    /// few neighbours, it sees its neighbours' values, and the values of all other agents are replaced by false.
    pub(super) fn seen_by(&self, agent: usize, all: &[bool]) -> Vec<bool> {
        match self {
            Self::Complete(_) => all.to_vec(),
            Self::Regular(of) => {
                let mut seen = vec![false; all.len()];
                of[agent].iter().for_each(|&other| seen[other] = all[other]);
                seen
            }
        }
    }

    /// Whether each agent has few neighbours.
    pub(super) fn is_regular(&self) -> bool {
        matches!(self, Self::Regular(_))
    }

    /// Whether, for each secret without which a sum cannot be unmasked, at least `needed` of these holders hold a share.
    /// Members are the agents that have distributed the shares of their secrets. A sum cannot be unmasked without these
    /// secrets: for each member that answered, the seed of the member's own mask; for each member that did not answer but
    /// shares a mask with an agent that answered, the member's secret for pair masks.
    pub(super) fn covers(
        &self,
        holders: &[usize],
        answered: &[bool],
        members: &[bool],
        needed: usize,
    ) -> bool {
        let Self::Regular(of) = self else { return holders.len() >= needed };
        let mut held = vec![0; answered.len()];
        holders.iter().for_each(|&holder| of[holder].iter().for_each(|&owner| held[owner] += 1));
        let matters =
            |agent: &usize| members[*agent] && (answered[*agent] || of[*agent].iter().any(|&n| answered[n]));
        (0..answered.len()).filter(matters).all(|agent| held[agent] >= needed)
    }
}

/// An upper bound on the probability that a random graph of `agents` agents with `k` neighbours each does not protect the
/// agents' vectors. It does not protect them if at least t = k / 2 + 1 neighbours of an agent are among the `colluding`
/// agents, or if the graph is no longer connected once the colluding agents and `gone` further agents, which drop out,
/// are removed. The bound assumes that the graph has no influence on which agents collude and which drop out.
///
/// The bound is the sum of a bound for each of the two events. First event: the number of colluding agents among the k
/// neighbours of one agent is hypergeometric, so the probability that it is at least t is a hypergeometric tail. The
/// probability that this happens to any of the agents is at most the number of agents times this tail. Second event: it
/// occurs only if k / 2 successive agents of the ring are removed. Its probability is at most the sum, over all places of
/// the ring, of the probability that k / 2 successive removed agents begin there.
pub(super) fn failure_of_graph(agents: usize, k: usize, colluding: usize, gone: usize) -> f64 {
    let n = agents as f64;
    let missing = (colluding + gone).min(agents);
    let successive: f64 =
        (0..k / 2).map(|i| missing.saturating_sub(i) as f64 / (agents - i) as f64).product();
    let captured = tail(agents - 1, colluding, k, threshold(k));
    (n * (successive + captured)).min(1.0)
}

/// The probability that a random sample (without replacement) of `size` of `population` agents contains at least `least`
/// marked agents, if `marked` agents of the population are marked.
fn tail(population: usize, marked: usize, size: usize, least: usize) -> f64 {
    let choose = |n: usize, k: usize| -> f64 {
        if k > n {
            f64::NEG_INFINITY
        } else {
            libm::lgamma(n as f64 + 1.0) - libm::lgamma(k as f64 + 1.0) - libm::lgamma((n - k) as f64 + 1.0)
        }
    };
    let marked = marked.min(population);
    let term =
        |j: usize| choose(marked, j) + choose(population - marked, size - j) - choose(population, size);
    (least..=size).map(|j| libm::exp(term(j))).sum::<f64>().min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Key;

    #[test]
    fn every_agent_has_k_neighbours_and_is_a_neighbour_of_each() {
        for (agents, k) in [(5, 4), (12, 4), (12, 10), (101, 20)] {
            let graph = MaskGraph::regular(agents, k, &mut Key::root(agents as u64).stream());
            for agent in 0..agents {
                let pairs = graph.pairs(agent);
                assert_eq!(pairs.len(), k);
                assert!(pairs.windows(2).all(|two| two[0] < two[1]) && !pairs.contains(&agent));
                assert!(pairs.iter().all(|&other| graph.pairs(other).contains(&agent)));
            }
            assert_eq!(graph.threshold(), k / 2 + 1);
        }
    }

    /// Whether the agents that are not missing are connected.
    fn connected(graph: &MaskGraph, missing: &[bool]) -> bool {
        let left = || (0..missing.len()).filter(|&agent| !missing[agent]);
        let Some(first) = left().next() else { return true };
        let (mut seen, mut open) = (missing.to_vec(), vec![first]);
        seen[first] = true;
        while let Some(agent) = open.pop() {
            for other in graph.pairs(agent) {
                if !std::mem::replace(&mut seen[other], true) {
                    open.push(other);
                }
            }
        }
        seen.iter().all(|seen| *seen)
    }

    /// In 4,000 random graphs the failures are no more frequent than the bound, up to four standard deviations, and they
    /// do occur. Each graph has 20 agents with k = 4 neighbours each; 3 agents collude and 2 drop out. A graph fails if
    /// an agent that does not collude has at least 3 colluding neighbours among its 4, or if the agents that remain are
    /// not connected.
    #[test]
    fn graphs_fail_no_more_often_than_bounded() {
        let (agents, k, colluding, gone) = (20, 4, 3, 2);
        let bound = failure_of_graph(agents, k, colluding, gone);
        let mut failed = 0;
        for trial in 0..4000 {
            let graph = MaskGraph::regular(agents, k, &mut Key::root(77).index(trial).stream());
            let captured =
                |agent: usize| graph.pairs(agent).iter().filter(|other| **other < colluding).count();
            let missing: Vec<bool> = (0..agents).map(|agent| agent < colluding + gone).collect();
            let caught = (colluding..agents).any(|agent| captured(agent) >= graph.threshold());
            failed += u32::from(caught || !connected(&graph, &missing));
        }
        let found = f64::from(failed) / 4000.0;
        assert!(found > 0.0, "no failure at all");
        assert!(found <= bound + 4.0 * (bound * (1.0 - bound) / 4000.0).sqrt(), "{found} for {bound}");
    }

    /// By hand: 3 of 10 agents are marked. Of the 210 samples of 4 agents, 63 contain 2 of the marked agents and 7 contain
    /// all 3, so at least 2 are in a sample with probability (63 + 7) / 210 = 1/3.
    #[test]
    fn hypergeometric_tails() {
        assert!((tail(10, 3, 4, 2) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(tail(10, 1, 4, 2), 0.0);
    }
}
