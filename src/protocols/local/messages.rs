//! What the service and the users say to each other.

use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::stage::bookkeeping::digest_release;
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{Bookkeeping, BudgetReached, Rounds};
use crate::vocab::PrivacyEvent;

/// The closed vocabulary of local differential privacy.
#[derive(Clone, Copy, Debug)]
pub struct World;

/// What is said.
#[derive(Clone, Debug)]
pub enum Message {
    /// From a user: I am here.
    Arrived {
        /// Number of the user's visit, from 0.
        user: u64,
    },
    /// From the service: play this arm.
    Play {
        /// Whose turn it is.
        user: u64,
        /// The arm.
        arm: u64,
    },
    /// From a user: what I got, made private.
    Report {
        /// Who reports.
        user: u64,
        /// The arm that was played.
        arm: u64,
        /// The reward as released.
        reward: Released<f64>,
    },
}

/// What a party reminds itself of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// The next user comes.
    Arrival,
    /// A user has made up its mind to report.
    Answer {
        /// The user.
        user: u64,
    },
    /// The service has waited long enough for a user.
    Patience {
        /// The user.
        user: u64,
    },
}

/// What is recorded.
#[derive(Clone, Debug)]
pub enum Fact {
    /// Something that depends on protected data was released.
    Released(Box<PrivacyEvent>),
    /// A user played an arm.
    Played {
        /// The user.
        user: u64,
        /// The arm.
        arm: u64,
        /// The reward, before clipping and noise.
        reward: f64,
        /// Whether the reward lies outside of the bound.
        exceeds: bool,
    },
    /// A user will never report.
    Silent {
        /// The user.
        user: u64,
    },
    /// A report reached the service for the first time.
    Learned {
        /// The user.
        user: u64,
    },
    /// The privacy budget was reached.
    BudgetReached(BudgetReached),
    /// A model added more than before to the diagonal of a covariance matrix, as a variance.
    Jittered(f64),
    /// A party could not go on; the series ends here.
    Ended {
        /// Why.
        reason: String,
    },
}

impl Protocol for World {
    type Message = Message;
    type Timer = Timer;
    type Fact = Fact;
}

impl Rounds for World {
    /// Users count from 1.
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::Arrived { user } | Message::Play { user, .. } | Message::Report { user, .. } => {
                Some(user + 1)
            }
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        match fact {
            Fact::Learned { user } => Some(user + 1),
            Fact::Released(_)
            | Fact::Played { .. }
            | Fact::Silent { .. }
            | Fact::BudgetReached(_)
            | Fact::Jittered(_)
            | Fact::Ended { .. } => None,
        }
    }
}

impl Bookkeeping for World {
    fn released(event: PrivacyEvent) -> Fact {
        Fact::Released(Box::new(event))
    }

    fn budget_reached(reached: BudgetReached) -> Fact {
        Fact::BudgetReached(reached)
    }

    fn jittered(variance: f64) -> Fact {
        Fact::Jittered(variance)
    }

    fn ended(reason: String) -> Fact {
        Fact::Ended { reason }
    }
}

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::Arrived { .. } => 8,
            Self::Play { .. } => 16,
            Self::Report { .. } => 24,
        };
        HEADER_BYTES + payload
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Arrived { .. } => "Arrived",
            Self::Play { .. } => "Play",
            Self::Report { .. } => "Report",
        }
    }
}

impl Digestible for Message {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Arrived { user } => {
                digest.word(0);
                digest.word(*user);
            }
            Self::Play { user, arm } => {
                digest.word(1);
                digest.word(*user);
                digest.word(*arm);
            }
            Self::Report { user, arm, reward } => {
                digest.word(2);
                digest.word(*user);
                digest.word(*arm);
                digest.float(*reward.get());
            }
        }
    }
}

impl Digestible for Timer {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Arrival => digest.word(0),
            Self::Answer { user } => {
                digest.word(1);
                digest.word(*user);
            }
            Self::Patience { user } => {
                digest.word(2);
                digest.word(*user);
            }
        }
    }
}

impl Digestible for Fact {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Released(event) => {
                digest.word(0);
                digest_release(event, digest);
            }
            Self::Played { user, arm, reward, exceeds } => {
                digest.word(1);
                digest.word(*user);
                digest.word(*arm);
                digest.float(*reward);
                digest.word(u64::from(*exceeds));
            }
            Self::Silent { user } => {
                digest.word(2);
                digest.word(*user);
            }
            Self::Learned { user } => {
                digest.word(3);
                digest.word(*user);
            }
            Self::Jittered(jitter) => {
                digest.word(6);
                digest.float(*jitter);
            }
            Self::BudgetReached(BudgetReached { reason, .. }) => {
                digest.word(5);
                digest.text(reason);
            }
            Self::Ended { reason } => {
                digest.word(4);
                digest.text(reason);
            }
        }
    }
}
