//! Canaries for audits in one run: records that are moved and agents that are included, each independently with probability
//! 1/2.

use super::case::Canaries;
use crate::audit::error::AuditError;
use crate::audit::measure::rounded;
use crate::privacy::mechanisms::{
    CalibratedRows, FederatedSum, Mechanism, Participation, ReceivedVectors, Rows, SubsampledShift,
};
use std::sync::Arc;

/// One table with as many records as the audit has trials; each record is moved by 1 with probability 1/2.
pub(super) fn of_rows(mechanism: CalibratedRows) -> Canaries {
    Box::new(move |trials, key| {
        let n = trials as usize;
        let mut coins = key.child("coins").stream();
        let is_in: Vec<bool> = (0..n).map(|_| coins.bernoulli(0.5)).collect();
        let values = is_in.iter().flat_map(|is_in| [f64::from(u8::from(*is_in)), 0.0]).collect();
        let rows = Rows::new(n, 2, values)?;
        let z = mechanism.privatise(&rows, &mut key.child("noise").stream())?;
        // The logarithm of the likelihood ratio, times the variance.
        Ok(is_in.into_iter().enumerate().map(|(i, is_in)| (is_in, rounded(z.row(i)[0] - 0.5))).collect())
    })
}

/// One sum over agents. Each agent has a coordinate of its own. With probability 1/2 the agent's vector is zero;
/// otherwise the vector has the clipping norm in this coordinate and zeros in all other coordinates.
pub(super) fn of_agents(sum: FederatedSum) -> Canaries {
    Box::new(move |trials, key| {
        // The work grows with the square of the number of agents: each agent's vector has as many
        // numbers as there are agents.
        let agents = (trials as f64).sqrt().ceil().clamp(8.0, 1000.0) as usize;
        let weight = 1.0 / agents as f64;
        let (rate, clip) = match (sum.participation, sum.clip) {
            (Participation::Poisson(rate), Some(clip)) => (rate.get(), clip.get()),
            _ => return Err(AuditError::NoCanaries),
        };
        let mut coins = key.child("coins").stream();
        let is_in: Vec<bool> = (0..agents).map(|_| coins.bernoulli(0.5)).collect();
        let vector = |agent: usize| {
            let mut vector = vec![0.0; agents];
            vector[agent] = if is_in[agent] { clip } else { 0.0 };
            (agent, Arc::new(vector))
        };
        let gathered = ReceivedVectors {
            population: agents,
            vectors: (0..agents).map(vector).collect(),
            weights: Arc::new(vec![vec![weight; agents]]),
            late_sampling_draw: Vec::new(),
            length: agents,
            discounts: Vec::new(),
        };
        let sums = sum.privatise(&gathered, &mut key.child("sum").stream())?;
        // Each number of the sum belongs to one agent. After division by weight * clip / rate, this agent's part of the
        // number is 1 if the agent was included and sampled, else 0.
        let (base, moved) = (vec![0.0], [vec![1.0], vec![0.0]]);
        let one = SubsampledShift { rate, sd: sum.noise_multiplier, base, moved };
        let score =
            |value: f64| rounded(one.log_ratio(std::iter::once(value / (weight * clip / rate)), None));
        Ok(is_in.into_iter().zip(&sums[0]).map(|(is_in, value)| (is_in, score(*value))).collect())
    })
}
