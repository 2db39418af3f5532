//! What agents and server say to each other.

use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::stage::bookkeeping::digest_release;
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{Bookkeeping, BudgetReached, Rounds};
use crate::vocab::PrivacyEvent;
use std::sync::Arc;

/// The closed vocabulary of the protocol.
#[derive(Clone, Debug)]
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
    /// From an agent to a server that is not trusted: its part of the sums under masks.
    Masked {
        /// The round, 0 after the initial points.
        round: u64,
        /// Words, all regions one after the other. Without the others' they are as good as random.
        words: Arc<Vec<u64>>,
    },
    /// From a server that is not trusted: send a key.
    Invite,
    /// From an agent: its public key.
    Key,
    /// From a server that is not trusted: the public keys that are there.
    Keys {
        /// Whose key it has.
        known: Arc<Vec<bool>>,
    },
    /// From an agent: for every round a public key, and a share of both of its secrets for everybody whose key is known.
    Dealt {
        /// Holders of shares.
        holders: u64,
        /// Rounds.
        rounds: u64,
    },
    /// From a server that is not trusted: what the members have dealt to this one.
    Entrusted {
        /// Who has dealt: nobody else takes part in sums.
        members: Arc<Vec<bool>>,
        /// Whether it is `Begin` too.
        begins: bool,
        /// Rounds.
        rounds: u64,
    },
    /// From a server that is not trusted: whose answers are in.
    Unmask {
        /// The round.
        round: u64,
        /// By agent.
        answered: Arc<Vec<bool>>,
    },
    /// From an agent: a share of one secret of each agent.
    Shares {
        /// The round.
        round: u64,
        /// By agent: of the own seed of who answered, of the pair secret of who did not.
        shares: Arc<Vec<u64>>,
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
    /// An agent fitted the hyperparameters of its own model.
    Fitted {
        /// The agent, from 0.
        agent: u64,
        /// In units of the points.
        length_scale: f64,
        /// Of the function.
        variance: f64,
        /// Of the noise.
        noise_variance: f64,
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
    /// Masks are agreed on.
    SetUp {
        /// Agents that can take part in sums under masks.
        members: u64,
    },
    /// The server opened sums under masks.
    Unmasked {
        /// The round.
        round: u64,
        /// Agents whose parts are in the sums.
        survivors: u64,
    },
    /// Too few answers or shares for sums under masks to be opened.
    GivenUp {
        /// The round.
        round: u64,
    },
    /// The server can open the sums of a round that was given up: shares came late, or agents that pool with it have them.
    OpenedLate {
        /// The round.
        round: u64,
        /// Agents whose parts are in the sums.
        survivors: u64,
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

impl Rounds for World {
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::Begin => Some(0),
            Message::Invite
            | Message::Key
            | Message::Keys { .. }
            | Message::Dealt { .. }
            | Message::Entrusted { .. } => None,
            Message::Share { round, .. }
            | Message::Weights { round, .. }
            | Message::Masked { round, .. }
            | Message::Unmask { round, .. }
            | Message::Shares { round, .. }
            | Message::Done { round } => Some(*round),
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        match fact {
            Fact::Closed { round, .. } => Some(*round),
            Fact::Released(_)
            | Fact::Measured { .. }
            | Fact::Fitted { .. }
            | Fact::SetUp { .. }
            | Fact::Unmasked { .. }
            | Fact::GivenUp { .. }
            | Fact::OpenedLate { .. }
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

fn count(of: &[bool]) -> u64 {
    of.iter().filter(|is| **is).count() as u64
}

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::Begin | Self::Invite => 0,
            Self::Key => 8,
            // 8 bytes a key, 16 for the encrypted shares of two secrets.
            Self::Keys { known } => 8 * count(known),
            Self::Dealt { holders, rounds } => rounds * (8 + 16 * holders),
            Self::Entrusted { members, rounds, .. } => rounds * (8 + 16) * count(members),
            Self::Share { vectors, .. } => {
                let numbers =
                    vectors.as_ref().map_or(0, |v| v.get().iter().map(|vector| vector.len() as u64).sum());
                8 + 8 * numbers
            }
            Self::Weights { omega, .. } => 8 + 8 * omega.get().len() as u64,
            Self::Done { .. } => 8,
            Self::Masked { words, .. } => 8 + 8 * words.len() as u64,
            Self::Unmask { answered, .. } => 8 + (answered.len() as u64).div_ceil(8),
            Self::Shares { shares, .. } => 8 + 8 * shares.len() as u64,
        };
        HEADER_BYTES + payload
    }

    fn work(&self) -> f64 {
        // Agents work on what they are asked to do; the server only files what it gets.
        match self {
            Self::Begin | Self::Share { .. } | Self::Entrusted { begins: true, .. } => 1.0,
            Self::Weights { .. }
            | Self::Done { .. }
            | Self::Masked { .. }
            | Self::Invite
            | Self::Key
            | Self::Keys { .. }
            | Self::Dealt { .. }
            | Self::Entrusted { .. }
            | Self::Unmask { .. }
            | Self::Shares { .. } => 0.0,
        }
    }

    fn label(&self) -> &'static str {
        match self {
            Self::Begin => "Begin",
            Self::Share { .. } => "Share",
            Self::Weights { .. } => "Weights",
            Self::Done { .. } => "Done",
            Self::Masked { .. } => "Masked",
            Self::Invite => "Invite",
            Self::Key => "Key",
            Self::Keys { .. } => "Keys",
            Self::Dealt { .. } => "Dealt",
            Self::Entrusted { .. } => "Entrusted",
            Self::Unmask { .. } => "Unmask",
            Self::Shares { .. } => "Shares",
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
            Self::Masked { round, words, .. } => {
                digest.word(4);
                digest.word(*round);
                words.iter().for_each(|word| digest.word(*word));
            }
            Self::Unmask { round, answered } => {
                digest.word(5);
                digest.word(*round);
                answered.iter().for_each(|answered| digest.word(u64::from(*answered)));
            }
            Self::Shares { round, shares } => {
                digest.word(6);
                digest.word(*round);
                shares.iter().for_each(|share| digest.word(*share));
            }
            Self::Invite => digest.word(7),
            Self::Key => digest.word(8),
            Self::Keys { known } => {
                digest.word(9);
                known.iter().for_each(|known| digest.word(u64::from(*known)));
            }
            Self::Dealt { holders, rounds } => {
                digest.word(10);
                digest.word(*holders);
                digest.word(*rounds);
            }
            Self::Entrusted { members, rounds, begins } => {
                digest.word(11);
                digest.word(*rounds);
                digest.word(u64::from(*begins));
                members.iter().for_each(|member| digest.word(u64::from(*member)));
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
            Self::Unmasked { round, survivors } => {
                digest.word(7);
                digest.word(*round);
                digest.word(*survivors);
            }
            Self::Fitted { agent, length_scale, variance, noise_variance } => {
                digest.word(8);
                digest.word(*agent);
                digest.floats(&[*length_scale, *variance, *noise_variance]);
            }
            Self::SetUp { members } => {
                digest.word(9);
                digest.word(*members);
            }
            Self::GivenUp { round } => {
                digest.word(6);
                digest.word(*round);
            }
            Self::OpenedLate { round, survivors } => {
                digest.word(10);
                digest.word(*round);
                digest.word(*survivors);
            }
            Self::BudgetReached(BudgetReached { reason, .. }) => {
                digest.word(4);
                digest.text(reason);
            }
        }
    }
}
