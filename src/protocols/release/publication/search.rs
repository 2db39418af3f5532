//! How the owner tries settings.

use crate::learners::{BetaSchedule, LearnerModel};
use crate::privacy::mechanisms::{FirstAbove, NoiseArithmetic, Repetitions};
use crate::vocab::{Basis, Epsilon};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the next setting to try is chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Search {
    /// A learner chooses, for the protocol's number of rounds.
    Learner(LearnerModel),
    /// Every setting once, in order.
    Everything,
    /// For the protocol's number of rounds: settings drawn at random until an outcome is known, then private choices, each
    /// published at once.
    Sampling(Sampling),
    /// A random number of settings, each drawn uniformly.
    Repeated(Repetitions),
    /// Settings one after another, each at most once, until the noisy outcome of a setting is not below a noisy threshold.
    UntilAbove {
        /// Compares outcomes with the threshold.
        mechanism: FirstAbove,
        /// The order of the settings.
        order: TrialOrder,
    },
    /// No setting is tried.
    Nothing,
}

/// A search in which settings are drawn at random until an outcome is known. From then on, a private mechanism makes every
/// choice.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampling {
    /// Epsilon of one choice.
    pub epsilon: Epsilon,
    /// How a choice is made.
    pub selection: Selection,
    /// Arithmetic of a choice.
    pub arithmetic: NoiseArithmetic,
    /// The largest difference of a setting's outcome between two neighbouring data sets.
    pub record_sensitivity: f64,
    /// The basis of `record_sensitivity`.
    pub basis: Basis,
    /// Exploration weight by round.
    pub beta: BetaSchedule,
    /// Factor by which sqrt(beta) is multiplied.
    pub scale: f64,
    /// Noise variance of the model.
    pub noise_variance: f64,
    /// Whether the search ends with one more private choice, among the settings that were tried.
    pub ends_with_a_setting: bool,
}

/// The mechanism that chooses a setting by its utility.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Selection {
    /// The exponential mechanism (McSherry and Talwar 2007).
    #[default]
    Exponential,
    /// Report noisy max with exponential noise (Dwork and Roth 2014): at the same epsilon its expected utility is never
    /// below that of the exponential mechanism (McKenna and Sheldon 2020). It is `PermuteAndFlip` by another name.
    NoisyMax,
    /// Permute and flip (McKenna and Sheldon 2020, Algorithm 1): options are considered in a random order until one is
    /// taken. The option that is considered is taken with probability exp(-epsilon (best utility - the option's utility) /
    /// (2 sensitivity)). The choices have the same distribution as those of `NoisyMax` (Ding and others 2021). The names
    /// `NoisyMax` and `PermuteAndFlip` stand for the same code: equal seeds give equal choices.
    PermuteAndFlip,
}

/// The order in which settings are tried; it does not depend on outcomes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum TrialOrder {
    /// A random order of all settings.
    #[default]
    Random,
    /// In the order of the objective's settings.
    Listed,
}
