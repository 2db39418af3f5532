//! The settings of a search by acquisition functions.

use crate::vocab::NonNegative;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// What the next query maximises. Some functions refer to the best value so far. This is the largest outcome if the stated
/// noise variance is at most 1e-5 of the prior variance, and otherwise the largest posterior mean at a point with an
/// outcome, so that a large noise in one outcome is not taken for a large value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum AcquisitionFunction {
    /// The logarithm of the expected improvement over the best value so far, computed so that its gradient is not 0 where
    /// the improvement itself is rounded to 0. Ament et al. 2023, equation 9.
    #[default]
    LogExpectedImprovement,
    /// The expected improvement over the best value so far. Jones, Schonlau and Welch 1998, equation 15.
    ExpectedImprovement,
    /// The logarithm of the probability of a value above the best value so far. Kushner 1964.
    ProbabilityOfImprovement,
    /// Mean + sqrt(beta) standard deviations. If hyperparameters are fitted, outcomes are first scaled to variance 1.
    ///
    /// Example: `UpperConfidenceBound(beta: 4)`.
    UpperConfidenceBound {
        /// beta, dimensionless.
        beta: NonNegative,
    },
    /// A function drawn from the posterior: a function drawn from the prior, made of random Fourier features, plus a
    /// correction that depends on the outcomes (Wilson et al. 2020).
    ///
    /// Example: `ThompsonSampling(features: 512)`.
    ThompsonSampling {
        /// Number of features, 1 to 4096; the error of the approximation is of order 1 / sqrt(features).
        features: NonZeroUsize,
    },
    /// The information that the objective's value at the point, without noise, gives about the objective's largest value,
    /// averaged over draws of the largest value. Wang and Jegelka 2017, equation 6.
    ///
    /// Example: `MaxValueEntropySearch(draws: 16)`.
    MaxValueEntropySearch {
        /// Number of draws, 1 to 4096.
        draws: NonZeroUsize,
    },
    /// The logarithm of the expected improvement over the best of the queries so far, for noisy outcomes. The function's
    /// unknown values at the queries are drawn jointly from the posterior, with quasi-random base samples; given each draw,
    /// the expectation over the value at the point is computed in closed form. Letham et al. 2019, equation 6.
    ///
    /// Example: `LogNoisyExpectedImprovement(samples: 64)`.
    LogNoisyExpectedImprovement {
        /// Number of draws, 1 to 4096.
        samples: NonZeroUsize,
    },
    /// By how much an outcome at the point is expected to raise the largest posterior mean over a finite set: the queries so
    /// far, the point itself and some further points of the domain. The expectation is computed exactly. This acquisition
    /// function is meant for noisy outcomes. Frazier, Powell and Dayanik 2009, equation 14; Scott, Frazier and Powell 2011.
    ///
    /// Example: `KnowledgeGradient(points: 64)`.
    KnowledgeGradient {
        /// Number of further points of the set, 0 to 4096. They are evenly spaced in a list: the list of the arms or, in a
        /// box, the list of the 576 candidates that are drawn anew for each query (512 quasi-random ones and 64 near the
        /// best point). If the list has fewer points than this number, all points of the list are taken.
        points: usize,
    },
}

/// Whether the model's hyperparameters are fitted to the outcomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum Refit {
    /// The hyperparameters are not fitted: the learner uses those of the objective's surrogate.
    Never,
    /// The hyperparameters are fitted again each time this many outcomes have been added. They are the length-scales (one
    /// for each input or, for an input with categories, one for each category), variance, noise variance and mean. The fit
    /// maximises their posterior density (MAP), for inputs scaled to the unit cube and outcomes scaled to mean 0 and
    /// variance 1.
    ///
    /// Example: `Every(5)`.
    Every(NonZeroUsize),
}

impl Default for Refit {
    fn default() -> Self {
        Self::Every(NonZeroUsize::MIN)
    }
}

/// Bayesian optimisation as it is practised: some quasi-random queries, then in each round a
/// Gaussian process is fitted to all outcomes and the point with the largest acquisition is
/// queried. It searches a finite set of arms, or a box. In a box, the acquisition is computed at 512
/// quasi-random candidates and at 64 candidates near the best point, which is the point with the largest posterior mean
/// among those with outcomes. A local search with gradients starts from each of the best four quasi-random candidates and
/// each of the best four nearby candidates. No theorem bounds the regret of this learner. Queries without an outcome yet are
/// taken to have the outcome that the model expects (kriging believer).
///
/// The priors of fitted hyperparameters are log-normal; sigma is the standard deviation of the logarithm. As in Hvarfner,
/// Hellsten and Nardi 2024, length-scales have the median e^sqrt(2) sqrt(d) and sigma sqrt(3), where d is the number of
/// coordinates (an input with categories has one for each category). The noise variance has the median e^-4 and sigma 1; if
/// the scenario states practically no noise (at most 1e-5 of the function's variance), sigma is 3, with the same mode. The
/// variance of the function, which BoTorch keeps at 1, has the median 1 and sigma 1. The mean is constant and fitted without
/// a prior.
///
/// Example: `Acquisition(function: LogExpectedImprovement)`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Acquisition {
    /// What the next query maximises. Default: `LogExpectedImprovement`.
    #[serde(default)]
    pub function: AcquisitionFunction,
    /// Number of quasi-random queries before the first query that a model chooses; among arms, the arms nearest to
    /// quasi-random points are queried. Default: 2 (n + 1), with n inputs;
    /// an input with categories counts once.
    #[serde(default)]
    pub initial: Option<NonZeroUsize>,
    /// Whether hyperparameters are fitted to the outcomes; those of a linear covariance never are. Default: `Every(1)`.
    #[serde(default)]
    pub refit: Refit,
    /// Whether queries stay in a trust region, a box around the point with the best outcome: TuRBO-1 (Eriksson et al. 2019),
    /// for many inputs. The box grows with successes and shrinks with failures, and the search begins anew when the box is
    /// tiny. A trust region needs fitted hyperparameters; with a linear covariance, whose hyperparameters are never fitted,
    /// the trust region has no effect. If the domain is a set of arms, only arms in the trust region can be chosen.
    /// Default: false.
    #[serde(default)]
    pub trust_region: bool,
}
