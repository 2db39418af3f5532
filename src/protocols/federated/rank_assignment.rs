//! Reassigns objectives and noises to agents by rank, if the scenario makes the objectives or the noises depend on other
//! quantities of the agents.

use crate::network::PartyQuantity;
use crate::objectives::Noise;
use crate::protocols::stage::ReplicationSetup;
use crate::protocols::stage::differences::OwnProblem;
use crate::rng::Key;
use std::sync::Arc;

/// How much each agent's objective differs from the others, in units of the objective: the root mean square, over all
/// points, of its difference from the mean of all agents' objectives.
pub(super) fn heterogeneity_of(values: &[Arc<Vec<f64>>]) -> Vec<f64> {
    let (Some(first), count) = (values.first(), values.len() as f64) else { return Vec::new() };
    let mut mean = vec![0.0; first.len()];
    for of_agent in values {
        mean.iter_mut().zip(of_agent.iter()).for_each(|(mean, value)| *mean += value / count);
    }
    let distance = |of_agent: &Arc<Vec<f64>>| {
        let squares = of_agent.iter().zip(&mean).map(|(value, mean)| (value - mean) * (value - mean));
        (squares.sum::<f64>() / mean.len().max(1) as f64).sqrt()
    };
    values.iter().map(distance).collect()
}

/// The problems of all agents after objectives and noises have been reassigned. An agent keeps the objective and the
/// noise that were drawn for it, unless the scenario makes the heterogeneity, data size or noise of its party depend on
/// other quantities (`together`). `agents` has the party and the group of each agent. `records` has the number of
/// records of each agent, if agents have records. `network` is the node of the seed tree for the network.
pub(super) fn assigned_problems(
    stage: &ReplicationSetup,
    agents: &[(usize, usize)],
    drawn: &[OwnProblem],
    records: Option<&[u64]>,
    network: Key,
) -> Vec<OwnProblem> {
    let values: Vec<_> = drawn.iter().map(|own| Arc::clone(own.function.at(0))).collect();
    let assignment = RankAssignment { stage, agents, network };
    let mut holder: Vec<usize> = (0..agents.len()).collect();
    assignment.assign(PartyQuantity::Heterogeneity, || heterogeneity_of(&values), &mut holder);
    if let Some(records) = records {
        let sizes = || records.iter().map(|&count| count as f64).collect();
        assignment.assign(PartyQuantity::DataSize, sizes, &mut holder);
    }
    let mut own: Vec<OwnProblem> = holder.into_iter().map(|holder| drawn[holder].clone()).collect();
    let noises: Vec<Noise> = own.iter().map(|own| own.noise.clone()).collect();
    let mut holder: Vec<usize> = (0..agents.len()).collect();
    assignment.assign(PartyQuantity::Noise, || noises.iter().map(Noise::variance).collect(), &mut holder);
    own.iter_mut().zip(holder).for_each(|(own, holder)| own.noise = noises[holder].clone());
    own
}

/// Assigns objectives or noises to agents by rank.
struct RankAssignment<'a> {
    stage: &'a ReplicationSetup,
    agents: &'a [(usize, usize)],
    network: Key,
}

impl RankAssignment<'_> {
    /// Sets `holder`: for each agent, the number of the agent whose objective or noise it receives. Reassigns among the
    /// agents of one group that share one `together` setting, if that setting names `quantity`. The agent whose level of the
    /// quantity (`Together::level`, in (0, 1)) is the k-th smallest receives the objective or noise with the k-th smallest
    /// of `sizes`. `sizes` has, for each agent, the heterogeneity of its objective, its number of records, or the variance
    /// of its noise. Agents without such a setting keep their own objective or noise.
    fn assign(&self, quantity: PartyQuantity, sizes: impl Fn() -> Vec<f64>, holder: &mut [usize]) {
        let Self { stage, agents, network } = self;
        let level =
            |&(party, _): &(usize, usize)| stage.traits[party].level(quantity, &stage.names[party], *network);
        let levels: Vec<Option<f64>> = agents.iter().map(level).collect();
        if levels.iter().all(Option::is_none) {
            return;
        }
        let sizes = sizes();
        let same_entry = |a: usize, b: usize| {
            let entry = |agent: usize| stage.traits[agents[agent].0].together.as_ref();
            let same = entry(a).zip(entry(b)).is_some_and(|(a, b)| Arc::ptr_eq(a, b));
            same && agents[a].1 == agents[b].1
        };
        let mut done = vec![false; agents.len()];
        for first in 0..agents.len() {
            if done[first] || levels[first].is_none() {
                continue;
            }
            let members: Vec<usize> =
                (first..agents.len()).filter(|&agent| same_entry(first, agent)).collect();
            members.iter().for_each(|&member| done[member] = true);
            let (mut by_level, mut by_size) = (members.clone(), members);
            by_level.sort_by(|&a, &b| levels[a].unwrap_or(0.5).total_cmp(&levels[b].unwrap_or(0.5)));
            by_size.sort_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
            by_level.into_iter().zip(by_size).for_each(|(agent, source)| holder[agent] = source);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::topology::Mesh;
    use crate::network::{Link, Network, Together};
    use crate::protocols::stage::differences::{ModelFactors, OwnFunction};

    /// Eight agents have `Together(of: [Availability, Noise], correlation: 1)`. The agent of rank k by level has the
    /// noise of rank k, every noise is assigned to exactly one agent, and every agent keeps its objective.
    #[test]
    fn noises_are_assigned_by_rank() {
        let names: Vec<String> = (0..8).map(|k| format!("phone-{k}")).collect();
        let together = Arc::new(Together {
            of: vec![PartyQuantity::Availability, PartyQuantity::Noise],
            correlation: Some(crate::vocab::Finite::new(1.0).unwrap()),
            matrix: None,
        });
        let mut stage = ReplicationSetup::new(names.clone(), Network::new(Mesh {}.into(), Link::default()));
        stage.traits.iter_mut().for_each(|party| party.together = Some(Arc::clone(&together)));
        let agents: Vec<(usize, usize)> = (0..8).map(|party| (party, 0)).collect();
        // As drawn, noises are in neither ascending nor descending order.
        let sds = [0.3, 0.8, 0.1, 0.5, 0.7, 0.2, 0.6, 0.4];
        let own = |(k, sd): (usize, &f64)| OwnProblem {
            function: Arc::new(OwnFunction::constant(Arc::new(vec![k as f64, 0.0]))),
            noise: Noise::gaussian(*sd),
            factors: ModelFactors::NONE,
            points: None,
        };
        let drawn: Vec<OwnProblem> = sds.iter().enumerate().map(own).collect();
        let key = Key::root(7);
        let assigned = assigned_problems(&stage, &agents, &drawn, None, key);
        let level = |k: usize| together.level(PartyQuantity::Availability, &names[k], key).unwrap();
        let mut by_level: Vec<usize> = (0..8).collect();
        by_level.sort_by(|&a, &b| level(a).total_cmp(&level(b)));
        assert_ne!(by_level, [2, 5, 0, 7, 3, 6, 4, 1], "without reassignment the test would pass too");
        let found: Vec<f64> = by_level.iter().map(|&k| assigned[k].noise.variance().sqrt()).collect();
        for (found, expected) in found.iter().zip([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]) {
            assert!((found - expected).abs() < 1e-12, "{found} and {expected}");
        }
        assert!((0..8).all(|k| Arc::ptr_eq(&assigned[k].function, &drawn[k].function)));
    }

    #[test]
    fn the_distance_is_from_the_mean_of_all() {
        let of = |values: &[f64]| Arc::new(values.to_vec());
        // Mean (1, 0): distances sqrt((1 + 0) / 2), sqrt((4 + 0) / 2), sqrt((1 + 0) / 2).
        let found = heterogeneity_of(&[of(&[0.0, 0.0]), of(&[3.0, 0.0]), of(&[0.0, 0.0])]);
        assert!(
            (found[1] - 2f64.sqrt()).abs() < 1e-12 && (found[0] - 0.5f64.sqrt()).abs() < 1e-12,
            "{found:?}"
        );
    }
}
