//! A party that measures the objective for another: what it draws, books and answers.

use super::facts::{ProtocolFact, Stating};
use super::journal_ledger::JournalLedger;
use crate::kernel::{Digest, Digestible, Recorder};
use crate::objectives::{Instance, Noise};
use crate::privacy::ledger::{Meter, Occasion, ReleaseError, enter_for, release};
use crate::privacy::mechanisms::{Disclosure, OutcomeRelease};
use crate::privacy::{Released, Sensitive};
use crate::rng::{Key, Stream};
use crate::vocab::{Neighbours, Observer, ProtectedUnit};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A row moved by at most this in the scaled inputs makes a neighbour (Kharkovskii, Dai and Low 2020, Definition 1).
pub const NEIGHBOUR_DISTANCE: f64 = 1.0;

/// The objective was measured. The one fact that a protocol needs for its regret.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Round, from 0, initial points included.
    pub round: u64,
    /// Index of the arm.
    pub arm: u64,
    /// Outcome, noise included.
    pub outcome: f64,
}

impl Digestible for Measured {
    fn digest(&self, digest: &mut Digest) {
        digest.words([1, self.round, self.arm]);
        digest.float(self.outcome);
    }
}

impl ProtocolFact for Measured {
    const ENDED: u64 = 2;

    /// Evaluations count from 1.
    fn closes(&self) -> Option<u64> {
        Some(self.round + 1)
    }
}

/// What was measured of an arm, and what was said about it.
#[derive(Clone, Debug)]
struct Known {
    measured: f64,
    released: Released<f64>,
}

/// Measures arms for an observer: the same answer however often a round is asked for, and, where answers are private,
/// one answer for each arm. Every release is booked, and the budget is asked first.
#[derive(Clone, Debug)]
pub struct Measurer {
    owner: String,
    observer: Observer,
    outcomes: OutcomeRelease,
    /// Noise-free objective by arm.
    values: Arc<Vec<f64>>,
    law: Noise,
    /// Node of the objective's noise; round k draws from its child k, whichever arm is asked for.
    noise: Key,
    /// An outcome is computed from an input of its arm's record.
    of_records: bool,
    conditions: Vec<String>,
    /// Draws of the mechanisms.
    pub(in crate::protocols) stream: Stream,
    /// Releases counted against the privacy budget.
    pub(in crate::protocols) meter: Meter,
    answered: BTreeMap<u64, Released<f64>>,
    known: BTreeMap<u64, Known>,
}

impl Measurer {
    /// Nothing measured yet of `instance`, whose outcomes are `owner`'s and are released to `observer` as `outcomes`
    /// says. Noise is drawn below `noise`, mechanisms draw from `stream`, and the losses hold under `conditions`.
    #[must_use]
    pub fn new(
        [owner, observer]: [&str; 2],
        outcomes: OutcomeRelease,
        instance: &Instance,
        (noise, stream): (Key, Stream),
        meter: Meter,
        conditions: Vec<String>,
    ) -> Self {
        Self {
            owner: owner.to_owned(),
            observer: Observer(observer.to_owned()),
            outcomes,
            values: Arc::clone(&instance.values),
            law: instance.noise.clone(),
            noise,
            of_records: instance.background.facts.outcomes_read_inputs,
            conditions,
            stream,
            meter,
            answered: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// Number of arms.
    #[must_use]
    pub fn arms(&self) -> usize {
        self.values.len()
    }

    /// The answer to the question of a round about an arm; states [`Measured`] for a new round.
    ///
    /// # Errors
    /// [`ReleaseError`] where nothing was released: a mechanism's precondition fails, or a budget is used up.
    ///
    /// # Panics
    /// If there is no such arm.
    pub fn answer<P: Stating<Own: From<Measured>>>(
        &mut self,
        ctx: &mut dyn Recorder<P>,
        round: u64,
        arm: u64,
    ) -> Result<Released<f64>, ReleaseError> {
        if let Some(known) = self.answered.get(&round) {
            return Ok(known.clone());
        }
        let released = match self.known.get(&arm) {
            Some(Known { measured, released }) => {
                let own: P::Own = Measured { round, arm, outcome: *measured }.into();
                ctx.record(own.into());
                released.clone()
            }
            None => self.measure(ctx, round, arm)?,
        };
        self.answered.insert(round, released.clone());
        Ok(released)
    }

    fn measure<P: Stating<Own: From<Measured>>>(
        &mut self,
        ctx: &mut dyn Recorder<P>,
        round: u64,
        arm: u64,
    ) -> Result<Released<f64>, ReleaseError> {
        let value = self.values[arm as usize];
        let outcome = value + self.law.draw(arm as usize, &mut self.noise.index(round).stream());
        let own: P::Own = Measured { round, arm, outcome }.into();
        ctx.record(own.into());
        let private = self.outcomes.as_dyn().mechanism();
        let occasion = Occasion {
            released: "outcomes y".to_owned(),
            protected: self.owner.clone(),
            unit: ProtectedUnit::Outcome,
            unit_index: private.map(|_| arm),
            neighbours: Neighbours::AnyValue,
            observer: self.observer.clone(),
            round,
            at: ctx.now(),
            conditions: self.conditions.clone(),
        };
        let secret = Sensitive::new(outcome);
        // Computed from an input of the row, the outcome is a release about the row as well.
        let of_row = self.of_records.then(|| Occasion {
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
        self.known.insert(arm, Known { measured: outcome, released: released.clone() });
        Ok(released)
    }
}
