//! Whether a learner never left an arm although its model knew next to nothing about the other arms.
//!
//! A search that has converged also ends on one arm, but it has queried other arms before, or its model predicts their
//! values from the outcomes so far. So two conditions are required.
//!
//! 1. All rounds of the learner queried the same arm, at least [`MIN_ROUNDS`] = 20 of them. A learner that chooses among n
//!    arms at random does so with probability n^-19, at most 2e-6.
//! 2. At least half of the arms that were not queried are *unknown*: given the values at all arms queried, initial
//!    points included, the model's variance at the arm is at least half of its prior variance. The noise of outcomes is
//!    ignored. This makes variances smaller, so that no arm counts as unknown because of noise.
//!
//! The model is the one that the objective states. If it is right, and the noise is small against the prior standard
//! deviation, GP-UCB hardly ever meets these conditions. Without noise, with independent arms and
//! beta_t = 2 ln(n t^2 pi^2 / (6 delta)), GP-UCB stays at one arm for T rounds only if that arm is sqrt(beta_T) prior
//! standard deviations above the prior mean of every other. Under the model this has probability at most
//! n exp(-beta_T / 2) = 6 delta / (pi T)^2, by the tail of the normal distribution: 4e-5 for T = 20 and delta = 0.025
//! (Srinivas et al. 2010, Lemma 5.1). So if a learner meets the conditions, the outcomes are most likely in another unit, or
//! around another mean, than the model says, or the noise is much larger than the prior standard deviation.

use crate::gp::{ArmCovariance, Cholesky, dot};
use crate::objectives::Instance;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Smallest number of rounds of the learner.
const MIN_ROUNDS: u64 = 20;
/// An arm is unknown if its variance is at least this share of its prior variance.
const UNKNOWN: f64 = 0.5;
/// Largest number of different arms that were queried, initial points included; with more, nothing is
/// reported.
const MAX_QUERIED: usize = 256;

/// A learner that never left an arm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneArm {
    /// Rounds, initial points not counted, which all queried the same arm.
    pub rounds: u64,
    /// Number of arms.
    pub arms: u64,
    /// Number of arms at which the model's variance is still at least half of the prior variance.
    pub unknown: u64,
    /// Number of learners of the series that never left an arm; in a federation every agent has one.
    pub learners: u64,
}

/// The arms that one learner has queried.
#[derive(Clone, Debug, Default)]
pub struct QueriedArms {
    /// The arms before the first round, and the arms of all rounds; no more are added once `chosen` has two arms.
    queried: BTreeSet<usize>,
    /// The arms of all rounds; no more are added once there are two.
    chosen: BTreeSet<usize>,
    rounds: u64,
}

impl QueriedArms {
    /// Adds a query of round `t`, 0 for an initial point.
    pub fn add(&mut self, t: u64, arm: usize) {
        if self.chosen.len() > 1 {
            return;
        }
        self.queried.insert(arm);
        if t > 0 {
            self.rounds += 1;
            self.chosen.insert(arm);
        }
    }

    /// The finding, if the learner never left an arm and knew next to nothing about the other arms.
    #[must_use]
    pub fn one_arm(&self, instance: &Instance) -> Option<OneArm> {
        let arms = instance.values.len();
        if self.chosen.len() != 1 || self.rounds < MIN_ROUNDS || arms < 2 || self.queried.len() > MAX_QUERIED
        {
            return None;
        }
        let unknown = self.unknown(instance)?;
        let others = arms - self.queried.len();
        let enough = 2 * unknown >= others && unknown > 0;
        enough.then_some(OneArm {
            rounds: self.rounds,
            arms: arms as u64,
            unknown: unknown as u64,
            learners: 1,
        })
    }

    /// Number of arms that were not queried and whose variance, given the values at the queried ones, is at least half of
    /// the prior variance. `None` if the model's matrix cannot be factorised.
    fn unknown(&self, instance: &Instance) -> Option<usize> {
        let covariance =
            ArmCovariance::of_inputs(Arc::clone(&instance.inputs), instance.surrogate.covariance.clone());
        let queried: Vec<usize> = self.queried.iter().copied().collect();
        let m = queried.len();
        let gram: Vec<f64> = queried
            .iter()
            .flat_map(|&a| queried.iter().map(move |&b| (a, b)))
            .map(|(a, b)| covariance.between(a, b))
            .collect();
        let factor = Cholesky::with_jitter(m, &gram).ok()?;
        let variances = covariance.variances();
        let is_unknown = |arm: usize| {
            let mut k: Vec<f64> = queried.iter().map(|&other| covariance.between(other, arm)).collect();
            factor.forward(&mut k);
            let prior = variances[arm];
            prior > 0.0 && prior - dot(&k, &k) >= UNKNOWN * prior
        };
        Some((0..variances.len()).filter(|arm| !self.queried.contains(arm) && is_unknown(*arm)).count())
    }

    /// The finding about the first learner of a series that never left an arm, with the number of all such
    /// learners; `None` if there is no such learner.
    pub fn of_series<'a>(learners: impl Iterator<Item = (&'a Self, &'a Instance)>) -> Option<OneArm> {
        let mut found = learners.filter_map(|(queried, instance)| queried.one_arm(instance));
        let first = found.next()?;
        Some(OneArm { learners: 1 + found.count() as u64, ..first })
    }
}
