//! An exact posterior that uses the faster of two representations: one row of n numbers for each outcome while there are
//! few outcomes, then a covariance matrix over the n arms.

use super::{ArmCovariance, ArmPosterior, GpError, Posterior};

/// An exact posterior that changes its representation from rows to a covariance matrix when there are more outcomes
/// than arms. From then on, the time that an outcome takes no longer grows with the number of outcomes. With more than
/// 5,000 arms the representation never changes.
///
/// The change is made at a fixed number of outcomes, so the time of the change does not depend on a run's random numbers.
#[derive(Clone, Debug)]
pub enum AdaptivePosterior {
    /// One row per outcome, with a number for every arm.
    Candidates(Box<Posterior>),
    /// A covariance matrix over the arms.
    ArmSpace(Box<ArmPosterior>),
}

/// Largest number of arms for which a covariance matrix over the arms is stored. The matrix for this number takes 200 MB.
pub(crate) const MAX_ARMS: usize = 5_000;

impl AdaptivePosterior {
    /// The prior over the n arms of `prior`, represented by rows.
    ///
    /// `noise_variance` is the variance of the noise on an outcome, at least 0, in squared units of the outcome;
    /// `prior_mean` is the same at every arm, in units of the outcome.
    #[must_use]
    pub fn new(prior: ArmCovariance, noise_variance: f64, prior_mean: f64) -> Self {
        Self::Candidates(Box::new(Posterior::new(prior, noise_variance, prior_mean)))
    }

    /// Adds the outcome of one arm, in units of the outcome. Adding an outcome to t earlier outcomes takes O(n t) while t is
    /// below n, and O(n^2) after that; the change of representation takes O(n^3). With more than 5,000 arms, adding an
    /// outcome always takes O(n t).
    ///
    /// # Errors
    /// Those of [`Posterior::observe`].
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn observe(&mut self, arm: usize, outcome: f64) -> Result<(), GpError> {
        if let Self::Candidates(posterior) = self {
            let n = posterior.mean().len();
            if n <= MAX_ARMS && posterior.observations() >= n {
                *self = Self::ArmSpace(Box::new(posterior.to_arm_space()));
            }
        }
        match self {
            Self::Candidates(posterior) => posterior.observe(arm, outcome),
            Self::ArmSpace(posterior) => posterior.observe(arm, outcome),
        }
    }

    /// Posterior mean at every arm: `[n]`, in units of the outcome. Rasmussen and Williams 2006, equation 2.25.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        match self {
            Self::Candidates(posterior) => posterior.mean(),
            Self::ArmSpace(posterior) => posterior.mean(),
        }
    }

    /// Posterior variance of the function (without noise) at every arm: `[n]`, at least 0, in squared units of the
    /// outcome. Rasmussen and Williams 2006, equation 2.26.
    #[must_use]
    pub fn variance(&self) -> &[f64] {
        match self {
            Self::Candidates(posterior) => posterior.variance(),
            Self::ArmSpace(posterior) => posterior.variance(),
        }
    }

    /// Number of outcomes so far, t.
    #[must_use]
    pub fn observations(&self) -> usize {
        match self {
            Self::Candidates(posterior) => posterior.observations(),
            Self::ArmSpace(posterior) => posterior.observations(),
        }
    }

    /// Information gain of the arms observed, 1/2 log det(I + K / noise) in nats, with K their prior covariance matrix and
    /// noise the noise variance; 0 if there is no noise. Srinivas et al. 2010, equation 3.
    #[must_use]
    pub fn information_gain(&self) -> f64 {
        match self {
            Self::Candidates(posterior) => posterior.information_gain(),
            Self::ArmSpace(posterior) => posterior.information_gain(),
        }
    }

    /// The largest jitter that was added to the variance of an outcome, in squared units of the outcome: at most 1e-6
    /// of the largest prior variance; 0 if none was needed.
    #[must_use]
    pub fn jitter(&self) -> f64 {
        match self {
            Self::Candidates(posterior) => posterior.jitter(),
            Self::ArmSpace(posterior) => posterior.jitter(),
        }
    }
}
