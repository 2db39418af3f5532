//! The source of the hyperparameters of agents' own models, as a scenario states it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU64, NonZeroUsize};

/// How agents get the hyperparameters of their own models. The shared features are the same for all agents. So the
/// features, and the shared model from which each agent draws the vectors that it sends, keep the hyperparameters of the
/// objective (or those that the scenario states for the features), even if an agent fits other hyperparameters for its
/// own model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum OwnHyperparameters {
    /// From the objective, multiplied by the agent's own factors if the `differences` of its group state such factors
    /// (`model_length_scale`, `model_noise`). The hyperparameters never change during a run.
    #[default]
    Given,
    /// Each agent repeatedly fits three hyperparameters to its own outcomes: the length-scale (one for all dimensions),
    /// the variance and the noise variance. It maximises the marginal likelihood, from several starting points. With each
    /// fit, the prior mean of the agent's model becomes the mean of the agent's outcomes. Before the first fit, and as long
    /// as all outcomes are equal, the hyperparameters are those of `Given`.
    ///
    /// Example: `Refitted(every: 2)`.
    Refitted {
        /// An agent fits before a query whenever the number of its measurements so far is a multiple of this number. The
        /// landmine experiment of Dai, Low and Jaillet 2021 uses 5.
        every: NonZeroU64,
        /// Number of starting points of the optimiser: the first is the current hyperparameters, the others are random.
        /// Default: 4.
        #[serde(default = "four")]
        starts: NonZeroUsize,
    },
}

fn four() -> NonZeroUsize {
    const FOUR: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");
    FOUR
}
