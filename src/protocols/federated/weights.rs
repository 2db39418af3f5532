//! The weight of each agent in each region's sum.

use crate::vocab::{NonNegative, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The behaviour of a weight schedule.
pub trait Weights {
    /// Weights of sum k (sum 0 follows the initial points): regions x agents. Each weight is at least 0, and the weights
    /// of each region add up to 1. `explored` has the region that each agent explores. Weights are public, so they must
    /// not depend on anything that is protected.
    fn at(&self, k: u64, explored: &[usize], regions: usize) -> Vec<Vec<f64>>;

    /// What is wrong with the schedule as a whole.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}

crate::family! {
    /// The weights of agents by region and round.
    pub struct WeightSchedule(WeightMember): dyn Weights, "weights" {
        /// Every agent has weight 1/N in every region: `Uniform()`.
        Uniform(Uniform),
        /// At first the agents that explore a region have larger weights in its sum than the other agents; later every
        /// agent has weight 1/N in every region.
        Annealed(Annealed),
    }
}

/// Every agent has weight 1/N in every region: `Uniform()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uniform {}

/// w_n = softmax over agents n of (a 1{agent n explores the region} + 1) / temperature, where 1{..} is 1 if the statement is
/// true and 0 otherwise. Sums are numbered from 0: sum t comes before round t + 1. Up to sum `hold` the temperature is 1. In
/// later sums, 1 / temperature falls linearly to 0 in sum `until` - 1, and is 0 in all sums after that sum. So all weights
/// are equal in round `until` and in all later rounds.
///
/// Source: Dai, Low and Jaillet 2021, section 3.2, for the weights and a = 15. The schedule of the temperature is that of
/// the authors' public code; the appendix of the paper, where the schedule is described, was not available.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Annealed {
    /// a, added to the exponent of agents that explore the region, before the exponent is divided by the temperature.
    /// Default: 15.
    #[serde(default = "fifteen")]
    pub strength: NonNegative,
    /// Number of the last sum at temperature 1. Default: 10.
    #[serde(default = "ten")]
    pub hold: u64,
    /// First round with equal weights, at least `hold` + 2. Default: 40.
    #[serde(default = "forty")]
    pub until: u64,
}

fn fifteen() -> NonNegative {
    NonNegative::new(15.0).expect("15 is not below 0")
}

fn ten() -> u64 {
    10
}

fn forty() -> u64 {
    40
}

impl Default for WeightSchedule {
    fn default() -> Self {
        Self::from(Annealed { strength: fifteen(), hold: ten(), until: forty() })
    }
}

impl WeightSchedule {
    /// Weights of sum k (sum 0 follows the initial points): regions x agents; those of each region add up to 1.
    #[must_use]
    pub fn at(&self, k: u64, explored: &[usize], regions: usize) -> Vec<Vec<f64>> {
        self.as_dyn().at(k, explored, regions)
    }
}

impl Weights for Uniform {
    fn at(&self, _: u64, explored: &[usize], regions: usize) -> Vec<Vec<f64>> {
        softmax(0.0, explored, regions)
    }
}

impl Weights for Annealed {
    fn at(&self, k: u64, explored: &[usize], regions: usize) -> Vec<Vec<f64>> {
        softmax(self.strength.get() * self.inverse_temperature(k), explored, regions)
    }

    fn problems(&self) -> Vec<Problem> {
        if self.until > self.hold.saturating_add(1) {
            return Vec::new();
        }
        // With a smaller `until`, the settings would require of sum `hold` both temperature 1 and equal weights.
        vec![Problem::wrong(
            "Annealed.until",
            format!("at least {} (`hold` + 2)", self.hold.saturating_add(2)),
            self.until.to_string(),
            "raise `until` or lower `hold` (the authors' code: 40 and 10)",
        )]
    }
}

/// For each region, the softmax over agents: the agents that explore the region have the exponent `exponent`, and the
/// other agents have the exponent 0.
fn softmax(exponent: f64, explored: &[usize], regions: usize) -> Vec<Vec<f64>> {
    let agents = explored.len() as f64;
    let own = libm::exp(exponent);
    (0..regions)
        .map(|region| {
            let inside = explored.iter().filter(|&&r| r == region).count() as f64;
            let total = inside * own + (agents - inside);
            explored.iter().map(|&r| if r == region { own / total } else { 1.0 / total }).collect()
        })
        .collect()
}

impl Annealed {
    fn inverse_temperature(&self, k: u64) -> f64 {
        if k < self.hold {
            1.0
        } else if k >= self.until {
            0.0
        } else {
            // With the defaults: 1 - (k - 10) / 29 for k = 10, ..., 39.
            1.0 - (k - self.hold) as f64 / (self.until - self.hold - 1).max(1) as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_sum_to_one_and_end_uniform() {
        let explored: Vec<usize> = (0..10).map(|n| n % 4).collect();
        for k in [0, 9, 10, 25, 39, 40, 100] {
            for region in WeightSchedule::default().at(k, &explored, 4) {
                assert!((region.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            }
        }
        let last = WeightSchedule::default().at(40, &explored, 4);
        assert!(last.iter().flatten().all(|w| (w - 0.1).abs() < 1e-15));
        let first = WeightSchedule::default().at(0, &explored, 4);
        // Softmax of 16 and 1: three agents explore region 0, seven do not.
        let own = 15f64.exp() / (3.0 * 15f64.exp() + 7.0);
        assert!((first[0][0] - own).abs() < 1e-12);
    }
}
