//! What a protocol needs of the way in which users report their rewards.

use crate::privacy::mechanisms::{Mechanism, MechanismError};
use crate::vocab::{Delta, Neighbours, OutOfRange, Problem};
use std::sync::Arc;
use thiserror::Error;

/// Makes one reward private.
pub trait RewardMechanism: Mechanism<Input = f64, Output = f64> + Send + Sync {
    /// The relation that is protected: between any two rewards, or between two laws of a reward only.
    fn neighbours(&self) -> Neighbours;

    /// The largest reward in size that the noise is made for.
    fn bound(&self) -> f64;

    /// Whether rewards beyond the bound are moved to it, so that any reward at all may be reported.
    fn clips(&self) -> bool;

    /// Whether a reward lies beyond the bound. For the owner's count; nobody else may know.
    fn exceeds(&self, reward: f64) -> bool;

    /// Variance of the noise on one report, in squared units of a reward; public.
    fn variance(&self) -> f64;

    /// Scale of the noise, where it is Laplace.
    fn laplace_scale(&self) -> Option<f64> {
        None
    }

    /// What it is, in words, for an audit of it.
    fn about(&self) -> String;
}

/// What is known of the rewards of a problem.
pub struct RewardFacts<'a> {
    /// The mean that a model of the rewards assumes.
    pub mean: f64,
    /// How far a mean reward lies from it at most.
    pub deviation: f64,
    /// The largest mean reward in size.
    pub reach: f64,
    /// The largest noise of a reward in size, where it is bounded.
    pub noise_bound: Option<f64>,
    /// What the noise of a reward exceeds in size with a probability, where its law says so.
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
    /// The bound that follows from the problem is no finite number above 0.
    #[error("no bound on the rewards: {0}")]
    NoBound(OutOfRange),
    /// Nothing bounds the rewards.
    #[error(
        "expected bounded rewards, found unbounded noise: set report.Ctl.bound, beyond which rewards are clipped"
    )]
    Unbounded,
    /// The noise cannot be had.
    #[error(transparent)]
    Mechanism(#[from] MechanismError),
}

/// A way to report rewards, as a scenario names it.
pub trait RewardReport: Send + Sync {
    /// What users do to rewards of which this is known; none where they report them as they are.
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
