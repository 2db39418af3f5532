//! The source of the surrogate's hyperparameters: stated, or fitted to data.

use super::Kernel;
use crate::vocab::{NonNegative, Positive, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// How the surrogate's hyperparameters are chosen. Every input column has its own length-scale, by which the column is
/// divided before the rows are scaled so that the largest norm of a row is `max_norm`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Hyperparameters {
    /// Stated in the scenario.
    ///
    /// Example: `Given(length_scales: [1], variance: 0.5, noise_variance: 0.5)`.
    Given {
        /// Length-scale of each input, as a multiple of the unit by which the input is divided after its transform. This
        /// unit is the input's standard deviation, unless a scale is stated.
        length_scales: Vec<Positive>,
        /// Variance of the function, in squared units of the scaled output.
        variance: Positive,
        /// Variance of the noise, in squared units of the scaled output.
        noise_variance: NonNegative,
        /// The kernel. Default: `SquaredExponential`.
        #[serde(default)]
        kernel: Kernel,
    },
    /// Fitted to the data by maximum marginal likelihood, from several starts; with priors, by the maximum of the
    /// posterior density of the hyperparameters' logarithms (MAP). The fitted values are kept in the run folder, from
    /// which a replay reads them. They can depend on every record, so the ledger has a release if a party receives them.
    MaximumLikelihood {
        /// Number of rows that are used for the fit, drawn once per study; all rows if there are fewer. Default: 400.
        #[serde(default = "default_subset")]
        subset: NonZeroUsize,
        /// Starting points of the optimiser, 1 to 1000. Default: 4.
        #[serde(default = "default_starts")]
        starts: NonZeroUsize,
        /// The kernel. Default: `SquaredExponential`.
        #[serde(default)]
        kernel: Kernel,
        /// Prior of each length-scale as a multiple of the input's unit, as in `Given`. Default: none. Without any prior,
        /// the fit is by maximum likelihood.
        #[serde(default)]
        length_scale_prior: Option<LogNormalPrior>,
        /// Prior of the variance, in squared units of the scaled output. Default: none.
        #[serde(default)]
        variance_prior: Option<LogNormalPrior>,
        /// Prior of the noise variance, in squared units of the scaled output. Default: none.
        #[serde(default)]
        noise_variance_prior: Option<LogNormalPrior>,
    },
}

/// A log-normal prior of a hyperparameter: the hyperparameter's logarithm has a normal prior. Choose the two numbers of
/// the prior independently of the data.
///
/// Example: `LogNormalPrior(median: 1, sigma: 1)`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LogNormalPrior {
    /// The median.
    pub median: Positive,
    /// Standard deviation of the logarithm.
    pub sigma: Positive,
}

impl LogNormalPrior {
    /// Mean and standard deviation of the logarithm.
    pub(super) fn of_logarithm(self) -> (f64, f64) {
        (libm::log(self.median.get()), self.sigma.get())
    }
}

fn default_subset() -> NonZeroUsize {
    const SUBSET: NonZeroUsize = NonZeroUsize::new(400).expect("400 is not zero");
    SUBSET
}

fn default_starts() -> NonZeroUsize {
    const STARTS: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");
    STARTS
}

/// Largest number of starting points, each of which takes seconds.
const MAX_STARTS: usize = 1000;

impl Hyperparameters {
    /// The kernel.
    pub(super) fn kernel(&self) -> Kernel {
        match self {
            Self::Given { kernel, .. } | Self::MaximumLikelihood { kernel, .. } => *kernel,
        }
    }

    /// The problem of a fit with too many starting points, if there is one.
    pub(super) fn problem(&self) -> Option<Problem> {
        let Self::MaximumLikelihood { starts, .. } = self else { return None };
        (starts.get() > MAX_STARTS).then(|| {
            let (expected, cure) =
                (format!("at most {MAX_STARTS} starts"), "write fewer: each takes seconds, and 4 are usual");
            Problem::wrong("MaximumLikelihood.starts", expected, starts.to_string(), cure)
        })
    }
}

impl Default for Hyperparameters {
    fn default() -> Self {
        Self::MaximumLikelihood {
            subset: default_subset(),
            starts: default_starts(),
            kernel: Kernel::default(),
            length_scale_prior: None,
            variance_prior: None,
            noise_variance_prior: None,
        }
    }
}

/// Hyperparameters of a kernel. They describe inputs and an output that have been centred and divided by their units (by
/// default their standard deviations).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fitted {
    /// Length-scale of each input.
    pub length_scales: Vec<f64>,
    /// Variance of the function.
    pub variance: f64,
    /// Variance of the noise.
    pub noise_variance: f64,
    /// Log marginal likelihood of these values, if they were fitted.
    pub log_likelihood: Option<f64>,
    /// The slope of what the fit maximises, in nats: near 0 at a maximum. The slope is the largest absolute derivative of
    /// the log marginal likelihood (with priors, of its sum with the log prior density) with respect to the logarithm of
    /// a hyperparameter. A derivative does not count if its hyperparameter is at a bound of the search and the derivative
    /// points out of the bounds.
    #[serde(default)]
    pub slope: Option<f64>,
}
