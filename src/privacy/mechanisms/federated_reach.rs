//! How far one agent can move a federated sum, and the sensitivity to which the noise on the sum is scaled.

use super::{Divisor, ReceivedVectors, SensitivityRule};

/// The sensitivity to which the noise is scaled, and how far one agent can move the sums: both in units of S / q, with
/// the clipping norm S and the sampling rate q.
pub(super) fn reach(rule: SensitivityRule, divisor: Divisor, gathered: &ReceivedVectors) -> (f64, f64) {
    let largest =
        |applied: bool| weights_of_each(divisor, gathered, applied).into_iter().flatten().fold(0.0, f64::max);
    let longest = |applied: bool| longest(divisor, gathered, applied);
    match rule {
        SensitivityRule::LargestWeight => (largest(false), largest(true).max(largest(false))),
        SensitivityRule::TighterLoss => (largest(false), longest(true)),
        SensitivityRule::TighterNoise => (longest(false), longest(true).max(longest(false))),
    }
}

/// max_n |w_n|_2 / sqrt(P), where w_n are the weights of agent n in the P regions, as [`weights_of_each`] returns them. The
/// divisor is sqrt(P), because an agent's vector for each region is clipped to the norm S / sqrt(P).
fn longest(divisor: Divisor, gathered: &ReceivedVectors, applied: bool) -> f64 {
    let length = |weights: Vec<f64>| weights.iter().map(|w| w * w).sum::<f64>().sqrt();
    let longest = weights_of_each(divisor, gathered, applied).into_iter().map(length).fold(0.0, f64::max);
    longest / (gathered.weights.len().max(1) as f64).sqrt()
}

/// For every agent that may differ between neighbours, the agent's weight in each region. If `applied` is false, or with
/// the divisor `Planned`, these are the planned weights of all agents (`ReceivedVectors::weights`). Otherwise they are the
/// planned weights of the agents that answered; each weight is divided by its region's total, which is the sum of the
/// received vectors' weights, each times its discount (`ReceivedVectors::present`).
///
/// With `ArrivedOrGone`, an agent that did not answer here may have answered in the neighbouring federation. So the agents
/// that did not answer are included too. The planned weight of such an agent is divided by the sum of the region's total
/// and this weight.
fn weights_of_each(divisor: Divisor, gathered: &ReceivedVectors, applied: bool) -> Vec<Vec<f64>> {
    let planned = |agent: usize| gathered.weights.iter().map(|region| region[agent]).collect::<Vec<f64>>();
    if !applied || divisor == Divisor::Planned {
        return (0..gathered.population).map(planned).collect();
    }
    let totals: Vec<f64> = gathered.weights.iter().map(|region| gathered.present(region)).collect();
    let here = gathered.here();
    let may_be_added = divisor == Divisor::ArrivedOrGone;
    let divided = |agent: usize| -> Vec<f64> {
        let by = |weight: f64, total: f64| if here[agent] { total } else { total + weight };
        let weights = planned(agent).into_iter().zip(&totals);
        weights.map(|(w, &total)| if by(w, total) > 0.0 { w / by(w, total) } else { 0.0 }).collect()
    };
    (0..gathered.population).filter(|&agent| here[agent] || may_be_added).map(divided).collect()
}
