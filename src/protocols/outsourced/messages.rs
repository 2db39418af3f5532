//! The messages between curator and modeler.

use crate::gp::covariance::LengthScale;
use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::objectives::Surrogate;
use crate::privacy::Released;
use crate::privacy::mechanisms::Rows;
use crate::protocols::stage::RetryTimer;
use crate::protocols::stage::message_macros::{if_any, vocabulary};
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{self, Measured, Rounds};
use std::sync::Arc;

/// The messages, timers and facts of outsourced optimisation.
#[derive(Clone, Copy, Debug)]
pub struct OutsourcedProtocol;

vocabulary! {
    /// The messages.
    pub enum Message {
        /// From the modeler: send the inputs.
        RequestInputs = 0,
        /// From the curator: all that is released of the inputs.
        Inputs {
            /// Number of rows that can be queried.
            n: u64,
            /// The rows as released; `None` if the series withholds them.
            rows: Option<Arc<Released<Rows>>> => if_any,
            /// The model, if its hyperparameters were fitted to the inputs and outcomes and the learner needs a model.
            /// A model that was not fitted is public.
            model: Option<Arc<Released<Surrogate>>> => if_any,
        } = 1,
        /// From the modeler: measure this row in this round.
        Query {
            /// Round, from 0, initial points included.
            round: u64,
            /// Row of the inputs.
            row: u64,
        } = 2,
        /// From the curator: the outcome of the query of this round.
        Answer {
            /// Round, from 0.
            round: u64,
            /// Outcome, noise included.
            outcome: Released<f64>,
        } = 3,
        /// From the curator: the query of this round has no outcome. The message has the size of an answer, so a relay of
        /// encrypted messages cannot tell the two apart by their size.
        Missing {
            /// Round, from 0.
            round: u64,
        } = 4,
    }
}

/// A fact that this protocol records.
pub type Fact = stage::Fact<Measured>;

impl Protocol for OutsourcedProtocol {
    type Message = Message;
    type Timer = RetryTimer;
    type Fact = Fact;
}

impl Rounds for OutsourcedProtocol {
    /// The number of the evaluation, from 1, initial points included; 0 for the exchange of the inputs.
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::RequestInputs | Message::Inputs { .. } => Some(0),
            Message::Query { round, .. } | Message::Answer { round, .. } | Message::Missing { round } => {
                Some(round + 1)
            }
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        fact.closes()
    }
}

impl Digestible for Rows {
    fn digest(&self, digest: &mut Digest) {
        digest.word(self.d() as u64);
        digest.floats(self.values());
    }
}

impl Digestible for Surrogate {
    fn digest(&self, digest: &mut Digest) {
        let Self { covariance, noise_variance, mean } = self;
        digest.floats(&[covariance.variance, *noise_variance, *mean]);
    }
}

/// Number of hyperparameters of a model: length-scales, variance, noise variance and mean.
fn hyperparameters(model: &Surrogate) -> u64 {
    let length_scales = match &model.covariance.length_scale {
        LengthScale::Same(_) => 1,
        LengthScale::PerDimension(each) => each.len() as u64,
    };
    length_scales + 3
}

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::RequestInputs => 0,
            Self::Inputs { rows, model, .. } => {
                let model = model.as_ref().map_or(0, |model| 8 * hyperparameters(model.get()));
                8 + model + rows.as_ref().map_or(0, |rows| 8 + 8 * rows.get().values().len() as u64)
            }
            Self::Query { .. } | Self::Answer { .. } | Self::Missing { .. } => 16,
        };
        HEADER_BYTES + payload
    }

    fn label(&self) -> &'static str {
        self.label()
    }
}
