//! What agents and server say to each other.

use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::stage::vocabulary::{each, vocabulary};
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{self, ProtocolFact, Rounds};
use std::sync::Arc;

/// The messages, timers and facts of the protocol.
#[derive(Clone, Debug)]
pub enum World {}

vocabulary! {
    /// A message.
    pub enum Message {
        /// From the server: measure your initial points.
        Begin = 0,
        /// From the server: the round's vectors, one per region; none where nothing is shared.
        Share {
            /// The round, from 1.
            round: u64,
            /// One vector of weights per region.
            vectors: Option<Arc<Released<Vec<Vec<f64>>>>> => each_vector,
        } = 1,
        /// From an agent: a draw of its weights after a round.
        Weights {
            /// The round, 0 after the initial points.
            round: u64,
            /// The draw, without protection: the server is trusted with it.
            omega: Released<Arc<Vec<f64>>>,
        } = 2,
        /// From an agent that shares nothing: the round is done.
        Done {
            /// The round.
            round: u64,
        } = 3,
        /// From an agent to a server that is not trusted: its masked part of the sums.
        Masked {
            /// The round, 0 after the initial points.
            round: u64,
            /// Words, all regions one after the other. Without the other agents' words they look random.
            words: Arc<Vec<u64>> => each,
        } = 4,
        /// From a server that is not trusted: which agents have answered.
        Unmask {
            /// The round.
            round: u64,
            /// By agent.
            answered: Arc<Vec<bool>> => each,
        } = 5,
        /// From an agent: a share of one secret of each agent.
        Shares {
            /// The round.
            round: u64,
            /// By agent: a share of its own seed if it answered, of its pair secret if it did not.
            shares: Arc<Vec<u64>> => each,
        } = 6,
        /// From a server that is not trusted: send a key.
        Invite = 7,
        /// From an agent: its public key.
        Key = 8,
        /// From a server that is not trusted: the public keys that it has received.
        Keys {
            /// Whose key it has.
            known: Arc<Vec<bool>> => each,
        } = 9,
        /// From an agent: for every round a public key, and a share of both of its secrets for everybody whose key it
        /// knows.
        Dealt {
            /// Holders of shares.
            holders: u64,
            /// Rounds.
            rounds: u64,
        } = 10,
        /// From a server that is not trusted: the shares that the members have dealt to this agent.
        Entrusted {
            /// Rounds.
            rounds: u64,
            /// Whether the message also stands for `Begin`.
            begins: bool,
            /// Who has dealt: nobody else takes part in sums.
            members: Arc<Vec<bool>> => each,
        } = 11,
    }
}

/// The server's reminder to close a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The round.
    pub round: u64,
}

/// Vectors that are clipped in a round: C of Theorem 1 of Dai, Low and Jaillet 2021.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clipped {
    /// How many, of those that arrived.
    pub vectors: u64,
    /// The sum of their agents' weights over all regions.
    pub weight: f64,
}

impl Digestible for Close {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.round);
    }
}

vocabulary! {
    /// The facts of this protocol only.
    pub enum OwnFact {
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
            /// Whether shared vectors chose the arm: told by what the agent had received.
            shared: bool => nothing,
        } = 1,
        /// The server closed a round.
        Closed {
            /// The round.
            round: u64,
            /// Agents whose answer to this round was received.
            fresh: u64,
            /// Answers to earlier rounds that came since the last one closed.
            late: u64,
            /// Vectors of this round that are longer than the norm they are clipped to; none without such a norm.
            clipped: Option<Clipped> => nothing,
        } = 2,
        /// Too few answers or shares to remove the masks from the sums.
        GivenUp {
            /// The round.
            round: u64,
        } = 6,
        /// The server removed the masks from the sums.
        Unmasked {
            /// The round.
            round: u64,
            /// Agents whose parts are in the sums.
            survivors: u64,
        } = 7,
        /// An agent fitted the hyperparameters of its own model.
        Fitted {
            /// The agent, from 0.
            agent: u64,
            /// Length-scale, in units of the points.
            length_scale: f64 => first_of_three,
            /// Variance of the function.
            variance: f64,
            /// Variance of the noise.
            noise_variance: f64,
        } = 8,
        /// The agreement on masks is finished.
        SetUp {
            /// Agents that can take part in masked sums.
            members: u64,
        } = 9,
        /// The server can compute the sums of a round that was given up: shares came late, or colluding agents hold
        /// them.
        OpenedLate {
            /// The round.
            round: u64,
            /// Agents whose parts are in the sums.
            survivors: u64,
        } = 10,
    }
}

/// What is recorded.
pub type Fact = stage::Fact<OwnFact>;

impl ProtocolFact for OwnFact {
    const ENDED: u64 = 3;

    fn closes(&self) -> Option<u64> {
        match self {
            Self::Closed { round, .. } => Some(*round),
            Self::Measured { .. }
            | Self::GivenUp { .. }
            | Self::Unmasked { .. }
            | Self::Fitted { .. }
            | Self::SetUp { .. }
            | Self::OpenedLate { .. } => None,
        }
    }
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
        fact.closes()
    }
}

/// Each vector with its length, if there are any.
fn each_vector(vectors: &Option<Arc<Released<Vec<Vec<f64>>>>>, digest: &mut Digest) {
    vectors.iter().for_each(|vectors| vectors.get().iter().for_each(|vector| digest.floats(vector)));
}

/// The first of three numbers that go in as a row, whose length comes first.
fn first_of_three(value: &f64, digest: &mut Digest) {
    digest.word(3);
    digest.float(*value);
}

/// What follows from the rest of the journal adds nothing to its digest.
fn nothing<T>(_: &T, _: &mut Digest) {}

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
        // Agents work on what they are asked to do; the server only stores what it receives.
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
        self.label()
    }
}
