//! What owner, workers and readers say to each other.

use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::stage::bookkeeping::digest_release;
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{Bookkeeping, BudgetReached, Rounds};
use crate::vocab::PrivacyEvent;

/// The closed vocabulary of private release.
#[derive(Clone, Copy, Debug)]
pub struct World;

/// What is said.
#[derive(Clone, Debug)]
pub enum Message {
    /// From the owner to a worker of its own: train a model with this setting.
    Train {
        /// Number of the trial, from 0.
        trial: u64,
        /// Index of the setting.
        setting: u64,
    },
    /// From the worker: the model is in the owner's store. The worker knows no validation record.
    Trained {
        /// Number of the trial, from 0.
        trial: u64,
    },
    /// From the owner to a reader: the setting that is tried next. Not confirmed; what is lost comes with `Publish`.
    Announce {
        /// Number of the trial, from 1; the first setting is random and depends on nothing.
        trial: u64,
        /// Index of the setting.
        setting: Released<usize>,
    },
    /// From the owner to a reader: all that anybody gets to know.
    Publish {
        /// Every setting told before, once more; it costs nothing to say again.
        told: Vec<Released<usize>>,
        /// Index of the setting, if one is published.
        setting: Option<Released<usize>>,
        /// Its performance, if that is published: one number.
        value: Option<Released<Vec<f64>>>,
    },
    /// From the reader: the publication has arrived.
    Received,
}

/// Timers of the owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// This trial's worker has been silent for too long.
    Trial(u64),
    /// This reader (by its place in the scenario's list) has been silent for too long.
    Reader(usize),
}

/// What is recorded.
#[derive(Clone, Debug)]
pub enum Fact {
    /// Something that depends on protected data was released.
    Released(Box<PrivacyEvent>),
    /// A setting's performance on the validation set was measured.
    Tried {
        /// Number of the trial, from 0.
        trial: u64,
        /// Index of the setting.
        setting: u64,
        /// Outcome, noise included.
        outcome: f64,
    },
    /// A trial went to another worker, or to the same once more, since no answer came in time.
    Reassigned {
        /// Number of the trial, from 0.
        trial: u64,
    },
    /// What went out.
    Published {
        /// Index of the setting, if one is published.
        setting: Option<u64>,
        /// Its performance, if that is published.
        value: Option<f64>,
    },
    /// The setting that a reader goes by: the published one, or a random one if none was.
    Chosen {
        /// Index of the setting.
        setting: u64,
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
    /// Trials count from 1.
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::Train { trial, .. } | Message::Trained { trial } | Message::Announce { trial, .. } => {
                Some(trial + 1)
            }
            Message::Publish { .. } | Message::Received => None,
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        match fact {
            Fact::Tried { trial, .. } => Some(trial + 1),
            Fact::Released(_)
            | Fact::Reassigned { .. }
            | Fact::Published { .. }
            | Fact::Chosen { .. }
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
            Self::Train { .. } => 16,
            Self::Trained { .. } => 8,
            Self::Announce { .. } => 16,
            Self::Publish { told, setting, value } => {
                8 * (told.len() as u64
                    + u64::from(setting.is_some())
                    + value.as_ref().map_or(0, |v| v.get().len() as u64))
            }
            Self::Received => 0,
        };
        HEADER_BYTES + payload
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Train { .. } => "Train",
            Self::Trained { .. } => "Trained",
            Self::Announce { .. } => "Announce",
            Self::Publish { .. } => "Publish",
            Self::Received => "Received",
        }
    }
}

impl Digestible for Timer {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Trial(trial) => {
                digest.word(0);
                digest.word(*trial);
            }
            Self::Reader(place) => {
                digest.word(1);
                digest.word(*place as u64);
            }
        }
    }
}

impl Digestible for Message {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Train { trial, setting } => {
                digest.word(0);
                digest.word(*trial);
                digest.word(*setting);
            }
            Self::Trained { trial } => {
                digest.word(1);
                digest.word(*trial);
            }
            Self::Announce { trial, setting } => {
                digest.word(4);
                digest.word(*trial);
                digest.word(*setting.get() as u64);
            }
            Self::Publish { told, setting, value } => {
                digest.word(2);
                told.iter().for_each(|setting| digest.word(*setting.get() as u64));
                digest.word(setting.as_ref().map_or(u64::MAX, |setting| *setting.get() as u64));
                digest.floats(value.as_ref().map_or(&[][..], |value| value.get()));
            }
            Self::Received => digest.word(3),
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
            Self::Tried { trial, setting, outcome } => {
                digest.word(1);
                digest.word(*trial);
                digest.word(*setting);
                digest.float(*outcome);
            }
            Self::Reassigned { trial } => {
                digest.word(2);
                digest.word(*trial);
            }
            Self::Published { setting, value } => {
                digest.word(3);
                digest.word(setting.unwrap_or(u64::MAX));
                if let Some(value) = value {
                    digest.float(*value);
                }
            }
            Self::Chosen { setting } => {
                digest.word(4);
                digest.word(*setting);
            }
            Self::Jittered(jitter) => {
                digest.word(7);
                digest.float(*jitter);
            }
            Self::BudgetReached(BudgetReached { reason, .. }) => {
                digest.word(6);
                digest.text(reason);
            }
            Self::Ended { reason } => {
                digest.word(5);
                digest.text(reason);
            }
        }
    }
}
