//! One replication's problem: arms, their values, and the surrogate model that describes them.

use super::Noise;
use crate::gp::Points;
use crate::gp::covariance::Covariance;
use crate::vocab::PublicFact;
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
    /// What is known besides, if anything.
    pub background: Background,
}

/// What a data owner knows of its problem besides the values.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// Noise-free value of each arm on a neighbouring data set, for an objective that draws one: it serves to check
    /// guarantees, and no party sees it.
    pub neighbour: Option<Arc<Vec<f64>>>,
    /// The loss that a value is the negative mean of, for an objective that has one.
    pub tuning: Option<TuningFacts>,
    /// Noise-free value of each arm for each agent, for an objective that gives every agent of a federation its own.
    pub agents: Option<Arc<Vec<Arc<Vec<f64>>>>>,
    /// What of the data is taken as public: the surrogate and the scaling of inputs and values are functions of some of
    /// it. A protocol says who knows it.
    pub public: Vec<PublicFact>,
}

/// What is public about a tuning problem: a value is minus the mean, over `records` validation records, of a loss of
/// a linear model that was trained with L2 regularisation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TuningFacts {
    /// m, validation records.
    pub records: f64,
    /// g*, the largest minus the smallest loss of one record.
    pub loss_range: f64,
    /// L, Lipschitz constant of the validation loss in the weights, for records of norm at most 1.
    pub lipschitz: f64,
    /// Smallest regularisation parameter on offer.
    pub lambda_min: f64,
    /// Largest one.
    pub lambda_max: f64,
}

impl Instance {
    /// One arm of value 0: what a dry run has in place of a problem.
    #[must_use]
    pub fn stand_in() -> Self {
        Self {
            inputs: Arc::new(Points::new(1, 1, vec![0.0])),
            values: Arc::new(vec![0.0]),
            noise: Noise::gaussian(0.0),
            surrogate: Surrogate {
                covariance: Covariance::squared_exponential(1.0, 1.0),
                noise_variance: 1.0,
                mean: 0.0,
            },
            background: Background::default(),
        }
    }

    /// The largest value.
    #[must_use]
    pub fn best(&self) -> f64 {
        self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }
}
