//! Measurements of the objective by one party for another: their noise, ledger entries and answers.

use super::facts::{ProtocolFact, RecordsFacts};
use super::journal_ledger::JournalLedger;
use super::run::RunOptions;
use crate::kernel::{Digest, Digestible, Recorder};
use crate::objectives::{Instance, Noise};
use crate::privacy::ledger::{BudgetMeter, Occasion, ReleaseError, enter, enter_for, release};
use crate::privacy::mechanisms::outcomes::{OutcomeMechanism, OutcomeProgram};
use crate::privacy::mechanisms::{Disclosure, Informative, Mechanism, MechanismError, OutcomeRelease};
use crate::privacy::{Released, Sensitive};
use crate::programs::ProgramFailure;
use crate::rng::{Key, Stream};
use crate::vocab::{Neighbours, Observer, ProtectedUnit};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// Largest Euclidean distance, in scaled inputs, between the two versions of the one row in which neighbouring data sets
/// differ (Kharkovskii, Dai and Low 2020, Definition 1).
pub const NEIGHBOUR_DISTANCE: f64 = 1.0;

/// The name of the released outcomes in ledgers and reports.
pub const OUTCOMES: &str = "outcomes y";

/// The fact that the objective was measured, from which regret is computed.
#[derive(Clone, Copy, PartialEq)]
pub struct Measured {
    /// Round, from 0, initial points included.
    pub round: u64,
    /// Index of the arm.
    pub arm: u64,
    /// Outcome, noise included.
    pub outcome: f64,
    /// Whether the party that searches gets no answer, because of the outcome.
    pub missing: bool,
}

/// The debug format shows the field `missing` only if the outcome is missing.
impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { round, arm, outcome, missing } = self;
        let mut fields = f.debug_struct("Measured");
        fields.field("round", round).field("arm", arm).field("outcome", outcome);
        if *missing {
            fields.field("missing", missing);
        }
        fields.finish()
    }
}

/// The digest includes the field `missing` only if the outcome is missing.
impl Digestible for Measured {
    fn digest(&self, digest: &mut Digest) {
        digest.words([1, self.round, self.arm]);
        digest.float(self.outcome);
        if self.missing {
            digest.word(1);
        }
    }
}

impl ProtocolFact for Measured {
    const ENDED: u64 = 2;
    const NUMBERS: &'static [u64] = &[1];

    /// The number of the evaluation, counted from 1.
    fn closes(&self) -> Option<u64> {
        Some(self.round + 1)
    }
}

/// The measured outcome of an arm, and the outcome that was released.
#[derive(Clone, Debug)]
struct AnsweredOutcome {
    measured: f64,
    released: Released<f64>,
}

/// The mechanism that releases outcomes in a replication.
#[derive(Debug)]
struct OutcomeAnswers {
    recipe: OutcomeRelease,
    /// The mechanism for this replication, if it calls a program.
    asking: Option<Box<dyn OutcomeProgram>>,
}

impl OutcomeAnswers {
    /// The mechanism that protects outcomes; `None` for outcomes without protection.
    fn mechanism(&self) -> Option<&OutcomeMechanism> {
        match &self.asking {
            Some(asking) => Some(&**asking),
            None => self.recipe.as_dyn().mechanism(),
        }
    }
}

impl Clone for OutcomeAnswers {
    fn clone(&self) -> Self {
        Self { recipe: self.recipe.clone(), asking: self.asking.as_ref().map(|asking| asking.duplicate()) }
    }
}

/// Measures arms for an observer. All queries of a round get the same answer; if outcomes are private, all answers about
/// an arm have the same released outcome. Every release is recorded in the ledger, after a check of the budget.
#[derive(Clone, Debug)]
pub struct Measurer {
    owner: String,
    observer: Observer,
    outcomes: OutcomeAnswers,
    /// Noise-free objective by arm.
    values: Arc<Vec<f64>>,
    law: Noise,
    /// Node of the seed tree for the objective's noise; round k draws from its child k, whichever arm is queried.
    noise: Key,
    /// Whether an outcome may be computed from the same data as the inputs of its row. A release of the outcome is then a
    /// release about the row as well.
    of_records: bool,
    conditions: Vec<String>,
    /// Draws of the mechanisms.
    pub(in crate::protocols) stream: Stream,
    /// Releases counted against the privacy budget.
    pub(in crate::protocols) meter: BudgetMeter,
    /// How an outcome decides whether its answer is missing, the node of the seed tree for the draws of this decision, and
    /// the largest noise-free value of any arm.
    silence: Option<(Informative, Key, f64)>,
    /// The answer of each round so far; `None` for a round whose answer is missing.
    answered: BTreeMap<u64, Option<Released<f64>>>,
    known: BTreeMap<u64, AnsweredOutcome>,
}

impl Measurer {
    /// A measurer of `instance`, whose outcomes belong to `owner` and are released to `observer` by the mechanism
    /// `outcomes`. The objective's noise is drawn from children of the key `noise`, mechanisms draw from `stream`, and the
    /// privacy losses hold under `conditions`.
    #[must_use]
    pub fn new(
        [owner, observer]: [&str; 2],
        outcomes: OutcomeRelease,
        instance: &Instance,
        (noise, stream): (Key, Stream),
        meter: BudgetMeter,
        conditions: Vec<String>,
    ) -> Self {
        Self {
            owner: owner.to_owned(),
            observer: Observer(observer.to_owned()),
            outcomes: OutcomeAnswers { recipe: outcomes, asking: None },
            values: Arc::clone(&instance.values),
            law: instance.noise.clone(),
            noise,
            of_records: instance.background.facts.outcomes_read_inputs,
            conditions,
            stream,
            meter,
            silence: None,
            answered: BTreeMap::new(),
            known: BTreeMap::new(),
        }
    }

    /// The same measurer for a series, with access to the user's programs. Without this call, a mechanism that calls a
    /// program fails. In a dry run no program is called: a disclosure takes the place of such a mechanism.
    ///
    /// # Errors
    /// [`ProgramFailure`] if the mechanism calls a program and there is no access to programs.
    pub fn of_series(mut self, series: &str, options: &RunOptions) -> Result<Self, ProgramFailure> {
        let recipe = self.outcomes.recipe.as_dyn();
        if options.dry && !recipe.programs().is_empty() {
            self.outcomes.recipe = OutcomeRelease::default();
        } else {
            self.outcomes.asking = recipe.begin(&options.programs.of_series(series))?;
        }
        Ok(self)
    }

    /// The same measurer, with answers that may be missing because of the outcome's value or regret. Whether the answer of a
    /// round is missing is drawn from the round's child of `key`. Only [`Self::answer_if_any`] leaves answers out.
    #[must_use]
    pub fn with_silence(mut self, silence: Option<Informative>, key: Key) -> Self {
        let best = self.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.silence = silence.map(|silence| (silence, key, best));
        self
    }

    /// Number of arms.
    #[must_use]
    pub fn arms(&self) -> usize {
        self.values.len()
    }

    /// The answer to a round's query of an arm; records [`Measured`] for a new round.
    ///
    /// # Errors
    /// [`ReleaseError`] if nothing was released: there is no such arm, a mechanism's precondition fails, a program gives no
    /// answer, a budget is used up, or an earlier call of [`Self::answer_if_any`] decided that the answer of this round is
    /// missing.
    pub fn answer<P: RecordsFacts<Own: From<Measured>>>(
        &mut self,
        ctx: &mut dyn Recorder<P>,
        round: u64,
        arm: u64,
    ) -> Result<Released<f64>, ReleaseError> {
        let silence = self.silence.take();
        let answer = self.answer_if_any(ctx, round, arm);
        self.silence = silence;
        let missing = || MechanismError::Shape {
            expected: "an answer to every question".to_owned(),
            found: "a round whose answer is missing".to_owned(),
        };
        answer?.ok_or_else(|| missing().into())
    }

    /// The answer to a round's query of an arm, as [`Self::answer`] gives it, or `None` if the answer is missing because of
    /// its outcome. A further query of a round has the same result as the first. In a new round, a query of an arm whose
    /// outcome a mechanism released before gets the answer that was given before. For any other query, a new draw decides
    /// whether there is an answer; if the decision depends on the outcome, the decision is a release of its own.
    ///
    /// # Errors
    /// As [`Self::answer`], except that a missing answer is no error.
    pub fn answer_if_any<P: RecordsFacts<Own: From<Measured>>>(
        &mut self,
        ctx: &mut dyn Recorder<P>,
        round: u64,
        arm: u64,
    ) -> Result<Option<Released<f64>>, ReleaseError> {
        if let Some(known) = self.answered.get(&round) {
            return Ok(known.clone());
        }
        let released = match self.known.get(&arm) {
            Some(AnsweredOutcome { measured, released }) => {
                let own: P::Own = Measured { round, arm, outcome: *measured, missing: false }.into();
                ctx.record(own.into());
                Some(released.clone())
            }
            None => self.measure(ctx, round, arm)?,
        };
        self.answered.insert(round, released.clone());
        Ok(released)
    }

    /// Decides whether the answer with this outcome is missing. If the decision depends on the outcome, the decision is
    /// entered in the ledger as a release to the observer.
    fn is_missing<P: RecordsFacts>(
        &mut self,
        ctx: &mut dyn Recorder<P>,
        occasion: &Occasion,
        outcome: f64,
    ) -> Result<bool, ReleaseError> {
        let Some((silence, key, best)) = self.silence else { return Ok(false) };
        let missing =
            silence.privatise(&silence.of(outcome, best), &mut key.index(occasion.round).stream())?;
        if silence.depends() {
            // How often one outcome is queried depends on whether it was answered. So the entry is about all outcomes
            // (`unit_index` is `None`), and every outcome is charged for all queries.
            let told = Occasion {
                released: "whether an outcome is answered".to_owned(),
                unit_index: None,
                ..occasion.clone()
            };
            let secret = Sensitive::new(outcome);
            let of_row = self.of_records.then(|| self.of_row(&told));
            let mut ledger = JournalLedger::new(&mut self.meter, ctx);
            if let Some(of_row) = of_row {
                enter_for(&mut ledger, of_row, &silence, &secret)?;
            }
            enter(&mut ledger, told, &silence, &secret)?;
        }
        Ok(missing)
    }

    /// The same occasion for a ledger entry about the row from which an outcome was computed.
    fn of_row(&self, occasion: &Occasion) -> Occasion {
        Occasion {
            unit: ProtectedUnit::Record,
            neighbours: Neighbours::RowMoved { distance: NEIGHBOUR_DISTANCE },
            ..occasion.clone()
        }
    }

    fn measure<P: RecordsFacts<Own: From<Measured>>>(
        &mut self,
        ctx: &mut dyn Recorder<P>,
        round: u64,
        arm: u64,
    ) -> Result<Option<Released<f64>>, ReleaseError> {
        let known = usize::try_from(arm).ok().and_then(|arm| self.values.get(arm));
        let value = *known.ok_or_else(|| MechanismError::Shape {
            expected: format!("a question about an arm from 0 to {}", self.values.len().saturating_sub(1)),
            found: format!("arm {arm}"),
        })?;
        let outcome = value + self.law.draw(arm as usize, &mut self.noise.index(round).stream());
        let occasion = Occasion {
            released: OUTCOMES.to_owned(),
            protected: self.owner.clone(),
            unit: ProtectedUnit::Outcome,
            unit_index: self.outcomes.mechanism().map(|_| arm),
            neighbours: Neighbours::AnyValue,
            observer: self.observer.clone(),
            round,
            at: ctx.now(),
            conditions: self.conditions.clone(),
        };
        let missing = self.is_missing(ctx, &occasion, outcome)?;
        let own: P::Own = Measured { round, arm, outcome, missing }.into();
        ctx.record(own.into());
        if missing {
            return Ok(None);
        }
        let secret = Sensitive::new(outcome);
        // If an outcome may be computed from the data of its row's inputs, its release is a release about the row as well.
        let of_row = self.of_records.then(|| self.of_row(&occasion));
        let private = self.outcomes.mechanism();
        let mut ledger = JournalLedger::new(&mut self.meter, ctx);
        if let Some(of_row) = of_row {
            match private {
                Some(mechanism) => enter_for(&mut ledger, of_row, mechanism, &secret)?,
                None => enter_for(&mut ledger, of_row, &Disclosure::new(), &secret)?,
            }
        }
        let Some(mechanism) = private else {
            return release(&mut ledger, occasion, &Disclosure::new(), &secret, &mut self.stream).map(Some);
        };
        let released = release(&mut ledger, occasion, mechanism, &secret, &mut self.stream)?;
        self.known.insert(arm, AnsweredOutcome { measured: outcome, released: released.clone() });
        Ok(Some(released))
    }
}
