//! Theorems' bounds on a series' regret: GP-UCB's for disclosed inputs, PO-GP-UCB's for projected ones.

use super::recipe::SeriesRecipe;
use crate::gp::{ArmCovariance, gain_bounds};
use crate::learners::{Arms, BetaSchedule, Facts, GpUcb};
use crate::objectives::Instance;
use crate::privacy::mechanisms::{Disclosed, JohnsonLindenstrauss};
use crate::protocols::stage::{BoundSide, BoundedRegret, RegretBound};
use std::sync::Arc;

/// Rounds at which bounds are given, at most.
const PLACES: u64 = 60;

/// What the bounds of one replication rest on; the information gain is worked out once.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    instance: &'a Instance,
    arms: Arms,
    rounds: Vec<u64>,
    /// Largest minus smallest value.
    range: f64,
    gains: Option<Option<Vec<f64>>>,
}

impl<'a> Bounds<'a> {
    pub(super) fn new(instance: &'a Instance, rounds: u64) -> Self {
        let worst = instance.values.iter().copied().fold(f64::INFINITY, f64::min);
        let places = PLACES.min(rounds).max(1);
        let surrogate = &instance.surrogate;
        let covariance = ArmCovariance::of_inputs(Arc::clone(&instance.inputs), surrogate.covariance.clone());
        let arms = Arms {
            n: instance.inputs.n(),
            covariance: Some(covariance),
            noise_variance: surrogate.noise_variance,
            mean: surrogate.mean,
            facts: Facts { horizon: Some(rounds), ..Facts::default() },
        };
        let rounds = (1..=places).map(|place| rounds * place / places).collect();
        Self { instance, arms, rounds, range: instance.best() - worst, gains: None }
    }

    /// All bounds on a series.
    pub(super) fn of(&mut self, series: &SeriesRecipe) -> Vec<RegretBound> {
        let Some(learner) = series.learner.get::<GpUcb>() else { return Vec::new() };
        // The theorems take outcomes with the model's own noise variance.
        if learner.regulariser.is_some() || series.outcomes.get::<Disclosed>().is_none() {
            return Vec::new();
        }
        let Some(theorem) = series.learner.as_dyn().theorem(&self.arms) else { return Vec::new() };
        let bound = if series.release.get::<Disclosed>().is_some() {
            self.points(|t, gain| theorem.at(t, gain)).map(|points| RegretBound {
                side: BoundSide::Upper,
                regret: BoundedRegret::Cumulative,
                source: theorem.source.to_owned(),
                caveats: theorem.caveats.clone(),
                largest_possible: self.range * self.last() as f64,
                points,
            })
        } else if series.release.get::<JohnsonLindenstrauss>().is_some() {
            self.projected(learner.beta)
        } else {
            // No theorem is known for what else is shown.
            None
        };
        bound.into_iter().collect()
    }

    fn last(&self) -> u64 {
        self.rounds.last().copied().unwrap_or(0)
    }

    /// The terms of Theorem 3 that no choice of its constants makes smaller: (24 / ln(1 + v / noise) v beta_T gamma_T
    /// / T)^(1/2), v the prior variance (1 in the paper).
    fn projected(&mut self, beta: BetaSchedule) -> Option<RegretBound> {
        let (n, noise) = (self.arms.n, self.arms.noise_variance);
        let variance = self.instance.surrogate.covariance.variance;
        let factor = 24.0 * variance / libm::log1p(variance / noise);
        let points = self.points(|t, gain| (factor * beta.at(t, n) * gain / t as f64).sqrt())?;
        // mu = delta_ucb / 2 = 0.025 and nu at most 1/2.
        let columns = (32.0 * libm::log(n as f64 * n as f64 / 0.025)).ceil();
        Some(RegretBound {
            side: BoundSide::Upper,
            regret: BoundedRegret::Simple,
            source: "Kharkovskii et al. 2020, Theorem 3".to_owned(),
            caveats: vec![
                "without its terms in epsilon_ucb, C1 and C2, so that it promises no less than this"
                    .to_owned(),
                format!(
                    "in force only for r of at least {columns}, omega below the smallest singular value, and a \
                     diagonally dominant covariance, none of which the experiments have"
                ),
            ],
            points,
            largest_possible: self.range,
        })
    }

    fn points(&mut self, formula: impl Fn(u64, f64) -> f64) -> Option<Vec<(u64, f64)>> {
        let (arms, rounds) = (&self.arms, &self.rounds);
        let gains = self.gains.get_or_insert_with(|| {
            let covariance = arms.covariance.as_ref()?;
            gain_bounds(covariance, rounds, arms.noise_variance).ok()
        });
        let gains = gains.as_ref()?;
        let points = rounds.iter().zip(gains).map(|(&t, &gain)| (t, formula(t, gain)));
        let points: Vec<(u64, f64)> = points.filter(|(_, value)| value.is_finite()).collect();
        (!points.is_empty()).then_some(points)
    }
}
