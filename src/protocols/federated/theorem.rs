//! The terms of the regret bound of Dai, Low and Jaillet 2021, Theorem 1, by round, for the first agent.
//!
//! Up to constants and logarithms, the bound is (B + 1/p_1) gamma_T sqrt(T) + (sum of psi_t) + B (sum of theta_t), with
//! sums over the rounds t = 1, ..., T. B is a bound on the norm of an agent's function, p_t the probability that an agent
//! follows its own model in round t, and gamma_T the information gain after T rounds; psi_t and theta_t are as in
//! [`RegretTerms`]. In every schedule of shared queries here and in the paper, p_1 is 0, so the bound is infinite. Only
//! psi_t and theta_t, which are finite, are reported.

use super::common::AgentCommon;
use super::messages::Clipped;
use super::rounds::Late;
use super::series::{Aggregate, SharedQueries};
use crate::gp::{GpError, dot, gain_bounds};
use crate::privacy::mechanisms::Participation;
use crate::protocols::stage::RoundTrack;
use crate::vocab::NonNegative;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two terms of the regret bound of Theorem 1 of the source, by round, for the first agent: psi (the noise, and how
/// much other agents' functions differ) and theta (clipping). Constants and logarithms are set to 1, and functions are
/// in units of the model's standard deviation. The terms are reported for series that clip vectors at a fixed norm,
/// trust the server, have `late: Discard`, and use none of `selection`, `importance`, `overlap` and `staleness`.
///
/// Source: Dai, Low and Jaillet 2021, Theorem 1.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RegretTerms {
    /// B, a bound on the norm of every agent's function in the space of the model's covariance. Default: 1.
    #[serde(default = "one")]
    pub norm: NonNegative,
}

fn one() -> NonNegative {
    NonNegative::new(1.0).expect("1 is not below 0")
}

/// The inputs of the terms.
pub(super) struct Terms<'a> {
    pub(super) recipe: RegretTerms,
    pub(super) common: &'a AgentCommon,
    /// Every agent's function.
    pub(super) values: &'a [&'a [f64]],
    /// The region that each agent explores.
    pub(super) explored: &'a [usize],
    pub(super) rounds: u64,
}

impl Terms<'_> {
    /// `psi_t` and `theta_t` for the rounds in which agents may follow a sum, that is, query the point at which the function
    /// that the sum describes is largest. `clipped` has the clipped vectors by the round that they answer.
    ///
    /// With constants set to 1, `psi_t = (1 - p_t) (P w / q) (N (e B t^2 + B + sqrt(M) + sqrt(gamma_t)) + d + z S sqrt(M))`.
    /// `theta_t` is `1 - p_t` times the weight of the clipped vectors of round t - 1, summed over agents and regions. Here
    /// `1 - p_t` is the probability that an agent follows the sum, P the number of regions, w the largest weight, q the
    /// sampling rate and N the number of agents. e is the error of the features, B the bound on the norm, M the number of
    /// features and `gamma_t` the information gain. d is the sum of the differences from the first agent's function, z the
    /// noise multiplier and S the clipping norm.
    pub(super) fn of(
        &self,
        aggregate: &Aggregate,
        schedule: SharedQueries,
        clipped: &[(u64, Clipped)],
    ) -> Result<Vec<RoundTrack>, GpError> {
        // The theorem assumes a fixed clipping norm, and weights that follow from the schedule alone (no `importance`,
        // `selection` or `staleness`). It assumes that a sum has no late vectors, and that an agent may follow a sum to
        // every point of the domain.
        let as_assumed = aggregate.adaptive_clip.is_none()
            && aggregate.importance.is_none()
            && aggregate.selection.is_everyone()
            && aggregate.overlap.is_default()
            && aggregate.staleness.is_none()
            && aggregate.late == Late::Discard;
        let Some(clip) = aggregate.clip.filter(|_| as_assumed && !clipped.is_empty()) else {
            return Ok(Vec::new());
        };
        let (norm, m) = (self.recipe.norm.get(), self.common.m as f64);
        let (agents, regions) = (self.values.len() as f64, aggregate.regions.get() as usize);
        let rate = match aggregate.participation {
            Participation::Poisson(rate) => rate.get(),
            Participation::FixedSize(size) => size as f64 / agents,
        };
        let apart = self.difference_of_functions();
        let error = self.feature_error();
        let rounds: Vec<u64> = (1..=self.rounds).collect();
        let gains = gain_bounds(&self.common.covariance, &rounds, self.common.assumed_noise())?;
        let noise = aggregate.noise_multiplier.get() * clip.get() * m.sqrt();
        let psi = |t: u64, gain: f64| {
            let weights = aggregate.weights.at(t - 1, self.explored, regions);
            let largest = weights.iter().flatten().copied().fold(0.0, f64::max);
            let alike = error * norm * (t * t) as f64 + norm + m.sqrt() + gain.sqrt();
            let sum = agents * alike + apart;
            schedule.probability(t) * regions as f64 * largest / rate * (sum + noise)
        };
        let followed = clipped.iter().filter(|(round, _)| *round < self.rounds);
        let theta =
            followed.map(|(round, clipped)| (round + 1, schedule.probability(round + 1) * clipped.weight));
        let theta: Vec<(u64, f64)> = theta.collect();
        let shared = |t: &u64| theta.iter().any(|(round, _)| round == t);
        let psi = rounds.iter().zip(&gains).filter(|(t, _)| shared(t)).map(|(&t, &gain)| (t, psi(t, gain)));
        let track = |name: &str, points| RoundTrack { name: name.to_owned(), points };
        Ok(vec![
            track("psi_t of Theorem 1, constants 1", psi.collect()),
            track("theta_t of Theorem 1", theta),
        ])
    }

    /// Sum, over agents, of the largest difference between the agent's function and the first agent's function, in units
    /// of the model's standard deviation.
    fn difference_of_functions(&self) -> f64 {
        let unit = self.common.surrogate.covariance.variance.sqrt();
        let Some(first) = self.values.first() else { return 0.0 };
        let difference = |other: &&[f64]| {
            let pairs = first.iter().zip(other.iter());
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max) / unit
        };
        self.values.iter().map(difference).sum()
    }

    /// The largest difference, over all pairs of points, between the model's correlation of the two points and the scaled
    /// inner product of their features.
    ///
    /// The scaled inner product is the inner product divided by the squared norm of the features of the domain's first
    /// point.
    fn feature_error(&self) -> f64 {
        let (points, variance) = (self.common.covariance.n(), self.common.surrogate.covariance.variance);
        let length = dot(self.common.features(0), self.common.features(0));
        let pair = |i: usize, j: usize| {
            let features = dot(self.common.features(i), self.common.features(j)) / length;
            (self.common.covariance.between(i, j) / variance - features).abs()
        };
        (0..points).flat_map(|i| (0..=i).map(move |j| (i, j))).map(|(i, j)| pair(i, j)).fold(0.0, f64::max)
    }
}
