//! Bounds on a series' regret: for disclosed inputs, the bound of the learner's theorem; for projected inputs, the bound
//! of PO-GP-UCB's Theorem 3.

use super::recipe::SeriesRecipe;
use super::theorem3::{Case, Theorem3, design_rule};
use crate::gp::covariance::{LengthScale, Shape};
use crate::gp::{ArmCovariance, gain_bounds};
use crate::learners::{Arms, BetaSchedule, ProblemConstants, Theorem};
use crate::objectives::Instance;
use crate::privacy::mechanisms::{Disclosed, JohnsonLindenstrauss, MechanismError, Rows, sigma_min};
use crate::protocols::stage::{BoundSide, BoundedRegret, RegretBound, SeriesRecord};
use std::sync::Arc;

/// The bounds on a series are computed after at most this many of its rounds, evenly spaced.
const PLACES: u64 = 60;

/// What all bounds of one replication need; the information gain is computed once.
#[derive(Debug)]
pub(super) struct Bounds<'a> {
    instance: &'a Instance,
    arms: Arms,
    rounds: Vec<u64>,
    /// Largest minus smallest noise-free value of the objective.
    range: f64,
    /// Upper bounds on the information gain after each round of `rounds`: `None` before they are computed, `Some(None)`
    /// if they cannot be computed.
    gains: Option<Option<Vec<f64>>>,
    /// The smallest singular value of the centred inputs, computed at its first use.
    sigma_min: Option<f64>,
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
            facts: ProblemConstants { horizon: Some(rounds), ..ProblemConstants::default() },
        };
        let rounds = (1..=places).map(|place| rounds * place / places).collect();
        Self { instance, arms, rounds, range: instance.best() - worst, gains: None, sigma_min: None }
    }

    /// Adds to the record of a series the bounds on its regret; for a projection, also the numbers of its design rule
    /// and of Theorem 3. `changes` says whether a fork changes the series. If it does and inputs are disclosed, the record
    /// has the theorem's name, but no values of the bound. If it does and inputs are projected, the record has the numbers
    /// of the design rule, but none of Theorem 3.
    ///
    /// # Errors
    /// If the singular values of the inputs cannot be computed.
    pub(super) fn add(
        &mut self,
        series: &SeriesRecipe,
        record: &mut SeriesRecord,
        changes: bool,
    ) -> Result<(), MechanismError> {
        if let Some(release) = series.release.get::<JohnsonLindenstrauss>() {
            let sigma_min = self.sigma_min()?;
            record.outcomes.extend(design_rule(release, sigma_min));
            if !changes && let Some((_, beta)) = self.theorem(series) {
                self.projected(record, (release, sigma_min), beta);
            }
        } else if series.release.get::<Disclosed>().is_some()
            && let Some((theorem, _)) = self.theorem(series)
        {
            let bound = self.disclosed(&theorem);
            record.bounds.extend(if changes { bound.map(RegretBound::withheld) } else { bound });
        }
        // No theorem is known for releases other than disclosure and PO-GP-UCB's projection.
        Ok(())
    }

    /// The learner's theorem and schedule of beta; `None` if the learner lacks either, if outcomes are not disclosed,
    /// or if the theorem assumes another noise variance than the model's.
    fn theorem(&self, series: &SeriesRecipe) -> Option<(Theorem, BetaSchedule)> {
        let learner = series.learner.as_dyn();
        let beta = learner.upper_confidence().filter(|_| series.outcomes.get::<Disclosed>().is_some())?;
        let of_this_model = |theorem: &Theorem| theorem.noise_variance == self.arms.noise_variance;
        Some((learner.theorem(&self.arms).filter(of_this_model)?, beta))
    }

    fn sigma_min(&mut self) -> Result<f64, MechanismError> {
        if let Some(known) = self.sigma_min {
            return Ok(known);
        }
        let found = sigma_min(&Rows::of(&self.instance.inputs)?)?;
        self.sigma_min = Some(found);
        Ok(found)
    }

    fn disclosed(&mut self, theorem: &Theorem) -> Option<RegretBound> {
        let points = self.points(|t, gain| theorem.at(t, gain))?;
        Some(RegretBound {
            side: BoundSide::Upper,
            regret: BoundedRegret::Cumulative,
            source: theorem.source.to_owned(),
            caveats: theorem.caveats.clone(),
            largest_possible: self.range * self.last() as f64,
            points,
        })
    }

    fn last(&self) -> u64 {
        self.rounds.last().copied().unwrap_or(0)
    }

    /// Adds Theorem 3's assumptions and terms, and its bound if the assumptions hold. The theorem is about the isotropic
    /// squared exponential covariance and the beta of a finite domain. For another covariance or another schedule of beta,
    /// nothing is added to the record.
    fn projected(
        &mut self,
        record: &mut SeriesRecord,
        (release, sigma_min): (&JohnsonLindenstrauss, f64),
        beta: BetaSchedule,
    ) {
        let (surrogate, n) = (&self.instance.surrogate, self.arms.n);
        let BetaSchedule::FiniteDomain { delta } = beta else { return };
        let LengthScale::Same(length_scale) = surrogate.covariance.length_scale else { return };
        if surrogate.covariance.shape != Shape::SquaredExponential {
            return;
        }
        let theorem = Theorem3::of(&Case {
            inputs: &self.instance.inputs,
            covariance: &surrogate.covariance,
            noise_variance: self.arms.noise_variance,
            length_scale,
            release,
            sigma_min,
            delta: delta.get(),
            iterations: &record.iterations,
        });
        let Some(gain) = self.gains().and_then(|gains| gains.last().copied()) else { return };
        let last = self.last();
        record.outcomes.extend(theorem.outcomes(last as f64, beta.at(last, n), gain));
        if !theorem.holds() {
            return;
        }
        let points = self.points(|t, gain| theorem.at(t as f64, beta.at(t, n), gain));
        record.bounds.extend(points.map(|points| RegretBound {
            side: BoundSide::Upper,
            regret: BoundedRegret::Simple,
            source: "Kharkovskii et al. 2020, Theorem 3".to_owned(),
            caveats: vec!["C1 and C2 are orders, with constant 1".to_owned()],
            points,
            largest_possible: self.range,
        }));
    }

    /// Upper bounds on the information gain after each of the rounds; `None` if they cannot be computed.
    fn gains(&mut self) -> Option<&[f64]> {
        let (arms, rounds) = (&self.arms, &self.rounds);
        let gains = self.gains.get_or_insert_with(|| {
            let covariance = arms.covariance.as_ref()?;
            gain_bounds(covariance, rounds, arms.noise_variance).ok()
        });
        gains.as_deref()
    }

    fn points(&mut self, formula: impl Fn(u64, f64) -> f64) -> Option<Vec<(u64, f64)>> {
        let gains = self.gains()?.to_vec();
        let points = self.rounds.iter().zip(gains).map(|(&t, gain)| (t, formula(t, gain)));
        let points: Vec<(u64, f64)> = points.filter(|(_, value)| value.is_finite()).collect();
        (!points.is_empty()).then_some(points)
    }
}
