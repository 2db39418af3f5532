//! One replication's problem: arms, their values, and the surrogate model that describes them.

use super::Noise;
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use std::sync::Arc;

/// The Gaussian-process model that a learner assumes, in the units of the (scaled) inputs and of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Surrogate {
    /// Covariance function.
    pub covariance: Covariance,
    /// Variance of the noise of one outcome.
    pub noise_variance: f64,
    /// Prior mean.
    pub mean: f64,
}

/// One replication's problem. Larger values are better.
#[derive(Clone, Debug)]
pub struct Instance {
    /// Inputs of the arms, n x d.
    pub inputs: Arc<Points>,
    /// Noise-free value of each arm.
    pub values: Arc<Vec<f64>>,
    /// Noise of one outcome.
    pub noise: Noise,
    /// What a learner may assume.
    pub surrogate: Surrogate,
}

impl Instance {
    /// The largest value.
    #[must_use]
    pub fn best(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}
