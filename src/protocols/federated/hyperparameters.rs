//! The source of the hyperparameters of agents' own models, as a scenario states it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU64, NonZeroUsize};

/// Where the hyperparameters of agents' own models come from. The shared features are the same for all agents, so they and
/// the vectors that are sent around keep theirs, whatever an agent finds for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum OwnHyperparameters {
    /// From the objective, for good.
    #[default]
    Given,
    /// Each agent fits them to what it has measured, again and again, by maximum marginal likelihood from several starts:
    /// length-scale (one for all dimensions), variance and noise variance. The prior mean becomes the mean of its outcomes.
    /// Before the first fit, and while all outcomes are alike, they are those before.
    Refitted {
        /// Before a round's query, whenever the number of an agent's points is a multiple of this. The landmine experiment
        /// of Dai, Low and Jaillet 2021: 5.
        every: NonZeroU64,
        /// Starting points of the optimiser: the hyperparameters so far, the others at random. Default: 4.
        #[serde(default = "four")]
        starts: NonZeroUsize,
    },
}

fn four() -> NonZeroUsize {
    const FOUR: NonZeroUsize = NonZeroUsize::new(4).expect("4 is not zero");
    FOUR
}
