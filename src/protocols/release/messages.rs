//! The messages between owner, workers and readers, with the protocol's timers and facts.

use crate::kernel::{Digest, Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::stage::message_macros::{each, if_any, nothing, or_max, vocabulary};
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{self, ProtocolFact, Rounds};

/// The messages, timers and facts of private release.
#[derive(Clone, Copy, Debug)]
pub struct ReleaseProtocol;

vocabulary! {
    /// The messages.
    pub enum Message {
        /// From the owner to one of its workers: train a model with this setting.
        Train {
            /// Number of the trial, from 0.
            trial: u64,
            /// Index of the setting.
            setting: u64,
        } = 0,
        /// From the worker: the model is in the owner's storage. The worker knows no validation record.
        Trained {
            /// Number of the trial, from 0.
            trial: u64,
        } = 1,
        /// From the owner to a reader: everything that is published.
        Publish {
            /// All settings that were announced before. To send them again costs no privacy.
            told: Vec<Released<usize>> => each,
            /// Index of the setting, if one is published.
            setting: Option<Released<usize>> => or_max,
            /// Its performance, if that is published: one number.
            value: Option<Released<Vec<f64>>> => or_empty,
        } = 2,
        /// From the reader: the publication has arrived.
        Received = 3,
        /// From the owner to a reader: the setting that is tried next. The reader does not confirm this message; `Publish`
        /// repeats the setting.
        Announce {
            /// Number of the trial, at least 1. Settings that are chosen before any outcome is known, such as the setting
            /// of trial 0, are random, depend on no data and are not announced.
            trial: u64,
            /// Index of the setting.
            setting: Released<usize>,
        } = 4,
        /// From the owner to one of its workers: train a model at this point of a box.
        TrainAt {
            /// Number of the trial, from 0.
            trial: u64,
            /// The point, in the units of the inputs.
            point: Vec<f64>,
        } = 5,
        /// From the owner to a reader: everything that is published of a search of a box.
        PublishAt {
            /// The published point, in the units of the inputs, if one is published.
            point: Option<Released<Vec<f64>>> => or_empty,
            /// Its performance, if that is published: one number.
            value: Option<Released<Vec<f64>>> => or_empty,
        } = 6,
    }
}

vocabulary! {
    /// Timers of the owner.
    pub enum Timer {
        /// This trial's worker has not answered in time.
        Trial(trial: u64) = 0,
        /// This reader (by its place in the scenario's list) has not answered in time.
        Reader(place: usize) = 1,
    }
}

vocabulary! {
    /// The facts of this protocol only.
    pub enum OwnFact {
        /// A setting's performance on the validation set was measured.
        Tried {
            /// Number of the trial, from 0.
            trial: u64,
            /// Index of the setting.
            setting: u64,
            /// Outcome, noise included.
            outcome: f64,
            /// Whether the outcome is missing because of `silence`, so that the owner never learns the outcome.
            missing: bool => where_missing,
        } = 1,
        /// A trial was given to another worker, or to the same one again, since no answer came in time.
        Reassigned {
            /// Number of the trial, from 0.
            trial: u64,
        } = 2,
        /// The publication.
        Published {
            /// Index of the setting, if one is published.
            setting: Option<u64> => or_max,
            /// Its performance, if that is published.
            value: Option<f64> => if_any,
        } = 3,
        /// The setting that a reader uses: the published one, or a random one if none was published.
        Chosen {
            /// Index of the setting.
            setting: u64,
        } = 4,
        /// The performance at a point of a box was measured; the point has the number of its trial.
        TriedAt {
            /// Number of the trial, from 0.
            trial: u64,
            /// The point, in the units of the inputs.
            point: Vec<f64>,
            /// The performance without noise. Not in the digest: it follows from the point.
            value: f64 => nothing,
            /// Outcome, noise included.
            outcome: f64,
            /// Whether the outcome is missing, as in `Tried`.
            missing: bool => where_missing,
        } = 6,
        /// The point of a box that a reader uses: the published one, or a random one if none was published.
        ChosenAt {
            /// The point, in the units of the inputs.
            point: Vec<f64>,
        } = 7,
    }
}

/// The facts that are recorded.
pub type Fact = stage::Fact<OwnFact>;

impl ProtocolFact for OwnFact {
    const ENDED: u64 = 5;
    // The next two constants do not have their defaults, `ENDED` + 1 and `ENDED` + 2: `TriedAt` and `ChosenAt` have these
    // numbers.
    const BUDGET_REACHED: u64 = 8;
    const JITTERED: u64 = 9;
    const NUMBERS: &'static [u64] = Self::NUMBERS;

    fn closes(&self) -> Option<u64> {
        match self {
            Self::Tried { trial, .. } | Self::TriedAt { trial, .. } => Some(trial + 1),
            Self::Reassigned { .. }
            | Self::Published { .. }
            | Self::Chosen { .. }
            | Self::ChosenAt { .. } => None,
        }
    }
}

impl Protocol for ReleaseProtocol {
    type Message = Message;
    type Timer = Timer;
    type Fact = Fact;
}

impl Rounds for ReleaseProtocol {
    /// The round is the trial's number plus 1; publications and their confirmations belong to no round.
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::Train { trial, .. }
            | Message::TrainAt { trial, .. }
            | Message::Trained { trial }
            | Message::Announce { trial, .. } => Some(trial + 1),
            Message::Publish { .. } | Message::PublishAt { .. } | Message::Received => None,
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        fact.closes()
    }
}

/// Adds a word to the digest for an outcome that is missing, and nothing for an outcome that is known.
fn where_missing(missing: &bool, digest: &mut Digest) {
    if *missing {
        digest.word(1);
    }
}

/// Adds the numbers and their count to the digest, or a count of 0 if there are none; a released value is never empty.
fn or_empty(values: &Option<Released<Vec<f64>>>, digest: &mut Digest) {
    digest.floats(values.as_ref().map_or(&[][..], |values| values.get()));
}

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::Train { .. } => 16,
            Self::TrainAt { point, .. } => 8 + 8 * point.len() as u64,
            Self::PublishAt { point, value } => {
                let length =
                    |of: &Option<Released<Vec<f64>>>| of.as_ref().map_or(0, |v| v.get().len() as u64);
                8 * (length(point) + length(value))
            }
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
        self.label()
    }
}
