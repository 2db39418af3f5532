//! The interface between a protocol and the way in which users report their rewards.

use super::Report;
use crate::privacy::mechanisms::{Mechanism, MechanismError};
use crate::vocab::{Delta, Epsilon, Neighbours, OutOfRange, Problem};
use std::sync::Arc;
use thiserror::Error;

/// A mechanism that makes one reward private.
pub trait RewardMechanism: Mechanism<Input = f64, Output = f64> + Send + Sync {
    /// The neighbours that are protected: any two rewards, or only two distributions of a reward that differ in the mean.
    fn neighbours(&self) -> Neighbours;

    /// The bound on the absolute reward to which the noise is calibrated.
    fn bound(&self) -> f64;

    /// Whether rewards beyond the bound are moved to it, so that any reward at all may be reported.
    fn clips(&self) -> bool;

    /// Whether a reward lies beyond the bound. May be used only for a count that stays with the owner, since
    /// the answer depends on protected data.
    fn exceeds(&self, reward: f64) -> bool;

    /// Variance of the noise on one report, in squared units of a reward; public.
    fn variance(&self) -> f64;

    /// Scale of the noise, where it is Laplace.
    fn laplace_scale(&self) -> Option<f64> {
        None
    }

    /// A description of the mechanism, for an audit.
    fn about(&self) -> String;
}

/// Known facts about the rewards.
pub struct RewardFacts<'a> {
    /// The mean that a model of the rewards assumes.
    pub mean: f64,
    /// The largest distance of a mean reward from `mean`.
    pub deviation: f64,
    /// The largest absolute mean reward.
    pub reach: f64,
    /// The largest absolute noise of a reward, if it is bounded.
    pub noise_bound: Option<f64>,
    /// A size that the absolute noise of a reward exceeds with at most a given probability, if such a size is known.
    pub noise_tail: &'a dyn Fn(Delta) -> Option<f64>,
}

impl std::fmt::Debug for RewardFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RewardFacts").field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// What a scenario states about the noise of rewards, before anything is drawn.
pub struct NoiseFacts<'a> {
    /// Whether the noise is bounded; `None` if the scenario does not say.
    pub bounded: Option<bool>,
    /// Whether a size is known that the noise exceeds with at most a given probability; `None` if the scenario does not
    /// say.
    pub has_tail: &'a dyn Fn(Delta) -> Option<bool>,
}

impl std::fmt::Debug for NoiseFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NoiseFacts").field("bounded", &self.bounded).finish_non_exhaustive()
    }
}

/// Why rewards cannot be reported.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The bound that follows from the facts about the rewards is not a finite number above 0.
    #[error("no bound on the rewards: {0}")]
    NoBound(OutOfRange),
    /// Nothing bounds the rewards.
    #[error(
        "expected bounded rewards, found unbounded noise: set report.Ctl.bound, beyond which rewards are clipped"
    )]
    Unbounded,
    /// The mechanism cannot be built.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// A way to report rewards, as a scenario names it.
pub trait RewardReport: Send + Sync {
    /// The users' mechanism for rewards about which these facts are known; `None` if users report rewards without
    /// protection.
    ///
    /// # Errors
    /// [`ReportError`] if nothing bounds the rewards, if their bound is not a finite number above 0, or if the mechanism
    /// cannot be built, for example because its noise is too small or too large to be drawn exactly on a lattice.
    fn mechanism(&self, facts: &RewardFacts<'_>) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError>;

    /// Epsilon of one report; `None` for rewards without protection. A learner's theorem may need it.
    fn epsilon(&self) -> Option<f64> {
        None
    }

    /// The same recipe with another epsilon of one report, for users with a personal epsilon;
    /// `None` if the recipe has no epsilon.
    fn at_epsilon(&self, epsilon: Epsilon) -> Option<Report> {
        let _ = epsilon;
        None
    }

    /// What is wrong with the recipe as a whole; the paths of problems are relative to the recipe.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }

    /// What is wrong with the recipe for rewards with this noise: the reasons for an error of
    /// [`mechanism`](Self::mechanism), as far as these reasons follow from the noise.
    fn problems_with(&self, noise: &NoiseFacts<'_>) -> Vec<Problem> {
        let _ = noise;
        Vec::new()
    }
}
