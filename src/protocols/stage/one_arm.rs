//! Whether a learner never left an arm although its model knew next to nothing about the other arms.
//!
//! A search that has converged also ends on one arm, but it has queried other arms before, or its model predicts the values
//! of the other arms from the outcomes so far. So a learner is reported only if it meets two conditions.
//!
//! 1. The learner has had at least [`MIN_ROUNDS`] = 20 rounds, and has queried the same arm in all of them. A learner that
//!    chooses among n arms at random queries the same arm in 20 rounds with probability n^-19, which is at most 2e-6.
//! 2. At least half of the arms that were not queried are *unknown*. An arm is unknown if the model's variance at this arm,
//!    given the values at all queried arms (initial points included), is at least half of the prior variance at this arm.
//!    The values at the queried arms are taken to be known without noise. This makes the variances smaller, so that no arm
//!    counts as unknown because of noise.
//!
//! The model is the one that the objective states. If it is right, and the noise is small against the prior standard
//! deviation, GP-UCB hardly ever meets these conditions. To see this, let there be n independent arms with equal prior
//! means and variances, and no noise. In round t, GP-UCB adds to the mean at each arm sqrt(beta_t) standard deviations,
//! where beta_t = 2 ln(n t^2 pi^2 / (6 delta)), and it queries the arm with the largest sum. So GP-UCB stays at one arm
//! for T rounds only if the value of that arm is at least sqrt(beta_T) prior standard deviations above the prior mean.
//! For a single arm, the probability of this under the model is at most exp(-beta_T / 2), by the tail of the normal
//! distribution. So the probability that this holds for some arm is at most n exp(-beta_T / 2) = 6 delta / (pi T)^2: 4e-5
//! for T = 20 and delta = 0.025 (Srinivas et al. 2010, Lemma 5.1). So if a learner meets the conditions, the outcomes are
//! most likely in another unit, or around another mean, than the model says, or the noise is much larger than the prior
//! standard deviation.

use crate::gp::{ArmCovariance, Cholesky, dot};
use crate::objectives::Instance;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Smallest number of rounds of a learner that is reported.
const MIN_ROUNDS: u64 = 20;
/// An arm is unknown if its variance is at least this share of its prior variance.
const UNKNOWN: f64 = 0.5;
/// Largest number of different arms that were queried, initial points included; with more, nothing is
/// reported.
const MAX_QUERIED: usize = 256;

/// The finding that a learner never left an arm, although its model knew next to nothing about the other arms.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneArm {
    /// Number of the learner's rounds, initial points not counted. All of them queried the same arm.
    pub rounds: u64,
    /// Number of arms.
    pub arms: u64,
    /// Number of arms that were not queried and at which the model's variance, given the values at the queried arms, is
    /// still at least half of the prior variance.
    pub unknown: u64,
    /// Number of learners of the series for which there is such a finding; in a federation every agent has a learner.
    pub learners: u64,
}

/// The arms that one learner has queried.
#[derive(Clone, Debug, Default)]
pub struct QueriedArms {
    /// The arms queried before the first round, and those queried in any round; no arm is added once `chosen` has two arms.
    queried: BTreeSet<usize>,
    /// The arms queried in any round; no arm is added once there are two.
    chosen: BTreeSet<usize>,
    rounds: u64,
}

impl QueriedArms {
    /// Adds the query of an arm in round `t` (0 for an initial point).
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

    /// Number of arms that were not queried and whose variance, given the values at the queried arms, is at least half of
    /// the prior variance. `None` if the covariance matrix of the queried arms cannot be factorised.
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

    /// The first finding that [`Self::one_arm`] returns for a learner of the series, with the number of all learners for
    /// which [`Self::one_arm`] returns a finding. `None` if there is no finding.
    pub fn of_series<'a>(learners: impl Iterator<Item = (&'a Self, &'a Instance)>) -> Option<OneArm> {
        let mut found = learners.filter_map(|(queried, instance)| queried.one_arm(instance));
        let first = found.next()?;
        Some(OneArm { learners: 1 + found.count() as u64, ..first })
    }
}
