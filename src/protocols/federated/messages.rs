//! The messages between agents and server, and the facts that agents and server record.

use super::participation::Respondents;
use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::stage::message_macros::{each, if_any, nothing, vocabulary};
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{self, ProtocolFact, Rounds};
use std::sync::Arc;

/// The messages, timers and facts of the protocol.
#[derive(Clone, Debug)]
pub enum FederatedProtocol {}

vocabulary! {
    /// A message.
    pub enum Message {
        /// From the server: measure your initial points.
        Begin = 0,
        /// From the server: measure with the help of the round's vectors and, if this round still shares vectors, send
        /// your vector.
        Share {
            /// The round, from 1.
            round: u64,
            /// One vector of weights per region; with an adaptive clipping norm also a vector of length 1, whose number
            /// is the noisy count of vectors within the norm. With `RandomAgent`, the vector of one other agent. `None` if
            /// nothing was shared or no sum was computed.
            vectors: Option<Arc<Released<Vec<Vec<f64>>>>> => each_vector,
        } = 1,
        /// From an agent: a draw of its weights after a round.
        Weights {
            /// The round, 0 after the initial points.
            round: u64,
            /// The draw, without protection: the server is trusted with it.
            omega: Released<Arc<Vec<f64>>>,
        } = 2,
        /// From an agent that sends no vector in this round: it has made its measurement of the
        /// round.
        Done {
            /// The round.
            round: u64,
        } = 3,
        /// From an agent to a server that is not trusted: the agent's masked part of the sums.
        Masked {
            /// The round, 0 after the initial points.
            round: u64,
            /// Words, all regions one after the other. Without enough shares of the agents' secrets they look random.
            words: Arc<Vec<u64>> => each,
        } = 4,
        /// From a server that is not trusted: which agents have answered, and the request to send shares.
        Unmask {
            /// The round.
            round: u64,
            /// By agent: whether its answer is in the sum.
            answered: Arc<Vec<bool>> => each,
        } = 5,
        /// From an agent: one share for each agent of whose secrets the sender holds shares.
        Shares {
            /// The round.
            round: u64,
            /// By agent or, where agents share masks with few neighbours, by neighbour of the sender. For an agent that
            /// answered, a share of the seed of that agent's own mask. For an agent that did not answer, a share of the
            /// secret of that agent's pair masks. 0 for an agent that has distributed no shares.
            shares: Arc<Vec<u64>> => each,
        } = 6,
        /// From a server that is not trusted: the request to send a public key.
        Invite = 7,
        /// From an agent: its public key.
        Key = 8,
        /// From a server that is not trusted: the public keys that it has received.
        Keys {
            /// By agent: whether the server has its key; where agents share masks with few neighbours, false for all agents
            /// that are not neighbours of the receiver.
            known: Arc<Vec<bool>> => each,
        } = 9,
        /// From an agent, in one message for all rounds: for each round, its public key, and shares of its two secrets.
        /// Every agent whose key the sender knows is to hold one share of each of the two secrets.
        Dealt {
            /// Number of agents that receive shares.
            holders: u64,
            /// Number of rounds for which there are keys and shares.
            rounds: u64,
        } = 10,
        /// From a server that is not trusted: the shares of the members' secrets that this agent is
        /// to hold.
        Entrusted {
            /// Number of rounds for which there are keys and shares.
            rounds: u64,
            /// Whether the agent is also to begin, as after `Begin`.
            begins: bool,
            /// By agent: whether it has distributed shares; where agents share masks with few neighbours, false for all
            /// agents that are not neighbours of the receiver. Only agents that have distributed shares take part in sums.
            members: Arc<Vec<bool>> => each,
        } = 11,
        /// From the server to an agent that it does not ask for a vector: measure, as after `Share` (or, in round 0, after
        /// `Begin`).
        Observe {
            /// The round.
            round: u64,
            /// As in `Share`; `None` in round 0.
            vectors: Option<Arc<Released<Vec<Vec<f64>>>>> => each_vector,
        } = 12,
        /// From an agent on whose loss the selection depends: the loss, and a draw of the agent's weights as in `Weights`.
        /// The draw is missing if the server did not ask this agent for a vector.
        Report {
            /// The round.
            round: u64,
            /// The draw of the agent's weights, without protection; `None` if there is no draw.
            omega: Option<Released<Arc<Vec<f64>>>> => if_any,
            /// The loss, without protection: the server is trusted with it. The agent computes it, as the selection requires
            /// (`Selection::report`), from the differences between its outcomes and what the round's vectors predict.
            loss: Released<f64>,
        } = 13,
        /// The same as `Unmask`, where agents share masks with few neighbours: which neighbours of the
        /// agent that receives the message have answered.
        UnmaskNear {
            /// The round.
            round: u64,
            /// By neighbour, in order: whether its answer is in the sum.
            answered: Arc<Vec<bool>> => each,
        } = 14,
    }
}

/// The server's timer: the longest duration of a round, or of a wait for keys or shares, has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Close {
    /// The round.
    pub round: u64,
}

/// How many of the vectors that the server received for a round are longer than the norm to which the vector for one region
/// is clipped, and the weight of their agents: the set C in Theorem 1 of Dai, Low and Jaillet 2021. The vectors are those
/// that arrived in time and, with the policy `Buffered`, late answers to earlier rounds, sampled or not.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clipped {
    /// Number of the longer vectors that arrived in time.
    pub vectors: u64,
    /// The sum of the weights of the agents of all longer vectors, late ones included, over all regions.
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
            /// Whether shared vectors chose the arm. Not in the digest: it follows from the messages received.
            shared: bool => nothing,
        } = 1,
        /// An agent measured its objective at a point of a box.
        MeasuredAt {
            /// The agent, from 0.
            agent: u64,
            /// The round; 0 for initial points.
            round: u64,
            /// The point, in the units of the inputs.
            point: Vec<f64>,
            /// The outcome, noise included.
            outcome: f64,
            /// Whether shared vectors chose the point. Not in the digest: it follows from the messages received.
            shared: bool => nothing,
        } = 12,
        /// The server closed a round.
        Closed {
            /// The round.
            round: u64,
            /// Number of agents that were asked and whose answer to this round arrived in time.
            fresh: u64,
            /// Answers to earlier rounds that arrived since the previous round was closed.
            late: u64,
            /// Number of agents that were asked in this round. Not in the digest: it follows from the messages sent.
            asked: u64 => nothing,
            /// The vectors that clipping shortens when the server sums ([`Clipped`]); `None` without a clipping norm,
            /// under masks, in a dry run, and in rounds that share no vectors.
            clipped: Option<Clipped> => nothing,
            /// By agent: whether the agent is heard in this round ([`Respondents`]). Not in the digest: it follows from the
            /// messages received.
            heard: Respondents => nothing,
        } = 2,
        /// A round was given up: there were too few answers or shares to remove the masks from the sums.
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
        /// A round was given up, but the server can compute its sums after all: shares arrived late, or colluding agents
        /// hold the missing shares.
        OpenedLate {
            /// The round.
            round: u64,
            /// Agents whose parts are in the sums.
            survivors: u64,
        } = 10,
        /// The clipping norm was adapted to the vectors of a round.
        ClipFollowed {
            /// The round.
            round: u64,
            /// The noisy fraction of the sampled vectors that are within the norm of this round.
            within: f64,
            /// The clipping norm of the next round, over all regions.
            norm: f64,
        } = 11,
    }
}

/// A fact that this protocol records.
pub type Fact = stage::Fact<OwnFact>;

impl ProtocolFact for OwnFact {
    const ENDED: u64 = 3;
    const NUMBERS: &'static [u64] = Self::NUMBERS;

    fn closes(&self) -> Option<u64> {
        match self {
            Self::Closed { round, .. } => Some(*round),
            Self::Measured { .. }
            | Self::MeasuredAt { .. }
            | Self::GivenUp { .. }
            | Self::Unmasked { .. }
            | Self::Fitted { .. }
            | Self::SetUp { .. }
            | Self::OpenedLate { .. }
            | Self::ClipFollowed { .. } => None,
        }
    }
}

impl Protocol for FederatedProtocol {
    type Message = Message;
    type Timer = Close;
    type Fact = Fact;
}

impl Rounds for FederatedProtocol {
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::Begin => Some(0),
            Message::Invite
            | Message::Key
            | Message::Keys { .. }
            | Message::Dealt { .. }
            | Message::Entrusted { .. } => None,
            Message::Share { round, .. }
            | Message::Observe { round, .. }
            | Message::Report { round, .. }
            | Message::Weights { round, .. }
            | Message::Masked { round, .. }
            | Message::Unmask { round, .. }
            | Message::UnmaskNear { round, .. }
            | Message::Shares { round, .. }
            | Message::Done { round } => Some(*round),
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        fact.closes()
    }
}

/// Digests each vector with its length; nothing if there are no vectors.
fn each_vector(vectors: &Option<Arc<Released<Vec<Vec<f64>>>>>, digest: &mut Digest) {
    vectors.iter().for_each(|vectors| vectors.get().iter().for_each(|vector| digest.floats(vector)));
}

/// Digests the first of three numbers that are digested as one list: the length of the list, 3, precedes the numbers.
fn first_of_three(value: &f64, digest: &mut Digest) {
    digest.word(3);
    digest.float(*value);
}

fn count(of: &[bool]) -> u64 {
    of.iter().filter(|is| **is).count() as u64
}

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::Begin | Self::Invite => 0,
            Self::Key => 8,
            // A key has 8 bytes. The encrypted shares of one agent's two secrets for one holder have 16 bytes.
            Self::Keys { known } => 8 * count(known),
            Self::Dealt { holders, rounds } => rounds * (8 + 16 * holders),
            Self::Entrusted { members, rounds, .. } => rounds * (8 + 16) * count(members),
            Self::Share { vectors, .. } | Self::Observe { vectors, .. } => {
                let numbers =
                    vectors.as_ref().map_or(0, |v| v.get().iter().map(|vector| vector.len() as u64).sum());
                8 + 8 * numbers
            }
            Self::Weights { omega, .. } => 8 + 8 * omega.get().len() as u64,
            Self::Report { omega, .. } => 16 + 8 * omega.as_ref().map_or(0, |omega| omega.get().len() as u64),
            Self::Done { .. } => 8,
            Self::Masked { words, .. } => 8 + 8 * words.len() as u64,
            Self::Unmask { answered, .. } | Self::UnmaskNear { answered, .. } => {
                8 + (answered.len() as u64).div_ceil(8)
            }
            Self::Shares { shares, .. } => 8 + 8 * shares.len() as u64,
        };
        HEADER_BYTES + payload
    }

    fn work(&self) -> f64 {
        // Agents need compute time for the messages that make them measure. All other messages, among them every message to
        // the server, need no compute time.
        match self {
            Self::Begin
            | Self::Share { .. }
            | Self::Observe { .. }
            | Self::Entrusted { begins: true, .. } => 1.0,
            Self::Weights { .. }
            | Self::Report { .. }
            | Self::Done { .. }
            | Self::Masked { .. }
            | Self::Invite
            | Self::Key
            | Self::Keys { .. }
            | Self::Dealt { .. }
            | Self::Entrusted { .. }
            | Self::Unmask { .. }
            | Self::UnmaskNear { .. }
            | Self::Shares { .. } => 0.0,
        }
    }

    fn label(&self) -> &'static str {
        self.label()
    }
}
