//! What agents and server say to each other.

use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::{Bookkeeping, BudgetReached};
use crate::vocab::PrivacyEvent;
use std::sync::Arc;

/// The closed vocabulary of the protocol.
#[derive(Debug)]
pub enum World {}

/// A message.
#[derive(Clone, Debug)]
pub enum Message {
    /// From the server: measure your initial points.
    Begin,
    /// From the server: the round's vectors, one per region; none where nothing is shared.
    Share {
        /// The round, from 1.
        round: u64,
        /// One vector of weights per region.
        vectors: Option<Arc<Released<Vec<Vec<f64>>>>>,
    },
    /// From an agent: a draw of its weights after a round.
    Weights {
        /// The round, 0 after the initial points.
        round: u64,
        /// The draw, as it is: the server is trusted with it.
        omega: Released<Arc<Vec<f64>>>,
    },
    /// From an agent that shares nothing: the round is done.
    Done {
        /// The round.
        round: u64,
    },
}

/// The server's reminder to close a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The round.
    pub round: u64,
}

impl Digestible for Close {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.round);
    }
}

/// What is recorded.
#[derive(Clone, Debug)]
pub enum Fact {
    /// Something that depends on protected data was released.
    Released(Box<PrivacyEvent>),
    /// An agent measured its objective.
    Measured {
        /// The agent, from 0.
        agent: u64,
        /// The round; 0 for initial points.
        round: u64,
        /// The arm.
        arm: u64,
        /// The outcome, noise included.
        outcome: f64,
    },
    /// The server closed a round.
    Closed {
        /// The round.
        round: u64,
        /// Agents whose answer to this round was there.
        fresh: u64,
        /// Answers to earlier rounds that came since the last one closed.
        late: u64,
    },
    /// The privacy budget was reached.
    BudgetReached(BudgetReached),
    /// A model added more than before to the diagonal of a covariance matrix, as a variance.
    Jittered(f64),
    /// The run ended before its last round.
    Ended {
        /// Why.
        reason: String,
    },
}

impl Protocol for World {
    type Message = Message;
    type Timer = Close;
    type Fact = Fact;
}

impl Bookkeeping for World {
    fn released(event: PrivacyEvent) -> Fact {
        Fact::Released(Box::new(event))
    }

    fn budget_reached(reached: BudgetReached) -> Fact {
        Fact::BudgetReached(reached)
    }

    fn ended(reason: String) -> Fact {
        Fact::Ended { reason }
    }
}

/// Headers of one message: 40 bytes of IPv4 and TCP.
const HEADER_BYTES: u64 = 40;

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::Begin => 0,
            Self::Share { vectors, .. } => {
                let numbers =
                    vectors.as_ref().map_or(0, |v| v.get().iter().map(|vector| vector.len() as u64).sum());
                8 + 8 * numbers
            }
            Self::Weights { omega, .. } => 8 + 8 * omega.get().len() as u64,
            Self::Done { .. } => 8,
        };
        HEADER_BYTES + payload
    }

    fn work(&self) -> f64 {
        // Agents work on what they are asked to do; the server only files what it gets.
        match self {
            Self::Begin | Self::Share { .. } => 1.0,
            Self::Weights { .. } | Self::Done { .. } => 0.0,
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Begin => "Begin",
            Self::Share { .. } => "Share",
            Self::Weights { .. } => "Weights",
            Self::Done { .. } => "Done",
        }
    }
}

impl Digestible for Message {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Begin => digest.word(0),
            Self::Share { round, vectors } => {
                digest.word(1);
                digest.word(*round);
                if let Some(vectors) = vectors {
                    vectors.get().iter().for_each(|vector| digest.floats(vector));
                }
            }
            Self::Weights { round, omega } => {
                digest.word(2);
                digest.word(*round);
                digest.floats(omega.get());
            }
            Self::Done { round } => {
                digest.word(3);
                digest.word(*round);
            }
        }
    }
}

impl Digestible for Fact {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::Released(event) => {
                digest.word(0);
                digest.text(&event.released);
                digest.text(&event.mechanism);
                digest.word(event.round);
            }
            Self::Measured { agent, round, arm, outcome } => {
                digest.word(1);
                digest.word(*agent);
                digest.word(*round);
                digest.word(*arm);
                digest.float(*outcome);
            }
            Self::Closed { round, fresh, late } => {
                digest.word(2);
                digest.word(*round);
                digest.word(*fresh);
                digest.word(*late);
            }
            Self::Ended { reason } => {
                digest.word(3);
                digest.text(reason);
            }
            Self::Jittered(jitter) => {
                digest.word(5);
                digest.float(*jitter);
            }
            Self::BudgetReached(BudgetReached { reason, .. }) => {
                digest.word(4);
                digest.text(reason);
            }
        }
    }
}
