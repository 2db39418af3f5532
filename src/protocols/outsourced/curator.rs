//! The curator: holds the inputs, releases a view of them once, and measures what it is asked to.

use super::messages::{Fact, Message, World};
use super::recipe::InputRelease;
use crate::kernel::{Context, Input, Party};
use crate::objectives::Noise;
use crate::privacy::ledger::{Meter, Occasion, ReleaseError, release};
use crate::privacy::mechanisms::{Disclosure, Rows};
use crate::privacy::{Released, Sensitive};
use crate::protocols::{Books, give_up};
use crate::rng::{Key, Stream};
use crate::vocab::{Neighbours, Observer, PartyId, ProtectedUnit};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// A row moved by at most this in the scaled inputs makes a neighbour (the paper's Definition 1).
const NEIGHBOUR_DISTANCE: f64 = 1.0;

/// The curator of one series.
pub(super) struct Curator {
    pub(super) name: String,
    pub(super) observer: Observer,
    pub(super) modeler: PartyId,
    pub(super) release: InputRelease,
    pub(super) inputs: Sensitive<Rows>,
    pub(super) n: usize,
    /// Noise-free objective by row.
    pub(super) values: Arc<Vec<f64>>,
    pub(super) law: Noise,
    /// Node of the objective's noise; round k draws from its child k, whichever row is asked for.
    pub(super) noise: Key,
    /// Draws of the mechanisms.
    pub(super) stream: Stream,
    /// What was spent of the privacy budget.
    pub(super) meter: Meter,
    pub(super) view: Option<Message>,
    /// Outcomes by round: measured once, however often they are asked for.
    pub(super) measured: BTreeMap<u64, Released<f64>>,
}

impl Clone for Curator {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            observer: self.observer.clone(),
            release: self.release.clone(),
            inputs: self.inputs.duplicate(),
            values: Arc::clone(&self.values),
            law: self.law.clone(),
            stream: self.stream.clone(),
            meter: self.meter.clone(),
            view: self.view.clone(),
            measured: self.measured.clone(),
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
        let occasion = Occasion {
            released: self.release.what().to_owned(),
            protected: self.name.clone(),
            unit: ProtectedUnit::Record,
            unit_index: None,
            neighbours: Neighbours::RowMoved { distance: NEIGHBOUR_DISTANCE },
            observer: self.observer.clone(),
            round: 0,
            at: ctx.now(),
        };
        let (inputs, stream) = (&self.inputs, &mut self.stream);
        let mut book = Books::new(&mut self.meter, ctx);
        let rows = match &self.release {
            InputRelease::JohnsonLindenstrauss(mechanism) => {
                Some(release(&mut book, occasion, mechanism, inputs, stream)?)
            }
            InputRelease::Disclosure(_) => {
                Some(release(&mut book, occasion, &Disclosure::new(), inputs, stream)?)
            }
            InputRelease::Withheld(_) => None,
        };
        let view = Message::Inputs { n: self.n as u64, rows: rows.map(Arc::new) };
        self.view = Some(view.clone());
        Ok(view)
    }

    fn measure(
        &mut self,
        ctx: &mut Context<'_, World>,
        round: u64,
        row: u64,
    ) -> Result<Released<f64>, ReleaseError> {
        if let Some(known) = self.measured.get(&round) {
            return Ok(known.clone());
        }
        let value = self.values[row as usize];
        let outcome = value + self.law.draw(row as usize, &mut self.noise.index(round).stream());
        ctx.record(Fact::Measured { round, row, outcome });
        let occasion = Occasion {
            released: "outcomes y".to_owned(),
            protected: self.name.clone(),
            unit: ProtectedUnit::Outcome,
            unit_index: None,
            neighbours: Neighbours::AnyValue,
            observer: self.observer.clone(),
            round,
            at: ctx.now(),
        };
        let secret = Sensitive::new(outcome);
        let mut book = Books::new(&mut self.meter, ctx);
        let released = release(&mut book, occasion, &Disclosure::new(), &secret, &mut self.stream)?;
        self.measured.insert(round, released.clone());
        Ok(released)
    }
}

impl Party<World> for Curator {
    fn handle(&mut self, input: Input<World>, ctx: &mut Context<'_, World>) {
        let answer = match input {
            Input::Message { message: Message::RequestInputs, .. } => self.view(ctx),
            Input::Message { message: Message::Query { round, row }, .. } => {
                self.measure(ctx, round, row).map(|outcome| Message::Answer { round, outcome })
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
