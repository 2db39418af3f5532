//! How far one agent can move a federated sum, and what its noise is scaled to.

use super::{Divisor, FederatedSum, Gathered, SensitivityRule};

impl FederatedSum {
    /// What the noise is scaled to in units of S / q, and how far one agent can move the sums in the same units.
    pub(super) fn reach(&self, gathered: &Gathered) -> (f64, f64) {
        let (planned, applied) = (self.largest(gathered, false), self.largest(gathered, true));
        match self.sensitivity {
            SensitivityRule::LargestWeight => (planned, applied.max(planned)),
            SensitivityRule::TighterLoss => (planned, self.longest(gathered, true)),
            SensitivityRule::TighterNoise => (
                self.longest(gathered, false),
                self.longest(gathered, true).max(self.longest(gathered, false)),
            ),
        }
    }

    /// The largest weight, as planned or as applied over the agents that answered.
    fn largest(&self, gathered: &Gathered, applied: bool) -> f64 {
        self.weights_of_each(gathered, applied).into_iter().flatten().fold(0.0, f64::max)
    }

    /// max_n |w_n|_2 / sqrt(P), as planned or as applied.
    fn longest(&self, gathered: &Gathered, applied: bool) -> f64 {
        let length = |weights: Vec<f64>| weights.iter().map(|w| w * w).sum::<f64>().sqrt();
        let longest = self.weights_of_each(gathered, applied).into_iter().map(length).fold(0.0, f64::max);
        longest / (gathered.weights.len().max(1) as f64).sqrt()
    }

    /// The weights by region of every agent that may be the one that differs: as planned, or as applied over the agents
    /// that answered. Where it may be gone altogether it may as well come, and the divisor then counts it.
    fn weights_of_each(&self, gathered: &Gathered, applied: bool) -> Vec<Vec<f64>> {
        let planned =
            |agent: usize| gathered.weights.iter().map(|region| region[agent]).collect::<Vec<f64>>();
        if !applied || self.divisor == Divisor::Planned {
            return (0..gathered.population).map(planned).collect();
        }
        let totals: Vec<f64> = gathered.weights.iter().map(|region| gathered.present(region)).collect();
        let here = gathered.here();
        let may_come = self.divisor == Divisor::ArrivedOrGone;
        let divided = |agent: usize| -> Vec<f64> {
            let by = |weight: f64, total: f64| if here[agent] { total } else { total + weight };
            let weights = planned(agent).into_iter().zip(&totals);
            weights.map(|(w, &total)| if by(w, total) > 0.0 { w / by(w, total) } else { 0.0 }).collect()
        };
        (0..gathered.population).filter(|&agent| here[agent] || may_come).map(divided).collect()
    }
}
