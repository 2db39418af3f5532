//! The interface between a protocol and the way in which users report their rewards.

use crate::privacy::mechanisms::{Mechanism, MechanismError};
use crate::vocab::{Delta, Neighbours, OutOfRange, Problem};
use std::sync::Arc;
use thiserror::Error;

/// Makes one reward private.
pub trait RewardMechanism: Mechanism<Input = f64, Output = f64> + Send + Sync {
    /// The relation that is protected: between any two rewards, or between two laws of a reward only.
    fn neighbours(&self) -> Neighbours;

    /// The largest absolute reward that the noise is made for.
    fn bound(&self) -> f64;

    /// Whether rewards beyond the bound are moved to it, so that any reward at all may be reported.
    fn clips(&self) -> bool;

    /// Whether a reward lies beyond the bound. Only for the owner's own count: the answer depends on protected data.
    fn exceeds(&self, reward: f64) -> bool;

    /// Variance of the noise on one report, in squared units of a reward; public.
    fn variance(&self) -> f64;

    /// Scale of the noise, where it is Laplace.
    fn laplace_scale(&self) -> Option<f64> {
        None
    }

    /// A description of it, for an audit.
    fn about(&self) -> String;
}

/// What is known of the rewards of a problem.
pub struct RewardFacts<'a> {
    /// The mean that a model of the rewards assumes.
    pub mean: f64,
    /// The largest distance of a mean reward from it.
    pub deviation: f64,
    /// The largest absolute mean reward.
    pub reach: f64,
    /// The largest absolute noise of a reward, if it is bounded.
    pub noise_bound: Option<f64>,
    /// The size that the noise of a reward exceeds with at most a given probability, if its law gives one.
    pub noise_tail: &'a dyn Fn(Delta) -> Option<f64>,
}

impl std::fmt::Debug for RewardFacts<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RewardFacts").field("reach", &self.reach).finish_non_exhaustive()
    }
}

/// Why rewards cannot be reported.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The bound that follows from the problem is not a finite number above 0.
    #[error("no bound on the rewards: {0}")]
    NoBound(OutOfRange),
    /// Nothing bounds the rewards.
    #[error(
        "expected bounded rewards, found unbounded noise: set report.Ctl.bound, beyond which rewards are clipped"
    )]
    Unbounded,
    /// The mechanism cannot be made.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// A way to report rewards, as a scenario names it.
pub trait RewardReport: Send + Sync {
    /// The users' mechanism for rewards of which these facts are known; `None` if they report them without protection.
    ///
    /// # Errors
    /// [`ReportError`] if nothing bounds the rewards, or there is no finite noise.
    fn mechanism(&self, facts: &RewardFacts<'_>) -> Result<Option<Arc<dyn RewardMechanism>>, ReportError>;

    /// Epsilon of one report, where it has one: a learner's theorem may ask for it.
    fn epsilon(&self) -> Option<f64> {
        None
    }

    /// What is wrong with the recipe as a whole; paths begin below it.
    fn problems(&self) -> Vec<Problem> {
        Vec::new()
    }
}
