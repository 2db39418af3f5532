//! The curator: holds the inputs, releases them once through a mechanism, and measures the rows that are
//! queried.

use super::messages::{Message, OutsourcedProtocol};
use crate::kernel::{Context, Input, Party};
use crate::objectives::{PublicFacts, Surrogate};
use crate::privacy::ledger::{Occasion, ReleaseError, enter_for, release};
use crate::privacy::mechanisms::{Disclosure, InputRelease, Rows};
use crate::privacy::{Released, Sensitive};
use crate::protocols::stage::{JournalLedger, Measurer, NEIGHBOUR_DISTANCE, end_refused};
use crate::rng::Key;
use crate::vocab::{Neighbours, Observer, PartyId, Positive, ProtectedUnit};
use std::fmt;
use std::sync::Arc;

/// The curator of one series.
pub(super) struct Curator {
    pub(super) name: String,
    pub(super) observer: Observer,
    pub(super) modeler: PartyId,
    pub(super) release: InputRelease,
    pub(super) inputs: Sensitive<Rows>,
    /// Number of columns of the inputs, d; it is public.
    pub(super) columns: usize,
    /// Facts taken as public, on which losses are conditional.
    pub(super) facts: PublicFacts,
    /// The modeler's model, if its hyperparameters were fitted to inputs and outcomes and the
    /// learner needs a model; otherwise `None`.
    pub(super) fitted: Option<Sensitive<Surrogate>>,
    /// Measures rows; also has the random stream of all mechanisms and the meter of the privacy budget.
    pub(super) measurer: Measurer,
    /// Node of the seed tree from which a public projection matrix is drawn.
    pub(super) projection: Key,
    /// The message with the released inputs; `None` until they are requested for the first time.
    pub(super) view: Option<Message>,
}

impl Clone for Curator {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            observer: self.observer.clone(),
            release: self.release.clone(),
            inputs: self.inputs.duplicate(),
            facts: self.facts.clone(),
            fitted: self.fitted.as_ref().map(Sensitive::duplicate),
            measurer: self.measurer.clone(),
            view: self.view.clone(),
            ..*self
        }
    }
}

impl fmt::Debug for Curator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Curator").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Curator {
    fn view(&mut self, ctx: &mut Context<'_, OutsourcedProtocol>) -> Result<Message, ReleaseError> {
        if let Some(view) = &self.view {
            return Ok(view.clone());
        }
        let model = self.model(ctx)?;
        let occasion = Occasion {
            conditions: self.facts.input_conditions(),
            ..self.about_records(self.release.as_dyn().release_name(), ctx)
        };
        let n = self.measurer.arms() as u64;
        let Measurer { meter, stream, .. } = &mut self.measurer;
        let distance = Positive::new(NEIGHBOUR_DISTANCE).expect("the distance of neighbours is above 0");
        let mut ledger = JournalLedger::new(meter, ctx);
        let mechanism =
            self.release.as_dyn().mechanism(self.columns, distance, &mut self.projection.stream());
        let rows = match mechanism.map_err(ReleaseError::Mechanism)? {
            Some(mechanism) => Some(release(&mut ledger, occasion, &mechanism, &self.inputs, stream)?),
            None => None,
        };
        let view = Message::Inputs { n, rows: rows.map(Arc::new), model };
        self.view = Some(view.clone());
        Ok(view)
    }

    /// The occasion of a release about the records; such a release happens before the first round and has round 0.
    fn about_records(&self, released: &str, ctx: &Context<'_, OutsourcedProtocol>) -> Occasion {
        Occasion {
            released: released.to_owned(),
            protected: self.name.clone(),
            unit: ProtectedUnit::Record,
            unit_index: None,
            neighbours: Neighbours::RowMoved { distance: NEIGHBOUR_DISTANCE },
            observer: self.observer.clone(),
            round: 0,
            at: ctx.now(),
            conditions: Vec::new(),
        }
    }

    /// Releases the fitted hyperparameters. They are exact functions of all records and all outcomes. So the ledger gets two
    /// unprotected entries, one about records and one about outcomes.
    fn model(
        &mut self,
        ctx: &mut Context<'_, OutsourcedProtocol>,
    ) -> Result<Option<Arc<Released<Surrogate>>>, ReleaseError> {
        let record = self.about_records("fitted hyperparameters", ctx);
        let Some(model) = &self.fitted else { return Ok(None) };
        let outcome =
            Occasion { unit: ProtectedUnit::Outcome, neighbours: Neighbours::AnyValue, ..record.clone() };
        let Measurer { meter, stream, .. } = &mut self.measurer;
        let mut ledger = JournalLedger::new(meter, ctx);
        enter_for(&mut ledger, outcome, &Disclosure::new(), model)?;
        let released = release(&mut ledger, record, &Disclosure::new(), model, stream)?;
        Ok(Some(Arc::new(released)))
    }
}

impl Party<OutsourcedProtocol> for Curator {
    fn handle(&mut self, input: Input<OutsourcedProtocol>, ctx: &mut Context<'_, OutsourcedProtocol>) {
        let answer = match input {
            Input::Message { message: Message::RequestInputs, .. } => self.view(ctx),
            Input::Message { message: Message::Query { round, row }, .. } => {
                let answer = self.measurer.answer_if_any(ctx, round, row);
                answer.map(|answer| match answer {
                    Some(outcome) => Message::Answer { round, outcome },
                    None => Message::Missing { round },
                })
            }
            Input::Message {
                message: Message::Inputs { .. } | Message::Answer { .. } | Message::Missing { .. },
                ..
            }
            | Input::Start
            | Input::Timer(_)
            | Input::WentOffline
            | Input::CameBack => return,
        };
        match answer {
            Ok(message) => ctx.send(self.modeler, message),
            Err(error) => end_refused(ctx, &format!("{} releases nothing", self.name), &error),
        }
    }
}
