//! Which users never answer.

use crate::rng::Stream;
use crate::vocab::{Finite, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which users never answer, although they tried their arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum NeverAnswer {
    /// Each user with this probability, independently of the reward.
    ///
    /// Example: `Independent(0.15)`.
    Independent(Probability),
    /// Each user whose reward is below a threshold with this probability, and nobody else. The reports are then a
    /// biased sample, and whether a user answers depends on its reward: the ledger lists this as unprotected.
    ///
    /// Example: `WhenBelow(reward: 0, share: 0.5)`.
    WhenBelow {
        /// The threshold, in units of the reward.
        reward: Finite,
        /// The probability.
        share: Probability,
    },
}

impl Default for NeverAnswer {
    fn default() -> Self {
        Self::Independent(Probability::new(0.0).expect("0 is a probability"))
    }
}

impl NeverAnswer {
    /// Whether a user with this reward does not answer. Uses one random word.
    pub fn does_not_answer(&self, reward: f64, stream: &mut Stream) -> bool {
        let drawn = stream.uniform();
        match self {
            Self::Independent(share) => drawn < share.get(),
            Self::WhenBelow { reward: threshold, share } => reward < threshold.get() && drawn < share.get(),
        }
    }

    /// The probability that a user with this reward does not answer.
    #[must_use]
    pub fn chance(&self, reward: f64) -> f64 {
        match self {
            Self::Independent(share) => share.get(),
            Self::WhenBelow { reward: threshold, share } if reward < threshold.get() => share.get(),
            Self::WhenBelow { .. } => 0.0,
        }
    }

    /// Whether silence depends on the reward, and so reveals something about it.
    #[must_use]
    pub fn depends_on_reward(&self) -> bool {
        matches!(self, Self::WhenBelow { share, .. } if share.get() > 0.0)
    }
}
