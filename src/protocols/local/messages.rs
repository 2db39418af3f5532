//! The messages and timers of the protocol `Local`, and the facts that its parties record.

use crate::kernel::{Payload, Protocol};
use crate::privacy::Released;
use crate::protocols::stage::message_macros::{nothing, vocabulary};
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{self, ProtocolFact, Rounds};

/// The messages, timers and facts of local differential privacy.
#[derive(Clone, Copy, Debug)]
pub struct LocalProtocol;

vocabulary! {
    /// The messages.
    pub enum Message {
        /// From a user: it has arrived.
        Arrived {
            /// Number of the user, from 0: where people visit repeatedly, the number of the visit.
            user: u64,
        } = 0,
        /// From the service: play this arm.
        Play {
            /// Number of the user.
            user: u64,
            /// The arm.
            arm: u64,
        } = 1,
        /// From a user: the reward of the arm, as the series' mechanism releases it.
        Report {
            /// Number of the user.
            user: u64,
            /// The arm that was played.
            arm: u64,
            /// The reward as released.
            reward: Released<f64>,
        } = 2,
        /// From the service: try this point of the box.
        PlayAt {
            /// Number of the user.
            user: u64,
            /// Number of the point, which the report repeats.
            arm: u64,
            /// The point, in the units of the inputs.
            point: Vec<f64>,
        } = 3,
        /// From the registry, which adds up the users' rewards, to a reader: the mean of the rewards that count so far.
        Mean {
            /// Number of rewards in the mean.
            count: u64,
            /// The mean, as released.
            mean: Released<f64>,
        } = 4,
    }
}

vocabulary! {
    /// The timers.
    pub enum Timer {
        /// The next user arrives.
        Arrival = 0,
        /// A user sends the report that it has decided to send.
        Answer {
            /// The user.
            user: u64,
        } = 1,
        /// The time for which the service waits for a user's report has passed.
        Patience {
            /// The user.
            user: u64,
        } = 2,
    }
}

vocabulary! {
    /// The facts of this protocol only.
    pub enum OwnFact {
        /// A user played an arm.
        Played {
            /// The user.
            user: u64,
            /// The arm.
            arm: u64,
            /// The reward with the objective's noise, before the mechanism clips it and adds its own noise.
            reward: f64,
            /// Whether the reward lies beyond the mechanism's bound; false without a mechanism.
            exceeds: bool,
        } = 1,
        /// A user will never report.
        Silent {
            /// The user.
            user: u64,
        } = 2,
        /// The first copy of a user's report reached the service.
        Learned {
            /// The user.
            user: u64,
        } = 3,
        /// A user tried a point of a box.
        Tried {
            /// The user.
            user: u64,
            /// Number of the point.
            arm: u64,
            /// The point, in the units of the inputs.
            point: Vec<f64>,
            /// The reward without the objective's noise. Not in the digest: it follows from the point.
            value: f64 => nothing,
            /// The reward with the objective's noise, before the mechanism clips it and adds its own noise.
            reward: f64,
            /// Whether the reward lies beyond the mechanism's bound; false without a mechanism.
            exceeds: bool,
        } = 5,
        /// A user's reward has reached the registry that publishes the running mean. The reward counts in the mean, unless
        /// the largest number of rewards of one person that may count (`contributions`) has been reached for this person.
        Counted {
            /// The user.
            user: u64,
            /// Whether the reward counts in the mean.
            counts: bool,
        } = 6,
        /// The mean of the rewards that count so far was published.
        MeanPublished {
            /// Number of rewards in the mean.
            count: u64,
            /// The mean, as released.
            mean: f64,
        } = 7,
    }
}

/// The facts that are recorded.
pub type Fact = stage::Fact<OwnFact>;

impl ProtocolFact for OwnFact {
    const ENDED: u64 = 4;
    // The next two constants do not have their defaults, `ENDED` + 1 and `ENDED` + 2: `Tried` and `Counted` have these
    // numbers, and `MeanPublished` has 7.
    const BUDGET_REACHED: u64 = 8;
    const JITTERED: u64 = 9;
    const NUMBERS: &'static [u64] = Self::NUMBERS;

    fn closes(&self) -> Option<u64> {
        match self {
            Self::Learned { user } => Some(user + 1),
            Self::Played { .. }
            | Self::Tried { .. }
            | Self::Silent { .. }
            | Self::Counted { .. }
            | Self::MeanPublished { .. } => None,
        }
    }
}

impl Protocol for LocalProtocol {
    type Message = Message;
    type Timer = Timer;
    type Fact = Fact;
}

impl Rounds for LocalProtocol {
    /// The round is the user's number plus 1; a published mean belongs to no round.
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::Arrived { user }
            | Message::Play { user, .. }
            | Message::PlayAt { user, .. }
            | Message::Report { user, .. } => Some(user + 1),
            Message::Mean { .. } => None,
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        fact.closes()
    }
}

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::Arrived { .. } => 8,
            Self::Play { .. } => 16,
            Self::PlayAt { point, .. } => 16 + 8 * point.len() as u64,
            Self::Report { .. } => 24,
            Self::Mean { .. } => 16,
        };
        HEADER_BYTES + payload
    }

    fn label(&self) -> &'static str {
        self.label()
    }
}
