//! The mean and the noise of scores that differ from one measurement to the next.

use crate::objectives::{Noise, Recorded};
use std::sync::Arc;

/// The mean of one or more draws.
pub(super) fn mean(draws: &[f64]) -> f64 {
    draws.iter().sum::<f64>() / draws.len() as f64
}

/// The noise of each agent's score, and the noise of the mean score of all agents. An agent's noise at a point is a draw
/// of the agent's score there, minus the mean of this agent's draws there. Draw k of the mean score's noise is the average
/// of the noise in all agents' draws k. `scores` are indexed by agent, point and draw; `means`, the means of the draws, by
/// agent and point.
pub(super) fn noise_of(scores: &[Vec<Vec<f64>>], means: &[Arc<Vec<f64>>]) -> (Vec<Noise>, Noise) {
    let deviations: Vec<Vec<Vec<f64>>> = scores
        .iter()
        .zip(means)
        .map(|(scores, means)| {
            let of = |(draws, mean): (&Vec<f64>, &f64)| draws.iter().map(|draw| draw - mean).collect();
            scores.iter().zip(means.iter()).map(of).collect()
        })
        .collect();
    let agents = deviations.len() as f64;
    let together = deviations[0].iter().enumerate().map(|(point, draws)| {
        let of_draw = |draw| deviations.iter().map(|agent| agent[point][draw]).sum::<f64>() / agents;
        (0..draws.len()).map(of_draw).collect()
    });
    let together = Noise::Recorded(Arc::new(Recorded::new(together.collect())));
    let of_agents = deviations.into_iter().map(|agent| Noise::Recorded(Arc::new(Recorded::new(agent))));
    (of_agents.collect(), together)
}
