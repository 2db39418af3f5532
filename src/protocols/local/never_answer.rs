//! Which users never answer.

use crate::privacy::mechanisms::{Informative, Mechanism};
use crate::rng::Stream;
use crate::vocab::{Finite, Probability, Problem};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which users never answer, although they tried their arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub enum NeverAnswer {
    /// Each user is silent with this probability, independently of its reward.
    ///
    /// Example: `Independent(0.15)`.
    Independent(Probability),
    /// A user whose reward is below the threshold `reward` is silent with probability `share`; all other users answer. The
    /// reports are then a biased sample. Whether a user answers depends on its reward, so the ledger lists the answer or
    /// silence of each user as an unprotected release.
    ///
    /// Example: `WhenBelow(reward: 0, share: 0.5)`.
    WhenBelow {
        /// The threshold, in units of the reward.
        reward: Finite,
        /// The probability that a user with a reward below the threshold does not answer.
        share: Probability,
    },
    /// Each user is silent with a probability that is logistic in the user's reward or regret. Here the regret is the
    /// largest mean reward of any arm minus the user's reward. The reports are a biased sample. Whether a user answers is a
    /// release about its reward, with a finite epsilon if the probability has bounds (`least`, `most`).
    ///
    /// Example: `Informative(by: Value, slope: -1, base_rate: 0.3, least: 0.1, most: 0.6)`.
    Informative(Informative),
}

impl Default for NeverAnswer {
    fn default() -> Self {
        Self::Independent(Probability::new(0.0).expect("0 is a probability"))
    }
}

impl NeverAnswer {
    /// Whether a user with this reward does not answer, where `best` is the largest mean reward of any arm. Uses one random
    /// word, rarely more.
    pub fn does_not_answer(&self, reward: f64, best: f64, stream: &mut Stream) -> bool {
        let chance = self.chance(reward, best);
        match self {
            Self::Independent(_) | Self::WhenBelow { .. } => stream.uniform() < chance,
            Self::Informative(silence) => {
                // The draw never fails; if it did, the user would answer.
                silence.privatise(&silence.of(reward, best), stream).unwrap_or(false)
            }
        }
    }

    /// The probability that a user with this reward does not answer.
    #[must_use]
    pub fn chance(&self, reward: f64, best: f64) -> f64 {
        match self {
            Self::Independent(share) => share.get(),
            Self::WhenBelow { reward: threshold, share } if reward < threshold.get() => share.get(),
            Self::WhenBelow { .. } => 0.0,
            Self::Informative(silence) => silence.chance(silence.of(reward, best)),
        }
    }

    /// Whether silence depends on the reward, and so reveals something about it.
    #[must_use]
    pub fn depends_on_reward(&self) -> bool {
        match self {
            Self::Independent(_) => false,
            Self::WhenBelow { share, .. } => share.get() > 0.0,
            Self::Informative(silence) => silence.depends(),
        }
    }

    /// The mechanism by which silence reveals something about the reward; `None` if the probability is not logistic.
    #[must_use]
    pub fn informative(&self) -> Option<&Informative> {
        match self {
            Self::Informative(silence) => Some(silence),
            Self::Independent(_) | Self::WhenBelow { .. } => None,
        }
    }

    /// What is wrong with the recipe.
    #[must_use]
    pub fn problems(&self) -> Vec<Problem> {
        let problems = self.informative().map_or_else(Vec::new, Informative::problems);
        problems.into_iter().map(|problem| problem.below("Informative")).collect()
    }
}
