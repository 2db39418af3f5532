//! What curator and modeler say to each other.

use crate::kernel::{Digest, Digestible, Payload, Protocol};
use crate::objectives::Surrogate;
use crate::privacy::Released;
use crate::privacy::mechanisms::Rows;
use crate::protocols::stage::AskAgain;
use crate::protocols::stage::bookkeeping::digest_release;
use crate::protocols::stage::wire::HEADER_BYTES;
use crate::protocols::stage::{Bookkeeping, BudgetReached, Rounds};
use crate::vocab::PrivacyEvent;
use std::sync::Arc;

/// The closed vocabulary of outsourced optimisation.
#[derive(Clone, Copy, Debug)]
pub struct World;

/// What is said.
#[derive(Clone, Debug)]
pub enum Message {
    /// From the modeler: let me have the inputs.
    RequestInputs,
    /// From the curator: all that you get to know of the inputs.
    Inputs {
        /// Number of rows that can be queried.
        n: u64,
        /// The rows as released; absent when they are withheld.
        rows: Option<Arc<Released<Rows>>>,
        /// The model, where its hyperparameters were fitted to the inputs and outcomes; else the modeler knows it.
        model: Option<Arc<Released<Surrogate>>>,
    },
    /// From the modeler: measure this row in this round.
    Query {
        /// Round, from 0, initial points included.
        round: u64,
        /// Row of the inputs.
        row: u64,
    },
    /// From the curator: the outcome of that round.
    Answer {
        /// Round, from 0.
        round: u64,
        /// Outcome, noise included.
        outcome: Released<f64>,
    },
}

/// What is recorded.
#[derive(Clone, Debug)]
pub enum Fact {
    /// Something that depends on protected data was released.
    Released(Box<PrivacyEvent>),
    /// The curator measured the objective.
    Measured {
        /// Round, from 0, initial points included.
        round: u64,
        /// Row of the inputs.
        row: u64,
        /// Outcome, noise included.
        outcome: f64,
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
    type Timer = AskAgain;
    type Fact = Fact;
}

impl Rounds for World {
    /// Evaluations count from 1, initial points included.
    fn round(message: &Message) -> Option<u64> {
        match message {
            Message::RequestInputs | Message::Inputs { .. } => Some(0),
            Message::Query { round, .. } | Message::Answer { round, .. } => Some(round + 1),
        }
    }

    fn closes(fact: &Fact) -> Option<u64> {
        match fact {
            Fact::Measured { round, .. } => Some(round + 1),
            Fact::Released(_) | Fact::BudgetReached(_) | Fact::Jittered(_) | Fact::Ended { .. } => None,
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

/// Numbers of a model: length-scale, variance, noise variance, mean.
const HYPERPARAMETERS: u64 = 4;

impl Payload for Message {
    fn wire_bytes(&self) -> u64 {
        let payload = match self {
            Self::RequestInputs => 0,
            Self::Inputs { rows, model, .. } => {
                let model = if model.is_some() { 8 * HYPERPARAMETERS } else { 0 };
                8 + model + rows.as_ref().map_or(0, |rows| 8 + 8 * rows.get().values().len() as u64)
            }
            Self::Query { .. } | Self::Answer { .. } => 16,
        };
        HEADER_BYTES + payload
    }

    fn label(&self) -> &'static str {
        match self {
            Self::RequestInputs => "RequestInputs",
            Self::Inputs { .. } => "Inputs",
            Self::Query { .. } => "Query",
            Self::Answer { .. } => "Answer",
        }
    }
}

impl Digestible for Message {
    fn digest(&self, digest: &mut Digest) {
        match self {
            Self::RequestInputs => digest.word(0),
            Self::Inputs { n, rows, model } => {
                digest.word(1);
                digest.word(*n);
                if let Some(rows) = rows {
                    digest.word(rows.get().d() as u64);
                    digest.floats(rows.get().values());
                }
                if let Some(model) = model {
                    let Surrogate { covariance, noise_variance, mean } = model.get();
                    digest.floats(&[covariance.variance, *noise_variance, *mean]);
                }
            }
            Self::Query { round, row } => {
                digest.word(2);
                digest.word(*round);
                digest.word(*row);
            }
            Self::Answer { round, outcome } => {
                digest.word(3);
                digest.word(*round);
                digest.float(*outcome.get());
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
            Self::Measured { round, row, outcome } => {
                digest.word(1);
                digest.word(*round);
                digest.word(*row);
                digest.float(*outcome);
            }
            Self::Ended { reason } => {
                digest.word(2);
                digest.text(reason);
            }
            Self::Jittered(jitter) => {
                digest.word(4);
                digest.float(*jitter);
            }
            Self::BudgetReached(BudgetReached { reason, .. }) => {
                digest.word(3);
                digest.text(reason);
            }
        }
    }
}
