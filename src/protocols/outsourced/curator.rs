//! The curator: holds the inputs, releases them once through a mechanism, and measures the rows that are
//! queried.

use super::messages::{Message, OwnFact, World};
use crate::kernel::{Context, Input, Party};
use crate::objectives::{Facts, Noise, Surrogate};
use crate::privacy::ledger::{Meter, Occasion, ReleaseError, enter_for, release};
use crate::privacy::mechanisms::{Disclosure, InputRelease, OutcomeRelease, Rows};
use crate::privacy::{Released, Sensitive};
use crate::protocols::stage::{JournalLedger, give_up};
use crate::rng::{Key, Stream};
use crate::vocab::{Neighbours, Observer, PartyId, Positive, ProtectedUnit};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Neighbours differ by at most this distance in one row of the scaled inputs (the paper's Definition 1).
const NEIGHBOUR_DISTANCE: f64 = 1.0;

/// What was measured for a row, and the answer that was given.
#[derive(Clone, Debug)]
pub(super) struct Known {
    measured: f64,
    released: Released<f64>,
}

/// The curator of one series.
pub(super) struct Curator {
    pub(super) name: String,
    pub(super) observer: Observer,
    pub(super) modeler: PartyId,
    pub(super) release: InputRelease,
    pub(super) outcomes: OutcomeRelease,
    pub(super) inputs: Sensitive<Rows>,
    pub(super) n: usize,
    /// Columns of the inputs, d; public.
    pub(super) columns: usize,
    /// Facts taken as public, on which losses are conditional.
    pub(super) facts: Facts,
    /// The modeler's model, if its hyperparameters were fitted to inputs and outcomes and the modeler asks for one.
    pub(super) fitted: Option<Sensitive<Surrogate>>,
    /// Noise-free objective by row.
    pub(super) values: Arc<Vec<f64>>,
    pub(super) law: Noise,
    /// Node of the objective's noise; round k draws from its child k, whichever row is queried.
    pub(super) noise: Key,
    /// Random numbers of the mechanisms.
    pub(super) stream: Stream,
    /// Node of the random numbers of a public projection matrix.
    pub(super) projection: Key,
    /// Releases counted against the privacy budget.
    pub(super) meter: Meter,
    pub(super) view: Option<Message>,
    /// Answers by round: a repeated query gets the same answer.
    pub(super) answered: BTreeMap<u64, Released<f64>>,
    /// Measurement and answer by row, if a private answer is given once per row.
    pub(super) known: BTreeMap<u64, Known>,
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
            values: Arc::clone(&self.values),
            law: self.law.clone(),
            stream: self.stream.clone(),
            meter: self.meter.clone(),
            view: self.view.clone(),
            outcomes: self.outcomes.clone(),
            answered: self.answered.clone(),
            known: self.known.clone(),
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
    fn view(&mut self, ctx: &mut Context<'_, World>) -> Result<Message, ReleaseError> {
        if let Some(view) = &self.view {
            return Ok(view.clone());
        }
        let model = self.model(ctx)?;
        let occasion = Occasion {
            conditions: self.facts.input_conditions(),
            ..self.about_records(self.release.as_dyn().what(), ctx)
        };
        let (inputs, stream) = (&self.inputs, &mut self.stream);
        let distance = Positive::new(NEIGHBOUR_DISTANCE).expect("1 is above 0");
        let mut ledger = JournalLedger::new(&mut self.meter, ctx);
        let mechanism =
            self.release.as_dyn().mechanism(self.columns, distance, &mut self.projection.stream());
        let rows = match mechanism.map_err(ReleaseError::Mechanism)? {
            Some(mechanism) => Some(release(&mut ledger, occasion, &mechanism, inputs, stream)?),
            None => None,
        };
        let view = Message::Inputs { n: self.n as u64, rows: rows.map(Arc::new), model };
        self.view = Some(view.clone());
        Ok(view)
    }

    /// The occasion of a release about the records before the first round.
    fn about_records(&self, released: &str, ctx: &Context<'_, World>) -> Occasion {
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

    /// Fitted hyperparameters are exact functions of all records and all outcomes: unprotected for either.
    fn model(
        &mut self,
        ctx: &mut Context<'_, World>,
    ) -> Result<Option<Arc<Released<Surrogate>>>, ReleaseError> {
        let record = self.about_records("fitted hyperparameters", ctx);
        let Some(model) = &self.fitted else { return Ok(None) };
        let outcome =
            Occasion { unit: ProtectedUnit::Outcome, neighbours: Neighbours::AnyValue, ..record.clone() };
        let mut ledger = JournalLedger::new(&mut self.meter, ctx);
        enter_for(&mut ledger, outcome, &Disclosure::new(), model)?;
        let released = release(&mut ledger, record, &Disclosure::new(), model, &mut self.stream)?;
        Ok(Some(Arc::new(released)))
    }

    fn answer(
        &mut self,
        ctx: &mut Context<'_, World>,
        round: u64,
        row: u64,
    ) -> Result<Released<f64>, ReleaseError> {
        if let Some(known) = self.answered.get(&round) {
            return Ok(known.clone());
        }
        let released = match self.known.get(&row) {
            Some(Known { measured, released }) => {
                ctx.record(OwnFact::Measured { round, row, outcome: *measured }.into());
                released.clone()
            }
            None => self.measure(ctx, round, row)?,
        };
        self.answered.insert(round, released.clone());
        Ok(released)
    }

    fn measure(
        &mut self,
        ctx: &mut Context<'_, World>,
        round: u64,
        row: u64,
    ) -> Result<Released<f64>, ReleaseError> {
        let value = self.values[row as usize];
        let outcome = value + self.law.draw(row as usize, &mut self.noise.index(round).stream());
        ctx.record(OwnFact::Measured { round, row, outcome }.into());
        let private = self.outcomes.as_dyn().mechanism();
        let occasion = Occasion {
            released: "outcomes y".to_owned(),
            protected: self.name.clone(),
            unit: ProtectedUnit::Outcome,
            unit_index: private.map(|_| row),
            neighbours: Neighbours::AnyValue,
            observer: self.observer.clone(),
            round,
            at: ctx.now(),
            conditions: self.facts.outcome_conditions(self.release.shows_inputs()),
        };
        let secret = Sensitive::new(outcome);
        // If the outcome is computed from inputs of the row, it is a release about the row as well.
        let of_row = self.facts.outcomes_read_inputs.then(|| Occasion {
            unit: ProtectedUnit::Record,
            neighbours: Neighbours::RowMoved { distance: NEIGHBOUR_DISTANCE },
            ..occasion.clone()
        });
        let mut ledger = JournalLedger::new(&mut self.meter, ctx);
        if let Some(of_row) = of_row {
            match private {
                Some(mechanism) => enter_for(&mut ledger, of_row, mechanism, &secret)?,
                None => enter_for(&mut ledger, of_row, &Disclosure::new(), &secret)?,
            }
        }
        let Some(mechanism) = private else {
            return release(&mut ledger, occasion, &Disclosure::new(), &secret, &mut self.stream);
        };
        let released = release(&mut ledger, occasion, mechanism, &secret, &mut self.stream)?;
        self.known.insert(row, Known { measured: outcome, released: released.clone() });
        Ok(released)
    }
}

impl Party<World> for Curator {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        let answer = match input {
            Input::Message { message: Message::RequestInputs, .. } => self.view(ctx),
            Input::Message { message: Message::Query { round, row }, .. } => {
                self.answer(ctx, round, row).map(|outcome| Message::Answer { round, outcome })
            }
            Input::Message { message: Message::Inputs { .. } | Message::Answer { .. }, .. }
            | Input::Start
            | Input::Timer(_)
            | Input::WentOffline
            | Input::CameBack => return,
        };
        match answer {
            Ok(message) => ctx.send(self.modeler, message),
            Err(error) => give_up(ctx, &format!("{} releases nothing", self.name), &error),
        }
    }
}
